! SPDX-License-Identifier: LGPL-2.1-or-later
! Memory that may be forgotten (--fold): allocate and MPI_Alloc_mem. What is to be kept is the first 800 bytes.
program fold_fortran
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer, parameter :: n = 800, turns = 30
  real(8), allocatable :: a(:, :), b(:)
  real(8), pointer :: c(:)
  type(c_ptr) :: memory
  integer :: rank, ranks, k
  logical :: good

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (a(n, n))
  call MPI_Alloc_mem(int(8*n*n + 80000, MPI_ADDRESS_KIND), MPI_INFO_NULL, memory)
  call c_f_pointer(memory, c, [n*n])
  good = .true.
  do k = 1, turns
    a = real(k, 8)
    c = real(-k, 8)
    call MPI_Barrier(MPI_COMM_WORLD)
    good = good .and. all(a(1:100, 1) == k) .and. all(a == k .or. a == 0)
    good = good .and. all(c(1:100) == -k) .and. all(c == -k .or. c == 0)
  end do
  allocate (b(n*n), source=1d0)
  b = [b, b] ! another, larger one
  good = good .and. all(b(1:100) == 1 .or. b(1:100) == 0) .and. size(b) == 2*n*n
  call MPI_Sendrecv(c, n*n, MPI_REAL8, mod(rank + 1, ranks), 1, a, n*n, MPI_REAL8, mod(rank + ranks - 1, ranks), 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  good = good .and. all(a(1:100, 1) == -turns) .and. all(a == turns .or. a == -turns .or. a == 0)
  deallocate (a, b)
  call MPI_Free_mem(c)
  write (*, '(a,i0,2a)') '[', rank, '] ', merge('right', 'wrong', good)
  call MPI_Finalize()
end program fold_fortran
