! SPDX-License-Identifier: LGPL-2.1-or-later
! The mpi_f08 binding: collectives, a user-defined operation written in Fortran, an attribute callback, MPI_IN_PLACE.
module operations
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  ! Keeps the value of larger magnitude, the first of equals.
  subroutine larger_magnitude(invec, inoutvec, length, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: given(:), result(:)
    integer :: i
    if (datatype /= MPI_INTEGER) return
    call c_f_pointer(invec, given, [length])
    call c_f_pointer(inoutvec, result, [length])
    do i = 1, length
      if (abs(given(i)) >= abs(result(i))) result(i) = given(i)
    end do
  end subroutine larger_magnitude
end module operations

program f08_collectives
  use mpi_f08
  use operations
  implicit none
  integer, parameter :: n = 3000
  integer :: rank, ranks, i, passed = 0, failed = 0
  integer :: values(n), results(n)
  integer, allocatable :: table(:, :), turned(:, :), counts(:), displacements(:)
  complex(8) :: z(10), total(10)
  logical :: flag, every
  type(MPI_Op) :: op
  type(MPI_Request) :: request
  character(20) :: text

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  text = ' '
  if (rank == ranks - 1) text = 'from the last one'
  call MPI_Bcast(text, len(text), MPI_CHARACTER, ranks - 1, MPI_COMM_WORLD)
  call check(text == 'from the last one', 'bcast of characters')

  values = [(rank + i, i=1, n)]
  call MPI_Allreduce(values, results, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(all(results == [(ranks*(ranks - 1)/2 + ranks*i, i=1, n)]), 'sum')
  results = values
  call MPI_Allreduce(MPI_IN_PLACE, results, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call check(all(results == [(ranks - 1 + i, i=1, n)]), 'max in place')

  z = [(cmplx(rank, i, 8), i=1, 10)]
  call MPI_Allreduce(z, total, 10, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
  call check(all(total == [(cmplx(ranks*(ranks - 1)/2, ranks*i, 8), i=1, 10)]), 'complex sum')
  flag = rank /= 1
  call MPI_Allreduce(flag, every, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  call check(.not. every, 'logical and')

  allocate (table(4, ranks), turned(4, ranks), counts(ranks), displacements(ranks))
  table = reshape([(rank*1000 + i, i=1, 4*ranks)], [4, ranks])
  call MPI_Alltoall(table, 4, MPI_INTEGER, turned, 4, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, ranks
    call check(turned(1, i) == (i - 1)*1000 + 4*rank + 1, 'alltoall')
  end do
  counts = [(i, i=1, ranks)]
  displacements = [((i - 1)*i/2, i=1, ranks)]
  results = -1
  call MPI_Gatherv(values, rank + 1, MPI_INTEGER, results, counts, displacements, MPI_INTEGER, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    do i = 1, ranks
      call check(results(displacements(i) + i) == i - 1 + i, 'gatherv')
    end do
  end if

  call MPI_Op_create(larger_magnitude, .true., op)
  values = [(merge(-1, 1, mod(rank, 2) == 1)*(rank + i), i=1, n)]
  call MPI_Iallreduce(values, results, n, MPI_INTEGER, op, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(abs(results) == [(ranks - 1 + i, i=1, n)]), 'user-defined operation')
  call MPI_Op_free(op)

  write (*, '(a,i0,a,i0,a,i0,a)') '[', rank, '] ', passed, ' checks passed, ', failed, ' failed'
  call MPI_Finalize()
  if (failed > 0) stop 1
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) then
      passed = passed + 1
    else
      failed = failed + 1
      write (*, '(a,i0,2a)') '[', rank, '] FAILED ', what
    end if
  end subroutine check
end program f08_collectives
