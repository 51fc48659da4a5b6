! SPDX-License-Identifier: LGPL-2.1-or-later
! Calls MPI by the names of the module mpi, and writes what counted.c does: "RANK call NAME BYTES".
program counted
  use mpi
  implicit none
  integer :: me, size, next, before, i
  integer :: sent(6), got(6)
  integer :: half, error
  integer :: requests(2)
  integer :: statuses(MPI_STATUS_SIZE, 2)
  character(len=32) :: lines(64)
  integer :: count = 0
  double precision :: now

  call MPI_Init(error)
  call note("MPI_Init", 0)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call note("MPI_Comm_rank", 0)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  call note("MPI_Comm_size", 0)
  next = modulo(me + 1, size)
  before = modulo(me + size - 1, size)
  sent = me
  call MPI_Irecv(got, 6, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), error)
  call note("MPI_Irecv", 0)
  call MPI_Isend(sent, 6, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), error)
  call note("MPI_Isend", 24)
  call MPI_Waitall(2, requests, statuses, error)
  call note("MPI_Waitall", 0)
  if (got(1) /= before) error stop "a wrong message"
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(me, 2), me, half, error)
  call note("MPI_Comm_split", 0)
  call MPI_Allreduce(sent, got, 5, MPI_INTEGER, MPI_SUM, half, error)
  call note("MPI_Allreduce", 20)
  call MPI_Comm_free(half, error)
  call note("MPI_Comm_free", 0)
  now = MPI_Wtime()
  call note("MPI_Wtime", 0)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call note("MPI_Barrier", 0)
  call MPI_Finalize(error)
  call note("MPI_Finalize", 0)
  do i = 1, count
    print '(I0, " call ", A)', me, trim(lines(i))
  end do
  if (now < 0) error stop "no time"
contains
  subroutine note(name, bytes)
    character(len=*), intent(in) :: name
    integer, intent(in) :: bytes
    count = count + 1
    write (lines(count), '(A, " ", I0)') name, bytes
  end subroutine
end program
