/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Standard, buffered, synchronous and ready mode, blocking and nonblocking, for an eager and a rendezvous size. */
#include "check.h"

enum { largest = 300000 };
static unsigned char out[largest], in[largest];

typedef int (*blocking)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*nonblocking)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

/* Rank 1 says "go" when its receive is posted: what ready mode demands, and harmless for the others. */
static void receive(int size, int tag)
{
  MPI_Request request;
  memset(in, 0, size);
  MPI_Irecv(in, size, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
  MPI_Send(NULL, 0, MPI_BYTE, 0, 999, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(is_filled(in, size, 0, tag));
}

static void await_go(void)
{
  MPI_Recv(NULL, 0, MPI_BYTE, 1, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static const int sizes[] = {0, 8, 1000, 40000, largest};
  static const blocking sends[] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
  static const nonblocking isends[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
  const int space = 2 * (largest + MPI_BSEND_OVERHEAD);
  char* attached = malloc(space);
  CHECK_EQ(MPI_Buffer_attach(attached, space), MPI_SUCCESS);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    for (int mode = 0; mode < 4; ++mode) {
      const int tag = 10 * s + mode;
      if (world_rank == 0) {
        fill(out, sizes[s], 0, tag);
        await_go();
        CHECK_EQ(sends[mode](out, sizes[s], MPI_BYTE, 1, tag, MPI_COMM_WORLD), MPI_SUCCESS);
        MPI_Request request;
        await_go();
        CHECK_EQ(isends[mode](out, sizes[s], MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(request == MPI_REQUEST_NULL);
      } else {
        receive(sizes[s], tag);
        receive(sizes[s], tag);
      }
    }
  }

  /* A buffered send returns before its receive is posted, whatever the size: exchanging without order must not hang. */
  const int peer = 1 - world_rank;
  fill(out, largest, world_rank, 500);
  MPI_Bsend(out, largest, MPI_BYTE, peer, 500, MPI_COMM_WORLD);
  memset(out, 0, largest);
  MPI_Recv(in, largest, MPI_BYTE, peer, 500, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(is_filled(in, largest, peer, 500));

  /* A synchronous send completes only after its receive was posted. */
  if (world_rank == 0) {
    MPI_Request request;
    int done = 1, token = 4;
    MPI_Issend(&token, 1, MPI_INT, 1, 600, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 20; ++i) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      CHECK(!done);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 1, 601, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    int token = 0;
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 601, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&token, 1, MPI_INT, 0, 600, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(token, 4);
  }

  void* detached = NULL;
  int detached_size = 0;
  MPI_Buffer_detach(&detached, &detached_size);
  CHECK(detached == attached);
  CHECK_EQ(detached_size, space);
  free(attached);
  return finish();
}
