! SPDX-License-Identifier: LGPL-2.1-or-later
! Heat in a rod in a coarray: neighbours get each other's ends, an image posts events to the next one, all add under a
! lock and atomically.
program rod
  use, intrinsic :: iso_fortran_env, only: real64, atomic_int_kind, event_type, lock_type
  implicit none
  integer, parameter :: cells = 200, steps = 100
  real(real64) :: heat(0:cells + 1)[*], next(cells), total, warmest
  integer(atomic_int_kind) :: hits[*]
  integer :: order[*], me, images, step, seen
  type(event_type) :: turn[*]
  type(lock_type) :: door[*]

  me = this_image()
  images = num_images()
  heat = 0
  if (me == 1) heat(0) = 100
  hits = 0
  order = 0
  sync all
  do step = 1, steps
    if (me > 1) heat(0) = heat(cells)[me - 1]
    if (me < images) heat(cells + 1) = heat(1)[me + 1]
    next = heat(1:cells) + 0.25_real64 * (heat(0:cells - 1) - 2 * heat(1:cells) + heat(2:cells + 1))
    sync all
    heat(1:cells) = next
    call atomic_add(hits[1], step)
    sync all
  end do
  lock(door[1])
  order[1] = order[1] + me
  unlock(door[1])
  if (me > 1) event wait(turn)
  if (me < images) event post(turn[me + 1])
  total = sum(heat(1:cells))
  warmest = maxval(heat(1:cells))
  call co_sum(total)
  call co_max(warmest)
  sync all
  if (me == 1) then
    call atomic_ref(seen, hits)
    print '(a,f0.12,a,f0.12)', 'sum ', total, ', warmest ', warmest
    print '(a,i0,a,i0,a,i0)', 'images ', images, ', sum of images ', order, ', atomic sum ', seen
  end if
end program rod
