/* SPDX-License-Identifier: LGPL-2.1-or-later
 * More arrives than the receiver has room for, while it does something else: short messages that nobody has asked for
 * yet, and the pieces of a long one that is not contiguous. All of it is there in the end, in order. */
#include "check.h"

#include <unistd.h>

enum { messages = 1400, size = 16000, blocks = 1500000, block = 16, pause_us = 20000 };

static void flood(unsigned char* data)
{
  MPI_Request* requests = malloc(messages * sizeof *requests);
  if (world_rank == 0) {
    for (int i = 0; i < messages; ++i) {
      fill(data + (size_t)i * size, size, 0, i);
      MPI_Isend(data + (size_t)i * size, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, requests + i);
    }
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  } else {
    usleep(pause_us);
    int right = 0;
    for (int i = 0; i < messages; ++i) {
      MPI_Recv(data, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      right += is_filled(data, size, 0, i);
    }
    CHECK_EQ(right, messages);
  }
  free(requests);
}

static void pieces(unsigned char* data)
{
  MPI_Datatype type;
  MPI_Type_vector(blocks, block, 2 * block, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Request request;
  if (world_rank == 0) {
    fill(data, (size_t)blocks * 2 * block, 0, 0);
    MPI_Isend(data, 1, type, 1, 2, MPI_COMM_WORLD, &request);
  } else {
    MPI_Irecv(data, 1, type, 0, 2, MPI_COMM_WORLD, &request);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* the receiver has said that it wants it */
  if (world_rank == 1)
    usleep(pause_us);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  size_t right = 0;
  for (size_t i = 0; i < blocks && world_rank == 1; ++i) {
    size_t same = 0;
    while (same < block && data[i * 2 * block + same] == pattern(0, 0, i * 2 * block + same))
      ++same;
    right += same == block;
  }
  CHECK_EQ(right, world_rank == 1 ? blocks : 0);
  MPI_Type_free(&type);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  unsigned char* data = malloc((size_t)blocks * 2 * block);
  flood(data);
  pieces(data);
  free(data);
  return finish();
}
