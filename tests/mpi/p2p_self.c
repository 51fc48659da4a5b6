/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Messages of a rank to itself, on MPI_COMM_WORLD and on MPI_COMM_SELF. */
#include "check.h"

enum { largest = 1 << 20 };

static void exchange(MPI_Comm communicator, int self, int size, int receive_first)
{
  static unsigned char out[largest], in[largest];
  MPI_Request requests[2];
  MPI_Status status[2];
  int count = -1;
  fill(out, size, world_rank, size);
  memset(in, 0, size);
  if (receive_first) {
    MPI_Irecv(in, size, MPI_BYTE, self, 3, communicator, &requests[0]);
    MPI_Isend(out, size, MPI_BYTE, self, 3, communicator, &requests[1]);
  } else {
    MPI_Isend(out, size, MPI_BYTE, self, 3, communicator, &requests[1]);
    MPI_Irecv(in, size, MPI_BYTE, self, 3, communicator, &requests[0]);
  }
  MPI_Waitall(2, requests, status);
  MPI_Get_count(&status[0], MPI_BYTE, &count);
  CHECK_EQ(count, size);
  CHECK_EQ(status[0].MPI_SOURCE, self);
  CHECK(is_filled(in, size, world_rank, size));
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static const int sizes[] = {0, 8, 3000, 70000, largest};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    for (int receive_first = 0; receive_first < 2; ++receive_first) {
      exchange(MPI_COMM_WORLD, world_rank, sizes[s], receive_first);
      exchange(MPI_COMM_SELF, 0, sizes[s], receive_first);
    }
  }
  int out = world_rank, in = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, world_rank, 9, &in, 1, MPI_INT, world_rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQ(in, world_rank);
  return finish();
}
