/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Cartesian topologies: dimensions, coordinates, shifts with and without wrap-around, slices. */
#include "check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  int dimensions[3] = {0, 0, 0}, periodic[3] = {1, 0, 1}, coordinates[3], rank = -1;
  MPI_Dims_create(world_size, 3, dimensions);
  CHECK_EQ(dimensions[0] * dimensions[1] * dimensions[2], world_size);
  CHECK(dimensions[0] >= dimensions[1] && dimensions[1] >= dimensions[2]);

  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 3, dimensions, periodic, 0, &cart);
  int kind = -1, count = -1;
  MPI_Topo_test(cart, &kind);
  CHECK_EQ(kind, MPI_CART);
  MPI_Cartdim_get(cart, &count);
  CHECK_EQ(count, 3);
  for (int r = 0; r < world_size; ++r) {
    MPI_Cart_coords(cart, r, 3, coordinates);
    CHECK_EQ((coordinates[0] * dimensions[1] + coordinates[1]) * dimensions[2] + coordinates[2], r);
    MPI_Cart_rank(cart, coordinates, &rank);
    CHECK_EQ(rank, r);
  }
  MPI_Cart_coords(cart, world_rank, 3, coordinates);
  coordinates[0] += 5 * dimensions[0]; /* periodic dimensions wrap */
  MPI_Cart_rank(cart, coordinates, &rank);
  CHECK_EQ(rank, world_rank);
  coordinates[0] -= 5 * dimensions[0];

  for (int d = 0; d < 3; ++d) {
    int below = -7, above = -7, got = -1;
    MPI_Cart_shift(cart, d, 1, &below, &above);
    CHECK_EQ(above == MPI_PROC_NULL, !periodic[d] && coordinates[d] + 1 == dimensions[d]);
    CHECK_EQ(below == MPI_PROC_NULL, !periodic[d] && coordinates[d] == 0);
    MPI_Sendrecv(&world_rank, 1, MPI_INT, above, d, &got, 1, MPI_INT, below, d, cart, MPI_STATUS_IGNORE);
    CHECK_EQ(got, below == MPI_PROC_NULL ? -1 : below);
  }

  const int keep[3] = {1, 0, 1};
  MPI_Comm slice;
  MPI_Cart_sub(cart, keep, &slice);
  int size = -1, sum = -1;
  MPI_Comm_size(slice, &size);
  CHECK_EQ(size, dimensions[0] * dimensions[2]);
  MPI_Allreduce(&coordinates[1], &sum, 1, MPI_INT, MPI_SUM, slice);
  CHECK_EQ(sum, coordinates[1] * size); /* all of a slice have this coordinate in common */
  say("slice of %d", size);
  MPI_Comm_free(&slice);
  MPI_Comm_free(&cart);

  int line[1] = {world_size - 1}, open[1] = {0}; /* one rank stays out */
  MPI_Cart_create(MPI_COMM_WORLD, 1, line, open, 0, &cart);
  CHECK_EQ(cart == MPI_COMM_NULL, world_rank == world_size - 1);
  if (cart != MPI_COMM_NULL) {
    MPI_Comm_free(&cart);
  }
  return finish();
}
