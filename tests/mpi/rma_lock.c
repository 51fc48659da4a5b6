/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Passive target: exclusive and shared locks, lock_all, flush, MPI_MODE_NOCHECK; the target takes no part. */
#include "check.h"

enum { rounds = 50, n = 4000 };

/* With an exclusive lock, read - modify - write is safe. */
static void exclusive(MPI_Win window, long* memory)
{
  for (int i = 0; i < rounds; ++i) {
    long value = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_flush(0, window);
    value += world_rank + 1;
    MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK_EQ(memory[0], (long)rounds * world_size * (world_size + 1) / 2);
    MPI_Win_unlock(0, window);
  }
}

static void shared(MPI_Win window, long* memory)
{
  static long out[n], in[n];
  const int target = (world_rank + 1) % world_size;
  for (int i = 0; i < n; ++i) {
    out[i] = world_rank * 100000L + i;
  }
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  MPI_Put(out, n, MPI_LONG, target, 10, n, MPI_LONG, window);
  MPI_Win_flush(target, window);
  MPI_Get(in, n, MPI_LONG, target, 10, n, MPI_LONG, window);
  MPI_Win_unlock(target, window);
  CHECK(memcmp(out, in, sizeof out) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const int writer = (world_rank + world_size - 1) % world_size;
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, window);
  CHECK_EQ(memory[10], writer * 100000L);
  CHECK_EQ(memory[10 + n - 1], writer * 100000L + n - 1);
  MPI_Win_unlock(world_rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* An epoch to all: everyone writes its row into everyone's window, flushes in the three ways, and reads others' rows.
 */
static void all(MPI_Win window, long* memory)
{
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  long mine[4];
  for (int i = 0; i < 4; ++i) {
    mine[i] = world_rank * 10 + i;
  }
  for (int r = 0; r < world_size; ++r) {
    MPI_Put(mine, 4, MPI_LONG, r, 5000 + 4 * world_rank, 4, MPI_LONG, window);
    if (r % 3 == 0) {
      MPI_Win_flush(r, window);
    }
  }
  MPI_Win_flush_local_all(window);
  memset(mine, 0, sizeof mine); /* locally complete: the buffer may be used again */
  MPI_Win_flush_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
  for (int r = 0; r < world_size; ++r) {
    for (int i = 0; i < 4; ++i) {
      CHECK_EQ(memory[5000 + 4 * r + i], r * 10 + i);
    }
  }
  const int other = (world_rank + 2) % world_size;
  long row[4] = {0};
  MPI_Get(row, 4, MPI_LONG, other, 5000 + 4 * world_rank, 4, MPI_LONG, window);
  MPI_Win_flush_local(other, window);
  CHECK_EQ(row[3], world_rank * 10 + 3);
  MPI_Win_unlock_all(window);
}

/* The promise that nobody else locks, with more data than a message of the library carries, in a window that nobody has
 * locked yet. */
static void unchecked(void)
{
  long* memory;
  MPI_Win window;
  MPI_Win_allocate(6000 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  static long out[n], in[n];
  const int target = (world_rank + 1) % world_size;
  for (int i = 0; i < n; ++i) {
    out[i] = world_rank * 200000L + i;
  }
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, MPI_MODE_NOCHECK, window);
  MPI_Put(out, n, MPI_LONG, target, 10, n, MPI_LONG, window);
  MPI_Win_unlock(target, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Accumulate(out, n, MPI_LONG, target, 10, n, MPI_LONG, MPI_SUM, window);
  MPI_Win_flush(target, window);
  MPI_Get(in, n, MPI_LONG, target, 10, n, MPI_LONG, window);
  MPI_Win_unlock_all(window);
  for (int i = 0; i < n; ++i) {
    out[i] *= 2;
  }
  CHECK(memcmp(out, in, sizeof out) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const int writer = (world_rank + world_size - 1) % world_size;
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, window);
  CHECK_EQ(memory[10 + n - 1], 2 * (writer * 200000L + n - 1));
  MPI_Win_unlock(world_rank, window);
  MPI_Win_free(&window);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  long* memory;
  MPI_Win window;
  MPI_Win_allocate(6000 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window);
  memset(memory, 0, 6000 * sizeof(long));
  MPI_Win_unlock(world_rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  exclusive(window, memory);
  shared(window, memory);
  all(window, memory);
  unchecked();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  return finish();
}
