// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks wait for each other: "receives": in MPI_Recv; "requests": one in MPI_Wait; "barrier": one has not come to it.
#include <mpi.h>
#include <string.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int me, size, data = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (me + 1) % size;
  MPI_Comm back; // ranks in it are the other way round
  MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &back);
  MPI_Request request;
  if (strcmp(argv[1], "receives") == 0)
    MPI_Recv(&data, 1, MPI_INT, size - 1 - next, 5, back, MPI_STATUS_IGNORE);
  else if (strcmp(argv[1], "requests") == 0 && me == 1) {
    MPI_Irecv(&data, 1, MPI_INT, next, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(argv[1], "barrier") == 0 && me != 1)
    MPI_Barrier(MPI_COMM_WORLD);
  else
    MPI_Recv(&data, 1, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 0;
}
