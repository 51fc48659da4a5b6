/* SPDX-License-Identifier: LGPL-2.1-or-later
 * All ranks add to, fetch from and swap with memory of rank 0, on a non-matching interface (Portals 4.3, 3.15.4 to 3.15.6). */
#include "tests/portals_programs/program.h"

static ptl_handle_ni_t ni;
static ptl_pt_index_t index_;

static ptl_handle_md_t bind(void* start, ptl_size_t length, ptl_handle_ct_t counter)
{
  const ptl_md_t memory = {.start = start,
                           .length = length,
                           .options = PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_REPLY,
                           .eq_handle = PTL_EQ_NONE,
                           .ct_handle = counter};
  ptl_handle_md_t handle;
  CALL(PtlMDBind(ni, &memory, &handle));
  return handle;
}

int main(void)
{
  static struct {
    int64_t sum, ticket;
    double largest;
    int32_t lock;
  } shared;
  ni = begin_logical(PTL_NI_NO_MATCHING);
  CALL(PtlPTAlloc(ni, 0, PTL_EQ_NONE, 1, &index_));
  const ptl_le_t entry = {.start = &shared,
                          .length = sizeof shared,
                          .ct_handle = PTL_CT_NONE,
                          .uid = PTL_UID_ANY,
                          .options = PTL_LE_OP_PUT | PTL_LE_OP_GET};
  ptl_handle_le_t entry_handle;
  CALL(PtlLEAppend(ni, index_, &entry, PTL_PRIORITY_LIST, NULL, &entry_handle));
  job_barrier();

  const ptl_handle_ct_t counter = new_counter(ni);
  int64_t own = job_rank + 1, ticket = -1;
  double real = 1.5 * job_rank;
  int32_t mine = job_rank + 1, before = -1;
  const int32_t free_lock = 0;
  const ptl_handle_md_t own_handle = bind(&own, sizeof own, counter),
                        ticket_handle = bind(&ticket, sizeof ticket, counter),
                        real_handle = bind(&real, sizeof real, counter),
                        mine_handle = bind(&mine, sizeof mine, counter),
                        before_handle = bind(&before, sizeof before, counter);
  const ptl_process_t root = rank_id(0);
  CALL(PtlAtomic(own_handle, 0, 8, PTL_CT_ACK_REQ, root, index_, 0, 0, NULL, 0, PTL_SUM, PTL_INT64_T));
  CALL(PtlAtomic(real_handle, 0, 8, PTL_CT_ACK_REQ, root, index_, 0, 16, NULL, 0, PTL_MAX, PTL_DOUBLE));
  CALL(PtlFetchAtomic(ticket_handle, 0, own_handle, 0, 8, root, index_, 0, 8, NULL, 0, PTL_SUM, PTL_INT64_T));
  CALL(PtlSwap(before_handle, 0, mine_handle, 0, 4, root, index_, 0, 24, NULL, 0, &free_lock, PTL_CSWAP, PTL_INT32_T));
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
  CALL(PtlLEUnlink(entry_handle));
  CALL(PtlPTFree(ni, index_));
  end_portals(ni);
  return 0;
}
