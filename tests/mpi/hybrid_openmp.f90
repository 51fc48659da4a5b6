! SPDX-License-Identifier: LGPL-2.1-or-later
! A hybrid: OpenMP inside each rank, MPI between them (MPI_THREAD_FUNNELED). Loops with reductions, barriers, critical
! sections, single and master regions, tasks.
program hybrid_openmp
  use mpi
  use omp_lib
  implicit none
  integer, parameter :: n = 200000, threads = 4
  integer :: rank, ranks, ierr, provided, i, round, visits, most, firsts
  double precision :: part, total, expected
  double precision, allocatable :: field(:)
  integer :: task_sum
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call omp_set_num_threads(threads)
  allocate (field(n))
  expected = 0
  do round = 1, 10
    part = 0
    !$omp parallel do reduction(+:part)
    do i = 1, n
      field(i) = dble(mod(i*round, 7)) + rank
      part = part + field(i)
    end do
    !$omp end parallel do
    call MPI_Allreduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    expected = expected + total
  end do
  visits = 0
  most = 0
  firsts = 0
  !$omp parallel
  do i = 1, 50
    !$omp critical
    visits = visits + 1
    !$omp end critical
    !$omp barrier
    !$omp single
    firsts = firsts + 1
    !$omp end single
  end do
  !$omp master
  most = omp_get_num_threads()
  !$omp end master
  !$omp end parallel
  task_sum = 0
  !$omp parallel
  !$omp single
  do i = 1, 100
    !$omp task firstprivate(i)
    !$omp atomic
    task_sum = task_sum + i
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  print '(a,i0,a,f0.1,4(a,i0))', '[', rank, '] sum ', expected, ', visits ', visits, ', singles ', firsts, &
    ', threads ', most, ', tasks ', task_sum
  call MPI_Finalize(ierr)
end program hybrid_openmp
