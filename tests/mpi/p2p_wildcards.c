/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI_ANY_SOURCE and MPI_ANY_TAG: what the status says is what came, and messages of one sender never overtake. */
#include "check.h"

enum { messages = 200, longest = 20000 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  if (world_rank == 0) {
    static unsigned char buffer[longest];
    int* next = calloc(world_size, sizeof *next); /* number of the message expected from each rank */
    for (int i = 0; i < messages * (world_size - 1); ++i) {
      MPI_Status status;
      int count = 0;
      MPI_Recv(buffer, longest, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      const int source = status.MPI_SOURCE;
      CHECK(source > 0 && source < world_size);
      CHECK_EQ(status.MPI_TAG, next[source]);
      CHECK_EQ(count, (next[source] * 101) % longest);
      CHECK(is_filled(buffer, count, source, next[source]));
      ++next[source];
    }
    for (int source = 1; source < world_size; ++source) {
      CHECK_EQ(next[source], messages);
    }
    free(next);
  } else {
    static unsigned char buffer[longest];
    for (int i = 0; i < messages; ++i) {
      const int size = (i * 101) % longest;
      fill(buffer, size, world_rank, i);
      MPI_Send(buffer, size, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    }
  }

  /* A given source with any tag, and any source with a given tag, pick from a mixed backlog. */
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank != 0) {
    for (int tag = 1; tag <= 3; ++tag) {
      const int value = 100 * world_rank + tag;
      MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    int value = 0, sum = 0;
    MPI_Status status;
    for (int i = 1; i < world_size; ++i) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
      CHECK_EQ(value, 100 * status.MPI_SOURCE + 3);
      sum += status.MPI_SOURCE;
    }
    CHECK_EQ(sum, world_size * (world_size - 1) / 2);
    for (int source = world_size - 1; source > 0; --source) {
      for (int tag = 1; tag <= 2; ++tag) {
        MPI_Recv(&value, 1, MPI_INT, source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK_EQ(status.MPI_TAG, tag);
        CHECK_EQ(value, 100 * source + tag);
      }
    }
  }
  return finish();
}
