! SPDX-License-Identifier: LGPL-2.1-or-later
! The mpi_f08 binding: messages, statuses, requests, datatypes; module variables and saved locals are each rank's own.
module state
  use mpi_f08
  implicit none
  integer :: rank = -1, ranks = -1, passed = 0, failed = 0
  integer, dimension(1000) :: shared_by_name = 0
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

  integer function calls()
    integer, save :: counted = 0
    counted = counted + 1
    calls = counted
  end function calls
end module state

program f08_messages
  use mpi_f08
  use state
  implicit none
  integer, parameter :: third = 16000, n = 3*third
  real(8), allocatable :: outgoing(:), incoming(:)
  type(MPI_Status) :: status
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: every_third
  type(MPI_Comm) :: halves
  integer :: right, left, i, got, half_rank, half_size
  integer :: matrix(30, 30), column(30)
  real(8) :: start

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  shared_by_name = rank
  do i = 1, rank
    got = calls()
  end do

  allocate (outgoing(n), incoming(n))
  outgoing = [(rank + i*0.5d0, i=1, n)]
  incoming = 0
  call MPI_Irecv(incoming, n, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(outgoing, n, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(2))
  call MPI_Wait(requests(1), status)
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, got)
  call check(got == n, 'count')
  call check(status%MPI_SOURCE == left, 'source')
  call check(status%MPI_TAG == 1, 'tag')
  call check(all(incoming == [(left + i*0.5d0, i=1, n)]), 'contents')

  call MPI_Type_vector(third, 1, 3, MPI_DOUBLE_PRECISION, every_third)
  call MPI_Type_commit(every_third)
  incoming = -1
  call MPI_Sendrecv(outgoing, 1, every_third, right, 2, incoming, third, MPI_DOUBLE_PRECISION, left, 2, &
    MPI_COMM_WORLD, status)
  call check(all(incoming(1:third) == [(left + (3*i - 2)*0.5d0, i=1, third)]), 'vector')
  call check(incoming(third + 1) == -1, 'end of vector')
  call MPI_Type_free(every_third)

  matrix = reshape([(rank*1000 + i, i=1, 900)], [30, 30])
  call MPI_Sendrecv(matrix(:, 7), 30, MPI_INTEGER, right, 3, column, 30, MPI_INTEGER, left, 3, MPI_COMM_WORLD, status)
  call check(all(column == [(left*1000 + 180 + i, i=1, 30)]), 'column')

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, halves)
  call MPI_Comm_rank(halves, half_rank)
  call MPI_Comm_size(halves, half_size)
  call check(half_rank == rank/2, 'rank in half')
  call MPI_Comm_free(halves)
  call check(halves == MPI_COMM_NULL, 'freed')

  start = MPI_Wtime()
  call MPI_Barrier(MPI_COMM_WORLD)
  call check(MPI_Wtime() >= start, 'time')
  call check(all(shared_by_name == rank), 'module variable')
  call check(calls() == rank + 1, 'saved local')
  write (*, '(a,i0,a,i0)') '[', rank, '] half of ', half_size
  write (*, '(a,i0,a,i0,a,i0,a)') '[', rank, '] ', passed, ' checks passed, ', failed, ' failed'
  deallocate (outgoing, incoming)
  call MPI_Finalize()
  if (failed > 0) stop 1
end program f08_messages
