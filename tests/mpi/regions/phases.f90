! SPDX-License-Identifier: LGPL-2.1-or-later
! As phases.c, the first three phases.
program phases
  use mpi
  implicit none
  double precision :: ns(3)
  integer :: rank, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  ns(1) = phase()
  call MPI_Pcontrol(1)
  ns(2) = phase()
  call MPI_Pcontrol(0)
  ns(3) = phase()
  if (rank == 0) print '(3(I0, 1X))', nint(ns)
  call MPI_Finalize(ierror)
contains
  double precision function phase()
    integer, parameter :: times = 50
    integer :: i
    integer, volatile :: work
    character :: words(8)
    double precision :: began
    words = ' '
    began = MPI_Wtime()
    do i = 1, times
      work = 0
      do while (work < 10000) ! some 10 us, where computing is measured
        work = work + 1
      end do
      if (rank == 0) call MPI_Send(words, 8, MPI_CHARACTER, 1, 0, MPI_COMM_WORLD, ierror)
      call MPI_Recv(words, 8, MPI_CHARACTER, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      if (rank == 1) call MPI_Send(words, 8, MPI_CHARACTER, 0, 0, MPI_COMM_WORLD, ierror)
    end do
    phase = (MPI_Wtime() - began) / times / 2 * 1d9
  end function
end program
