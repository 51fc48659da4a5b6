/* SPDX-License-Identifier: LGPL-2.1-or-later
 * One-sided communication between fences: put, get and accumulate, small and large, to every rank and to oneself. */
#include "check.h"

enum { n = 50000 };

static int value(int from, int to, int index)
{
  return from * 1000000 + to * 60000 + index;
}

static void put_and_get(MPI_Win window, int* memory, int length)
{
  int* buffer = malloc((size_t)world_size * length * sizeof *buffer);
  for (int r = 0; r < world_size; ++r) {
    for (int i = 0; i < length; ++i) {
      buffer[r * length + i] = value(world_rank, r, i);
    }
  }
  memset(memory, 0xff, (size_t)world_size * n * sizeof *memory);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  for (int r = 0; r < world_size; ++r) { /* each rank has a slot in everybody's window */
    MPI_Put(buffer + r * length, length, MPI_INT, r, (MPI_Aint)world_rank * n, length, MPI_INT, window);
  }
  MPI_Win_fence(0, window);
  for (int r = 0; r < world_size; ++r) {
    int wrong = 0;
    for (int i = 0; i < length; ++i) {
      wrong += memory[r * n + i] != value(r, world_rank, i);
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(memory[r * n + length], -1);
  }
  MPI_Win_fence(0, window);
  memset(buffer, 0, (size_t)world_size * length * sizeof *buffer);
  for (int r = 0; r < world_size; ++r) { /* what this rank had put there comes back */
    MPI_Get(buffer + r * length, length, MPI_INT, r, (MPI_Aint)world_rank * n, length, MPI_INT, window);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  for (int r = 0; r < world_size; ++r) {
    int wrong = 0;
    for (int i = 0; i < length; ++i) {
      wrong += buffer[r * length + i] != value(world_rank, r, i);
    }
    CHECK_EQ(wrong, 0);
  }
  free(buffer);
}

static void accumulate(MPI_Win window, int* memory, int length)
{
  int* buffer = malloc(length * sizeof *buffer);
  for (int i = 0; i < length; ++i) {
    buffer[i] = world_rank + i;
    memory[i] = 5;
  }
  MPI_Win_fence(0, window);
  for (int r = 0; r < world_size; ++r) {
    MPI_Accumulate(buffer, length, MPI_INT, r, 0, length, MPI_INT, MPI_SUM, window);
  }
  MPI_Win_fence(0, window);
  int wrong = 0;
  for (int i = 0; i < length; ++i) {
    wrong += memory[i] != 5 + world_size * (world_size - 1) / 2 + world_size * i;
  }
  CHECK_EQ(wrong, 0);
  free(buffer);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  static const int lengths[] = {1, 10, 1500, n - 1};
  int* memory = malloc((size_t)world_size * n * sizeof *memory);
  MPI_Win window;
  MPI_Win_create(memory, (MPI_Aint)world_size * n * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                 MPI_COMM_WORLD, &window);
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    put_and_get(window, memory, lengths[i]);
    accumulate(window, memory, lengths[i]);
  }
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  CHECK(window == MPI_WIN_NULL);
  free(memory);
  return finish();
}
