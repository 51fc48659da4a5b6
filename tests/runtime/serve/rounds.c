/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rounds N: N times a message to the neighbour on the right, and every tenth time an allreduce. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* For breakpoints. */
__attribute__((noinline)) long add_up(long sum, long got)
{
  __asm__ volatile("" : : : "memory");
  return sum + got % 1000;
}

int main(int argc, char** argv)
{
  const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long sum = rank, got = 0, all = 0;
  for (long i = 0; i < rounds; ++i) {
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_LONG, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&sum, 1, MPI_LONG, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum = add_up(sum, got);
    if (i % 10 == 0)
      MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("%ld\n", all);
  MPI_Finalize();
  return 0;
}
