/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Post, start, complete, wait: halo exchange with the two neighbors on a ring, many times; "rma_pscw test" with a loop
 * over MPI_Win_test instead of every other MPI_Win_wait, which in osc portals4 looks at memory and makes no call at
 * all. */
#include "check.h"

enum { rounds = 60, halo = 300 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  const int polling = argc > 1 && strcmp(argv[1], "test") == 0;
  static int memory[2 * halo], out[2][halo], back[halo];
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Group world, neighbors;
  const int both[2] = {left, right};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, both, &neighbors);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < halo; ++i) {
      out[0][i] = world_rank * 100000 + round * 1000 + i;
      out[1][i] = -out[0][i];
    }
    MPI_Win_post(neighbors, 0, window);
    MPI_Win_start(neighbors, 0, window);
    MPI_Put(out[0], halo, MPI_INT, right, 0, halo, MPI_INT, window);
    MPI_Put(out[1], halo, MPI_INT, left, halo, halo, MPI_INT, window);
    MPI_Win_complete(window);
    if (round % 2 || !polling) {
      MPI_Win_wait(window);
    } else {
      for (int done = 0; !done;) {
        MPI_Win_test(window, &done);
      }
    }
    for (int i = 0; i < halo; ++i) {
      CHECK_EQ(memory[i], left * 100000 + round * 1000 + i);
      CHECK_EQ(memory[halo + i], -(right * 100000 + round * 1000 + i));
    }
  }

  /* Exposure to some, access to others: even ranks offer, the odd rank to their right reads. */
  if (world_size % 2 == 0) {
    MPI_Group one;
    MPI_Group_incl(world, 1, world_rank % 2 ? &left : &right, &one);
    if (world_rank % 2 == 0) {
      MPI_Win_post(one, 0, window);
      MPI_Win_wait(window);
    } else {
      MPI_Win_start(one, 0, window);
      MPI_Get(back, halo, MPI_INT, left, halo, halo, MPI_INT, window);
      MPI_Win_complete(window);
      CHECK_EQ(back[5], -(world_rank * 100000 + (rounds - 1) * 1000 + 5));
    }
    MPI_Group_free(&one);
  }
  MPI_Group_free(&neighbors);
  MPI_Group_free(&world);
  MPI_Win_free(&window);
  return finish();
}
