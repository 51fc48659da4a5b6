/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Everybody sends to rank 0 at once, eager and rendezvous mixed, many in flight; then rank 0 answers everybody. */
#include "check.h"

enum { messages = 40, largest = 65536 + 512 };

static int length(int message)
{
  return message % 4 == 3 ? 65536 + message : message * 16;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int senders = world_size - 1;
  const int total = world_rank == 0 ? senders * messages : messages;
  unsigned char* buffers = malloc((size_t)total * largest);
  MPI_Request* requests = malloc(total * sizeof *requests);
  for (int i = 0; i < total; ++i) {
    const int message = i % messages;
    unsigned char* buffer = buffers + (size_t)i * largest;
    if (world_rank == 0) {
      MPI_Irecv(buffer, largest, MPI_BYTE, 1 + i / messages, message, MPI_COMM_WORLD, &requests[i]);
    } else {
      fill(buffer, length(message), world_rank, message);
      MPI_Isend(buffer, length(message), MPI_BYTE, 0, message, MPI_COMM_WORLD, &requests[i]);
    }
  }
  MPI_Waitall(total, requests, MPI_STATUSES_IGNORE);
  if (world_rank == 0) {
    for (int i = 0; i < total; ++i) {
      CHECK(is_filled(buffers + (size_t)i * largest, length(i % messages), 1 + i / messages, i % messages));
    }
    for (int rank = 1; rank < world_size; ++rank) {
      unsigned char* third = buffers + ((size_t)(rank - 1) * messages + 3) * largest; /* back to whom it came from */
      MPI_Send(third, length(3), MPI_BYTE, rank, 500, MPI_COMM_WORLD);
    }
  } else {
    MPI_Recv(buffers, largest, MPI_BYTE, 0, 500, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(is_filled(buffers, length(3), world_rank, 3));
  }
  free(requests);
  free(buffers);
  return finish();
}
