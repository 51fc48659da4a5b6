/* SPDX-License-Identifier: LGPL-2.1-or-later
 * 64 MiB in one message, one way and both ways at once: no byte lost, none changed, and it takes time. */
#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int size = 64 << 20;
  unsigned char* out = malloc(size);
  unsigned char* in = malloc(size);
  const int peer = 1 - world_rank;
  fill(out, size, world_rank, 1);
  memset(in, 0, size);

  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (world_rank == 0) {
    MPI_Send(out, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(is_filled(in, size, 0, 1));
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
  CHECK(MPI_Wtime() - start > size / 1e12); /* faster than 1 TB/s is no network and no memory */

  memset(in, 0, size);
  MPI_Sendrecv(out, size, MPI_BYTE, peer, 2, in, size, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(is_filled(in, size, peer, 1));
  free(in);
  free(out);
  return finish();
}
