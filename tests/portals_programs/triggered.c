/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A token that goes round the ring several times without any rank's processor: each arrival triggers the Put to the
 * next rank and an increment of a second counter (Portals 4.3, 3.16). */
#include "tests/portals_programs/exposed.h"

enum { rounds = 5 };

int main(void)
{
  static long token, arrived;
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_NO_MATCHING);
  const ptl_handle_ct_t arrivals = new_counter(ni), seen = new_counter(ni);
  const struct exposed target = expose(ni, 3, &arrived, sizeof arrived, PTL_LE_OP_PUT | PTL_LE_EVENT_CT_COMM, arrivals);
  const ptl_handle_md_t memory_handle =
      bind_memory(ni, job_rank == 0 ? &token : &arrived, sizeof token, 0, PTL_CT_NONE);
  /* Rank 0 starts round n when round n - 1 is back. */
  const ptl_ct_event_t one = {1, 0};
  for (ptl_size_t round = 1; round <= rounds; ++round) {
    if (job_rank != 0 || round < rounds)
      CALL(PtlTriggeredPut(memory_handle, 0, sizeof token, PTL_NO_ACK_REQ, rank_id(next_rank()), target.index, 0, 0,
                           NULL, 0, arrivals, round));
    CALL(PtlTriggeredCTInc(seen, one, arrivals, round));
  }
  token = 42;
  job_barrier();

  if (job_rank == 0)
    CALL(PtlPut(memory_handle, 0, sizeof token, PTL_NO_ACK_REQ, rank_id(next_rank()), target.index, 0, 0, NULL, 0));
  wait_for(seen, rounds);
  EXPECT(arrived == 42);

  job_barrier();
  CALL(PtlMDRelease(memory_handle));
  withdraw(ni, target);
  CALL(PtlCTFree(arrivals));
  CALL(PtlCTFree(seen));
  end_portals(ni);
  return 0;
}
