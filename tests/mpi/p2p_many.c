/* SPDX-License-Identifier: LGPL-2.1-or-later
 * "p2p_many COUNT": COUNT long messages under way at once, more than Open MPI looks at its event queue until the end of
 * MPI_Finalize, which follows at once, or more than it has fragments for. */
#include "check.h"

enum { size = 40000 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) : 60;
  const int peer = 1 - world_rank;
  unsigned char* data = malloc((size_t)count * size);
  MPI_Request* requests = malloc((size_t)count * sizeof *requests);
  for (int i = 0; i < count; ++i) {
    if (world_rank == 0) {
      fill(data + (size_t)i * size, size, 0, i);
      MPI_Isend(data + (size_t)i * size, size, MPI_BYTE, peer, i % 3, MPI_COMM_WORLD, requests + i);
    } else {
      MPI_Irecv(data + (size_t)i * size, size, MPI_BYTE, peer, i % 3, MPI_COMM_WORLD, requests + i);
    }
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count && world_rank == 1; ++i) {
    CHECK(is_filled(data + (size_t)i * size, size, 0, i));
  }
  free(requests);
  free(data);
  return finish();
}
