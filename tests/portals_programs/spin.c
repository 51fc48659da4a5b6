/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Ranks that wait for a Put by looking at their memory, with no call and no event, as SHMEM libraries do; and computations
 * that look like it. Given "forever", they wait for a Put that nobody sends. */
#include "tests/portals_programs/program.h"

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
  ptl_pt_index_t index;
  CALL(PtlPTAlloc(ni, 0, PTL_EQ_NONE, 0, &index));
  const ptl_le_t entry = {.start = (void*)&arrived,
                          .length = sizeof arrived,
                          .ct_handle = PTL_CT_NONE,
                          .uid = PTL_UID_ANY,
                          .options = PTL_LE_OP_PUT};
  ptl_handle_le_t entry_handle;
  CALL(PtlLEAppend(ni, index, &entry, PTL_PRIORITY_LIST, NULL, &entry_handle));
  const ptl_md_t memory = {.start = &token, .length = sizeof token, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
  ptl_handle_md_t memory_handle;
  CALL(PtlMDBind(ni, &memory, &memory_handle));
  job_barrier();
  if (argc > 1 && strcmp(argv[1], "forever") == 0)
    wait_until(&arrived, -1);

  EXPECT(compute() > 1.6449 && count() == 20000000);
  for (long round = 1; round <= rounds; ++round) {
    if (job_rank > 0)
      wait_until(&arrived, round);
    token = round;
    CALL(PtlPut(memory_handle, 0, sizeof token, PTL_NO_ACK_REQ, rank_id(next_rank()), index, 0, 0, NULL, 0));
    if (job_rank == 0)
      wait_until(&arrived, round);
  }

  job_barrier();
  CALL(PtlMDRelease(memory_handle));
  CALL(PtlLEUnlink(entry_handle));
  CALL(PtlPTFree(ni, index));
  end_portals(ni);
  return 0;
}
