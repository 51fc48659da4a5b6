/* SPDX-License-Identifier: LGPL-2.1-or-later
 * neighbours ROUNDS: an allreduce and messages to six neighbours, so often, as in a grid of 8 x 16 in planes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 1 ? atoi(argv[1]) : 0;
  const int distance[6] = {1, ranks - 1, 8 % ranks, ranks - 8 % ranks, 128 % ranks, ranks - 128 % ranks};
  double own = rank, sum = 0, theirs[6];
  for (int round = 0; round < rounds; ++round) {
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Request requests[12];
    for (int i = 0; i < 6; ++i)
      MPI_Irecv(&theirs[i], 1, MPI_DOUBLE, (rank + distance[i]) % ranks, i ^ 1, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 6; ++i)
      MPI_Isend(&own, 1, MPI_DOUBLE, (rank + distance[i]) % ranks, i, MPI_COMM_WORLD, &requests[6 + i]);
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
  }
  if (rank == 0)
    printf("%g\n", sum);
  MPI_Finalize();
  return 0;
}
