/* SPDX-License-Identifier: LGPL-2.1-or-later
 * All ranks add to, fetch from and swap with memory of rank 0, on a non-matching interface (Portals 4.3, 3.15.4
 * to 3.15.6). */
#include "tests/portals_programs/exposed.h"

int main(void)
{
  static struct {
    int64_t sum, ticket;
    double largest;
    int32_t lock;
  } shared;
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_NO_MATCHING);
  const struct exposed target = expose(ni, 1, &shared, sizeof shared, PTL_LE_OP_PUT | PTL_LE_OP_GET, PTL_CT_NONE);
  job_barrier();

  const ptl_handle_ct_t counter = new_counter(ni);
  int64_t own = job_rank + 1, ticket = -1;
  double real = 1.5 * job_rank;
  int32_t mine = job_rank + 1, before = -1;
  const int32_t free_lock = 0;
  const unsigned counted = PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_REPLY;
  const ptl_handle_md_t own_handle = bind_memory(ni, &own, sizeof own, counted, counter),
                        ticket_handle = bind_memory(ni, &ticket, sizeof ticket, counted, counter),
                        real_handle = bind_memory(ni, &real, sizeof real, counted, counter),
                        mine_handle = bind_memory(ni, &mine, sizeof mine, counted, counter),
                        before_handle = bind_memory(ni, &before, sizeof before, counted, counter);
  const ptl_process_t root = rank_id(0);
  const ptl_pt_index_t index = target.index;
  CALL(PtlAtomic(own_handle, 0, 8, PTL_CT_ACK_REQ, root, index, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T));
  CALL(PtlAtomic(real_handle, 0, 8, PTL_CT_ACK_REQ, root, index, 0, 16, NULL, 0, PTL_MAX, PTL_DOUBLE));
  CALL(PtlFetchAtomic(ticket_handle, 0, own_handle, 0, 8, root, index, 0, 8, NULL, 0, PTL_SUM, PTL_INT64_T));
  CALL(PtlSwap(before_handle, 0, mine_handle, 0, 4, root, index, 0, 24, NULL, 0, &free_lock, PTL_CSWAP, PTL_INT32_T));
  wait_for(counter, 4);
  EXPECT(ticket >= 0 && ticket <= (int64_t)job_size * (job_size + 1) / 2 - own);
  EXPECT(before >= 0 && before <= job_size);
  job_barrier();
  if (job_rank == 0) {
    EXPECT(shared.sum == (int64_t)job_size * (job_size + 1) / 2 && shared.ticket == shared.sum);
    EXPECT(shared.largest == 1.5 * (job_size - 1));
    EXPECT(shared.lock >= 1 && shared.lock <= job_size);
  }
  job_barrier();

  const ptl_handle_md_t handles[] = {own_handle, ticket_handle, real_handle, mine_handle, before_handle};
  for (int i = 0; i < 5; ++i)
    CALL(PtlMDRelease(handles[i]));
  CALL(PtlCTFree(counter));
  withdraw(ni, target);
  end_portals(ni);
  return 0;
}
