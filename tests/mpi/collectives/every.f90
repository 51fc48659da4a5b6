! SPDX-License-Identifier: LGPL-2.1-or-later
! Collectives from Fortran (the module mpi): in place, with a type that has gaps, with an operation written in Fortran
! that is not commutative, nonblocking, on a part of the world.
subroutine second_of(given, result, length, datatype)
  implicit none
  integer :: length, datatype
  integer :: given(length), result(length)
  integer :: i
  if (datatype == 0 .and. length < 0) return
  do i = 1, length ! neither commutative nor the identity
    result(i) = mod(7*given(i) + result(i), 10007)
  end do
end subroutine second_of

program every
  use mpi
  implicit none
  external :: second_of
  integer, parameter :: n = 50
  integer :: rank, ranks, part, op, column, ierror, i, request, requests(3), statuses(MPI_STATUS_SIZE, 3)
  integer :: values(n), results(n), matrix(4, n)
  integer, allocatable :: table(:, :), counts(:), places(:), apart(:), types(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, part, ierror)
  call MPI_Op_create(second_of, .false., op, ierror)
  call MPI_Type_vector(n, 1, 4, MPI_INTEGER, column, ierror)
  call MPI_Type_commit(column, ierror)
  call on(MPI_COMM_WORLD)
  call on(part)
  call MPI_Finalize(ierror)

contains

  subroutine on(comm)
    integer, intent(in) :: comm
    call MPI_Comm_rank(comm, i, ierror)
    call MPI_Comm_size(comm, ranks, ierror)
    values = [(mod(rank*31 + i*17, 1000), i=1, n)]
    results = -1
    call MPI_Allreduce(values, results, n, MPI_INTEGER, MPI_SUM, comm, ierror)
    call tell('allreduce', results)
    call MPI_Allreduce(MPI_IN_PLACE, results, n, MPI_INTEGER, MPI_MAX, comm, ierror)
    call tell('allreduce in place', results)
    call MPI_Bcast(values, n, MPI_INTEGER, 0, comm, ierror)
    call tell('bcast', values)
    values = [(mod(rank*31 + i*17, 1000), i=1, n)]
    matrix = 0
    matrix(2, :) = values
    call MPI_Bcast(matrix(2, 1), 1, column, 0, comm, ierror)
    call tell('bcast of a column', [matrix])
    allocate (table(n, ranks), counts(ranks), places(ranks), apart(ranks), types(ranks))
    table = -1
    call MPI_Gather(values, n, MPI_INTEGER, table, n, MPI_INTEGER, 0, comm, ierror)
    call tell('gather', [table])
    call MPI_Allgather(values, n, MPI_INTEGER, table, n, MPI_INTEGER, comm, ierror)
    call tell('allgather', [table])
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, table, n, MPI_INTEGER, comm, ierror)
    call tell('alltoall in place', [table])
    counts = 1
    places = [(4*n*(i - 1), i=1, ranks)]
    apart = [(4*(i - 1), i=1, ranks)] ! until it is complete
    types = MPI_INTEGER
    call MPI_Ialltoallw(table, counts, places, types, results, counts, apart, types, comm, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call tell('ialltoallw', results)
    call MPI_Scan(values, results, n, MPI_INTEGER, MPI_SUM, comm, ierror)
    call tell('scan', results)
    call MPI_Ireduce_scatter_block(table, results, n/2, MPI_INTEGER, MPI_SUM, comm, requests(1), ierror)
    call MPI_Ibarrier(comm, requests(2), ierror)
    call MPI_Ibcast(values, n, MPI_INTEGER, ranks - 1, comm, requests(3), ierror)
    call MPI_Waitall(3, requests, statuses, ierror)
    call tell('reduce_scatter_block', results)
    call tell('ibcast', values)
    deallocate (table, counts, places, apart, types)
    ! the library may put parentheses anywhere: with two ranks there is one way
    if (ranks == 2) then
      call MPI_Allreduce(values, results, n, MPI_INTEGER, op, comm, ierror)
      call tell('an operation of its own', results)
    end if
  end subroutine on

  subroutine tell(what, data)
    character(*), intent(in) :: what
    integer, intent(in) :: data(:)
    integer :: at
    integer(8) :: hash
    hash = 17
    do at = 1, size(data)
      hash = mod(hash*31 + data(at) + 100000, 1000000007_8)
    end do
    write (*, '(a, i0, a, a, a, i0)') '[', rank, '] ', what, ': ', hash
  end subroutine tell
end program every
