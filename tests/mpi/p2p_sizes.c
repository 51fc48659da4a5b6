/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Blocking messages of 0 bytes to 4 MiB, both ways: every protocol of the library (inline, eager, rendezvous,
 * pipelined) and the sizes around the usual switching points. */
#include "check.h"

static const int sizes[] = {0,      1,       7,       8,       63,      64,      65,     255,    1023,
                            1024,   2047,    2048,    4000,    4095,    4096,    4097,   8192,   12288,
                            16383,  32768,   32769,   65535,   65536,   65537,   131072, 200000, 262144,
                            524288, 1000003, 1048576, 2097151, 2097152, 2097153, 4194304};

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int peer = 1 - world_rank;
  unsigned char* buffer = malloc(4194304 + 64);
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const int size = sizes[i];
    for (int turn = 0; turn < 2; ++turn) {
      if (turn == world_rank) {
        fill(buffer, size, world_rank, i);
        CHECK_EQ(MPI_Send(buffer, size, MPI_BYTE, peer, i, MPI_COMM_WORLD), MPI_SUCCESS);
      } else {
        MPI_Status status;
        int count = -1;
        memset(buffer, 0xa5, size + 64);
        CHECK_EQ(MPI_Recv(buffer, size, MPI_BYTE, peer, i, MPI_COMM_WORLD, &status), MPI_SUCCESS);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQ(count, size);
        CHECK_EQ(status.MPI_SOURCE, peer);
        CHECK_EQ(status.MPI_TAG, i);
        CHECK(is_filled(buffer, size, peer, i));
        CHECK_EQ(buffer[size], 0xa5); /* nothing is written behind the message */
      }
    }
    /* both ways at once, received into a buffer that is larger than the message */
    unsigned char* incoming = malloc(size + 64);
    MPI_Request request;
    MPI_Status status;
    int count = -1;
    fill(buffer, size, world_rank, 1000 + i);
    MPI_Irecv(incoming, size + 64, MPI_BYTE, peer, 77, MPI_COMM_WORLD, &request);
    MPI_Send(buffer, size, MPI_BYTE, peer, 77, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQ(count, size);
    CHECK(is_filled(incoming, size, peer, 1000 + i));
    free(incoming);
  }
  free(buffer);
  return finish();
}
