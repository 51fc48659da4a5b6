/* SPDX-License-Identifier: LGPL-2.1-or-later
 * 10,000 small messages arrive before any receive is posted; then they are taken in order, and again newest first. */
#include "check.h"

enum { in_order = 10000, reversed = 2000 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  if (world_rank == 1) {
    for (int i = 0; i < in_order; ++i) {
      const int message[2] = {i, ~i};
      MPI_Send(message, 2, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    for (int i = 0; i < reversed; ++i) {
      MPI_Send(&i, 1, MPI_INT, 0, 100 + i, MPI_COMM_WORLD);
    }
    MPI_Send(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD);
  } else if (world_rank == 0) {
    MPI_Recv(NULL, 0, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* sent last: all others are here now */
    for (int i = 0; i < in_order; ++i) {
      int message[2] = {-1, -1};
      MPI_Recv(message, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQ(message[0], i);
      CHECK_EQ(message[1], ~i);
    }
    for (int i = reversed - 1; i >= 0; --i) {
      int value = -1;
      MPI_Recv(&value, 1, MPI_INT, 1, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQ(value, i);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}
