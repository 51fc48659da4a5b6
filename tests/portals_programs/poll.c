/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Ranks that wait for a Put with calls that change nothing, as SHMEM libraries do, and computations that make such
 * calls, too. Given "forever", they wait for a Put that nobody sends. */
#include "tests/portals_programs/exposed.h"

#include <time.h>

enum { rounds = 10, calls = 20000 };

static volatile long arrived;
static ptl_handle_ct_t counter;

/* All that looks at memory between two calls is in registers and on the stack. */
__attribute__((noinline)) static bool test(const volatile long* place, long value)
{
  const bool found = *place == value;
  CALL(PtlAtomicSync());
  return found;
}

static void by_sync(long value)
{
  while (!test(&arrived, value))
    ;
}

static void by_sync_counting(long value)
{
  volatile long turns = 0;
  while (!test(&arrived, value))
    ++turns;
  EXPECT(turns >= 0);
}

static void by_sync_and_clock(long value)
{
  struct timespec now;
  while (!test(&arrived, value))
    clock_gettime(CLOCK_MONOTONIC, &now);
}

static void by_counter(long value)
{
  ptl_ct_event_t seen;
  do
    CALL(PtlCTGet(counter, &seen));
  while (seen.success < (ptl_size_t)value);
  EXPECT(seen.success == (ptl_size_t)value && arrived == value);
}

/* What it computes with is at one place of memory, so that each turn looks like the one before. */
static void compute(void)
{
  static volatile long sum;
  sum = 0;
  for (long i = 0; i < calls; ++i) {
    sum += i;
    EXPECT(!test(&arrived, -1));
  }
  EXPECT(sum == (long)calls * (calls - 1) / 2);
  static volatile long left;
  for (left = calls; left > 0; --left)
    CALL(PtlAtomicSync());
}

/* A counter shows what its own process does to it at once. */
static void read_back(ptl_handle_ni_t ni)
{
  const ptl_handle_ct_t own = new_counter(ni);
  for (ptl_size_t i = 1; i < 100; ++i) {
    ptl_ct_event_t value = {i, 0};
    CALL(i % 2 ? PtlCTSet(own, value) : PtlCTInc(own, (ptl_ct_event_t){1, 0}));
    for (int again = 0; again < 3; ++again) {
      CALL(PtlCTGet(own, &value));
      EXPECT(value.success == i);
    }
  }
  CALL(PtlCTFree(own));
  ptl_ct_event_t value;
  EXPECT(PtlCTGet(own, &value) == PTL_ARG_INVALID);
}

int main(int argc, char** argv)
{
  static void (*const waits[])(long) = {by_sync, by_sync_counting, by_sync_and_clock, by_counter};
  static long token;
  EXPECT(PtlAtomicSync() == PTL_NO_INIT);
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_NO_MATCHING);
  counter = new_counter(ni);
  const struct exposed target =
      expose(ni, 0, (void*)&arrived, sizeof arrived, PTL_LE_OP_PUT | PTL_LE_EVENT_CT_COMM, counter);
  const ptl_handle_md_t memory_handle = bind_memory(ni, &token, sizeof token, 0, PTL_CT_NONE);
  job_barrier();
  if (argc > 1 && strcmp(argv[1], "forever") == 0)
    by_sync(-1);

  compute();
  read_back(ni);
  job_barrier(); /* one who counts in memory, and so seems to wait, is let go on when nobody else can */
  long value = 0;
  for (int round = 0; round < rounds; ++round)
    for (size_t way = 0; way < sizeof waits / sizeof *waits; ++way) {
      ++value;
      if (job_rank > 0)
        waits[way](value);
      token = value;
      CALL(PtlPut(memory_handle, 0, sizeof token, PTL_NO_ACK_REQ, rank_id(next_rank()), target.index, 0, 0, NULL, 0));
      if (job_rank == 0)
        waits[way](value);
    }

  job_barrier();
  CALL(PtlMDRelease(memory_handle));
  withdraw(ni, target);
  CALL(PtlCTFree(counter));
  end_portals(ni);
  EXPECT(PtlAtomicSync() == PTL_NO_INIT);
  return 0;
}
