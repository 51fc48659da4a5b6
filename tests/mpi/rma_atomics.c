/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Accumulate and get_accumulate with every predefined operation on windows that one rank at a time works on;
 * "rma_atomics contended" with fetch_and_op and compare_and_swap of all ranks on one place instead. */
#include "check.h"

enum { n = 700 };

static long combine(MPI_Op op, long a, long b)
{
  return op == MPI_SUM       ? a + b
         : op == MPI_PROD    ? a * b
         : op == MPI_MAX     ? (a > b ? a : b)
         : op == MPI_MIN     ? (a < b ? a : b)
         : op == MPI_LAND    ? (a && b)
         : op == MPI_LOR     ? (a || b)
         : op == MPI_LXOR    ? (!a != !b)
         : op == MPI_BAND    ? (a & b)
         : op == MPI_BOR     ? (a | b)
         : op == MPI_BXOR    ? (a ^ b)
         : op == MPI_REPLACE ? b
                             : a;
}

static long initial(int i)
{
  return i % 5;
}
static long operand(int i)
{
  return (i + world_rank) % 7;
}

/* Each rank works on the window of its right neighbor alone: every order of operations is known. */
static void operations(MPI_Win window, long* memory)
{
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE};
  static long out[n], before[n], after[n];
  const int target = (world_rank + 1) % world_size;
  for (unsigned o = 0; o < sizeof ops / sizeof *ops; ++o) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window);
    for (int i = 0; i < n; ++i) {
      memory[i] = initial(i);
      out[i] = operand(i);
    }
    MPI_Win_unlock(world_rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Accumulate(out, n, MPI_LONG, target, 0, n, MPI_LONG, ops[o], window);
    MPI_Win_flush(target, window);
    MPI_Get_accumulate(out, n, MPI_LONG, before, n, MPI_LONG, target, 0, n, MPI_LONG, ops[o], window);
    MPI_Win_flush(target, window);
    MPI_Get_accumulate(NULL, 0, MPI_LONG, after, n, MPI_LONG, target, 0, n, MPI_LONG, MPI_NO_OP, window);
    MPI_Win_unlock(target, window);
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
      const long once = combine(ops[o], initial(i), operand(i));
      wrong += before[i] != once;
      wrong += after[i] != combine(ops[o], once, operand(i));
    }
    if (!CHECK_EQ(wrong, 0)) {
      say("operation %u", o);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Concurrent updates of one place: nothing is lost. */
static void counters(MPI_Win window, long* memory)
{
  enum { rounds = 100 };
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window);
  memset(memory, 0, n * sizeof *memory);
  MPI_Win_unlock(world_rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  const long one = 1;
  long last = -1;
  for (int i = 0; i < rounds; ++i) {
    long ticket = -1;
    MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    CHECK(ticket > last); /* each rank sees the counter grow */
    last = ticket;
  }
  for (int i = 0; i < rounds; ++i) { /* add by compare and swap */
    long expected = 0, found = -1;
    for (;;) {
      const long wanted = expected + 2;
      MPI_Compare_and_swap(&wanted, &expected, &found, MPI_LONG, 0, 1, window);
      MPI_Win_flush(0, window);
      if (found == expected) {
        break;
      }
      expected = found;
    }
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  long sums[2] = {-1, -1};
  MPI_Get(sums, 2, MPI_LONG, 0, 0, 2, MPI_LONG, window);
  MPI_Win_unlock(0, window);
  CHECK_EQ(sums[0], (long)rounds * world_size);
  CHECK_EQ(sums[1], 2L * rounds * world_size);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void reals(MPI_Win window, long* memory)
{
  double* workers = (double*)memory;
  double out[100], before[100];
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window);
  for (int i = 0; i < 100; ++i) {
    workers[i] = 0.5;
    out[i] = i + 0.25;
  }
  MPI_Win_unlock(world_rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  for (int r = 0; r < world_size; ++r) {
    MPI_Accumulate(out, 100, MPI_DOUBLE, r, 0, 100, MPI_DOUBLE, MPI_SUM, window);
  }
  MPI_Win_flush_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, before, 100, MPI_DOUBLE, 0, 0, 100, MPI_DOUBLE, MPI_NO_OP, window);
  MPI_Win_unlock_all(window);
  for (int i = 0; i < 100; ++i) {
    CHECK(before[i] == 0.5 + world_size * (i + 0.25));
  }
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  long* memory;
  MPI_Win window;
  MPI_Win_allocate(n * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  if (argc > 1 && strcmp(argv[1], "contended") == 0) {
    counters(window, memory);
  } else {
    operations(window, memory);
    reals(window, memory);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  return finish();
}
