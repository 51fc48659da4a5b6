/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Derived datatypes in put, get and accumulate, at the origin, at the target and at both. */
#include "check.h"

enum { n = 64 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static double memory[n][n], source[n][n], dense[n];
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Datatype column, block;
  MPI_Win window;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  const int sizes[] = {n, n}, parts[] = {10, 20}, starts[] = {3, 5};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) {
      source[r][c] = world_rank * 10000 + r * 100 + c;
      memory[r][c] = -1;
    }
  }
  MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);

  MPI_Win_fence(0, window);
  MPI_Put(source[7], n, MPI_DOUBLE, right, 9, 1, column, window); /* a row becomes a column */
  MPI_Win_fence(0, window);
  for (int i = 0; i < n; ++i) {
    CHECK(memory[i][9] == left * 10000 + 700 + i);
    CHECK(memory[i][10] == -1);
  }
  MPI_Win_fence(0, window);
  MPI_Get(dense, n, MPI_DOUBLE, right, 9, 1, column, window); /* and comes back as a row */
  MPI_Win_fence(0, window);
  for (int i = 0; i < n; ++i) {
    CHECK(dense[i] == world_rank * 10000 + 700 + i);
  }
  MPI_Put(source, 1, block, right, 0, 1, block, window);
  MPI_Win_fence(0, window);
  for (int r = 3; r < 13; ++r) {
    for (int c = 5; c < 25; ++c) {
      CHECK(memory[r][c] == left * 10000 + r * 100 + c);
    }
    CHECK(memory[r][4] == -1 && memory[r][25] == -1);
  }
  MPI_Win_fence(0, window);
  MPI_Accumulate(source, 1, block, right, 0, 1, block, MPI_SUM, window);
  MPI_Win_fence(0, window);
  for (int r = 3; r < 13; ++r) {
    for (int c = 5; c < 25; ++c) {
      CHECK(memory[r][c] == 2 * (left * 10000 + r * 100 + c));
    }
    CHECK(memory[r][4] == -1);
  }
  MPI_Win_free(&window);
  MPI_Type_free(&block);
  MPI_Type_free(&column);
  return finish();
}
