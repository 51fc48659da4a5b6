! SPDX-License-Identifier: LGPL-2.1-or-later
! Module mpi, list-directed output through libgfortran's own buffers, an internal file, and an end by "stop 6" on one
! rank.
program f90_stop
  use mpi
  use, intrinsic :: iso_fortran_env, only: output_unit
  implicit none
  integer :: rank, ranks, ierr, i, unit
  character(80) :: line
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  do i = 1, 20
    write (line, '(i0,a,i0)') i, ' of rank ', rank
    print '(a,i0,2a)', '[', rank, '] line ', trim(line)
    if (mod(i, 5) == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  open (newunit=unit, status='scratch', form='unformatted')
  write (unit) rank, 2*rank
  rewind (unit)
  read (unit) i
  if (i /= rank) print '(a,i0,a)', '[', rank, '] FAILED scratch file'
  close (unit)
  flush (output_unit)
  call MPI_Barrier(MPI_COMM_WORLD, ierr) ! the job ends when the first rank stops with a code: all have written by then
  call MPI_Finalize(ierr)
  if (rank == ranks - 1) stop 6
end program f90_stop
