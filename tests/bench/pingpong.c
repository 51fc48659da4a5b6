/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pingpong ROUNDS BYTES: ranks 0 and 1 send one message back and forth; half the round trip is printed by rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  const int bytes = argc > 2 ? atoi(argv[2]) : 8;
  char* buffer = calloc(1, (size_t)bytes + 1);
  const double begin = MPI_Wtime();
  for (int i = 0; i < rounds && rank < 2; ++i) {
    if (rank == 0)
      MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
      MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("%d bytes: %.3f us\n", bytes, (MPI_Wtime() - begin) / rounds / 2 * 1e6);
  free(buffer);
  MPI_Finalize();
  return 0;
}
