/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two ranks, of which one is late by 5 ms: rank 0 to send what the other receives, rank 1 to receive what the other
 * sends and waits for, to send what the other has begun to receive, to come to a barrier. Then nobody is: 8 MiB that
 * both wait for take their time. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { late = 5000, large = 8 << 20 };

int main(int argc, char** argv)
{
  int rank, word = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* data = calloc(1, large);
  MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* they begin together */
  if (rank == 0) {
    usleep(late);
    MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Ssend(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(late);
    MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(late);
    MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    usleep(late);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(data, large, MPI_BYTE, 0, MPI_COMM_WORLD);
  free(data);
  MPI_Finalize();
  return 0;
}
