/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI_Sendrecv and MPI_Sendrecv_replace around a ring and along a line whose ends are MPI_PROC_NULL. */
#include "check.h"

enum { largest = 150000 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static unsigned char out[largest], in[largest];
  static const int sizes[] = {0, 16, 5000, largest};
  const int right = (world_rank + 1) % world_size;
  const int left = (world_rank + world_size - 1) % world_size;
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const int size = sizes[s];
    MPI_Status status;
    int count = -1;
    fill(out, size, world_rank, s);
    MPI_Sendrecv(out, size, MPI_BYTE, right, s, in, largest, MPI_BYTE, left, s, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQ(count, size);
    CHECK_EQ(status.MPI_SOURCE, left);
    CHECK(is_filled(in, size, left, s));
    for (int hop = 0; hop < world_size; ++hop) { /* all the way round: back to what was sent */
      MPI_Sendrecv_replace(out, size, MPI_BYTE, right, 50, left, 50, MPI_COMM_WORLD, &status);
    }
    CHECK(is_filled(out, size, world_rank, s));
  }

  const int up = world_rank + 1 < world_size ? world_rank + 1 : MPI_PROC_NULL;
  const int down = world_rank > 0 ? world_rank - 1 : MPI_PROC_NULL;
  int mine = 1000 + world_rank, other = -1, count = -1;
  MPI_Status status;
  MPI_Sendrecv(&mine, 1, MPI_INT, up, 7, &other, 1, MPI_INT, down, 7, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  if (down == MPI_PROC_NULL) {
    CHECK_EQ(other, -1);
    CHECK_EQ(count, 0);
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  } else {
    CHECK_EQ(other, 1000 + down);
    CHECK_EQ(count, 1);
  }
  say("got %d from below", other);
  return finish();
}
