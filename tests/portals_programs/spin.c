/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Ranks that wait for a Put by looking at their memory, with no call and no event, as SHMEM libraries do; and
 * computations that look like it; and for a status register. Given "forever", they wait for a Put that nobody sends;
 * given "calls", they do that with calls that take no time. */
#include "tests/portals_programs/exposed.h"

enum { rounds = 20 };

static void wait_until(const volatile long* place, long value)
{
  while (*place != value)
    __asm__ volatile("pause");
}

/* Some tens of milliseconds in a loop of few instructions. */
static double compute(void)
{
  double sum = 0;
  for (double i = 1; i <= 2e7; i += 1)
    sum += 1 / (i * i);
  return sum;
}

static long count(void)
{
  volatile long steps = 0;
  for (long i = 0; i < 20000000; ++i)
    ++steps;
  return steps;
}

int main(int argc, char** argv)
{
  static volatile long arrived;
  static long token;
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_NO_MATCHING);
  const struct exposed target = expose(ni, 0, (void*)&arrived, sizeof arrived, PTL_LE_OP_PUT, PTL_CT_NONE);
  const ptl_handle_md_t memory_handle = bind_memory(ni, &token, sizeof token, 0, PTL_CT_NONE);
  job_barrier();
  if (argc > 1 && strcmp(argv[1], "forever") == 0)
    wait_until(&arrived, -1);

  ptl_uid_t user;
  while (argc > 1 && strcmp(argv[1], "calls") == 0)
    CALL(PtlGetUid(ni, &user));
  ptl_sr_value_t drops;
  CALL(PtlPut(memory_handle, 0, sizeof token, PTL_NO_ACK_REQ, rank_id(next_rank()), target.index + 1, 0, 0, NULL, 0));
  do
    CALL(PtlNIStatus(ni, PTL_SR_DROP_COUNT, &drops));
  while (drops == 0);
  EXPECT(drops == 1);

  EXPECT(compute() > 1.6449 && count() == 20000000);
  for (long round = 1; round <= rounds; ++round) {
    if (job_rank > 0)
      wait_until(&arrived, round);
    token = round;
    CALL(PtlPut(memory_handle, 0, sizeof token, PTL_NO_ACK_REQ, rank_id(next_rank()), target.index, 0, 0, NULL, 0));
    if (job_rank == 0)
      wait_until(&arrived, round);
  }

  job_barrier();
  CALL(PtlMDRelease(memory_handle));
  withdraw(ni, target);
  end_portals(ni);
  return 0;
}
