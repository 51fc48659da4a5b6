/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Persistent requests, started one by one and together, several hundred times; "p2p_persistent buffered" with buffered
 * mode beside the other three. */
#include "check.h"

enum { rounds = 100, kinds = 4, largest = 90000 };
static unsigned char out[kinds][largest], in[kinds][largest];

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static const int sizes[kinds] = {4, 500, 10000, largest};
  const int right = (world_rank + 1) % world_size;
  const int left = (world_rank + world_size - 1) % world_size;
  MPI_Request requests[2 * kinds];
  const int space = 4 * (sizes[1] + MPI_BSEND_OVERHEAD);
  void* attached = malloc(space);
  MPI_Buffer_attach(attached, space);
  for (int k = 0; k < kinds; ++k) {
    MPI_Recv_init(in[k], sizes[k], MPI_BYTE, left, k, MPI_COMM_WORLD, &requests[k]);
  }
  MPI_Send_init(out[0], sizes[0], MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[kinds + 0]);
  if (argc > 1 && strcmp(argv[1], "buffered") == 0) {
    MPI_Bsend_init(out[1], sizes[1], MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[kinds + 1]);
  } else {
    MPI_Send_init(out[1], sizes[1], MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[kinds + 1]);
  }
  MPI_Rsend_init(out[2], sizes[2], MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[kinds + 2]);
  MPI_Ssend_init(out[3], sizes[3], MPI_BYTE, right, 3, MPI_COMM_WORLD, &requests[kinds + 3]);

  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < kinds; ++k) {
      fill(out[k], sizes[k], world_rank, round * kinds + k);
      memset(in[k], 0, sizes[k]);
    }
    MPI_Startall(kinds, requests);
    MPI_Barrier(MPI_COMM_WORLD); /* ready mode: all receives are posted */
    if (round % 2) {
      MPI_Startall(kinds, requests + kinds);
    } else {
      for (int k = 0; k < kinds; ++k) {
        MPI_Start(&requests[kinds + k]);
      }
    }
    MPI_Waitall(2 * kinds, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < kinds; ++k) {
      CHECK(requests[k] != MPI_REQUEST_NULL && requests[kinds + k] != MPI_REQUEST_NULL);
      CHECK(is_filled(in[k], sizes[k], left, round * kinds + k));
    }
  }

  /* An inactive persistent request is complete, with an empty status. */
  int done = 0, count = -1;
  MPI_Status status;
  MPI_Test(&requests[0], &done, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(done);
  CHECK_EQ(count, 0);
  CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);

  for (int i = 0; i < 2 * kinds; ++i) {
    MPI_Request_free(&requests[i]);
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
  int size = 0;
  MPI_Buffer_detach(&attached, &size);
  free(attached);
  return finish();
}
