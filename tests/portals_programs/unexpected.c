/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Messages before their receives, as an MPI library handles them: they land in the overflow list, a search finds them,
 * and the entry appended later takes them (Portals 4.3, 2.4.2, 3.11.3 and 3.12.2). */
#include "tests/portals_programs/program.h"

enum { size = 64 };

int main(void)
{
  static char landed[1024], wanted[size], text[size];
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_MATCHING);
  ptl_handle_eq_t queue;
  ptl_pt_index_t index;
  CALL(PtlEQAlloc(ni, 64, &queue));
  CALL(PtlPTAlloc(ni, 0, queue, 5, &index));
  ptl_me_t entry = {.start = landed,
                    .length = sizeof landed,
                    .ct_handle = PTL_CT_NONE,
                    .uid = PTL_UID_ANY,
                    .options = PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | PTL_ME_EVENT_COMM_DISABLE,
                    .match_id = {.rank = PTL_RANK_ANY},
                    .ignore_bits = ~(ptl_match_bits_t)0};
  ptl_handle_me_t overflow, taken;
  CALL(PtlMEAppend(ni, index, &entry, PTL_OVERFLOW_LIST, NULL, &overflow));
  next_event(queue, PTL_EVENT_LINK);
  job_barrier();

  snprintf(text, sizeof text, "from rank %d", job_rank);
  const ptl_md_t memory = {.start = text, .length = size, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
  ptl_handle_md_t memory_handle;
  CALL(PtlMDBind(ni, &memory, &memory_handle));
  CALL(PtlPut(memory_handle, 0, size, PTL_NO_ACK_REQ, rank_id(next_rank()), index, 77, 0, NULL, 0));
  job_barrier(); /* takes longer than the Put */

  entry.start = wanted;
  entry.length = size;
  entry.options = PTL_ME_OP_PUT | PTL_ME_USE_ONCE;
  entry.match_bits = 78;
  entry.ignore_bits = 0;
  CALL(PtlMESearch(ni, index, &entry, PTL_SEARCH_ONLY, NULL));
  ptl_event_t event;
  CALL(PtlEQWait(queue, &event));
  EXPECT(event.type == PTL_EVENT_SEARCH && event.ni_fail_type == PTL_NI_NO_MATCH);
  entry.match_bits = 77;
  CALL(PtlMESearch(ni, index, &entry, PTL_SEARCH_ONLY, NULL));
  event = next_event(queue, PTL_EVENT_SEARCH);
  EXPECT(event.start == landed && event.mlength == size && event.initiator.rank == (ptl_rank_t)previous_rank());

  CALL(PtlMEAppend(ni, index, &entry, PTL_PRIORITY_LIST, wanted, &taken));
  event = next_event(queue, PTL_EVENT_PUT_OVERFLOW);
  EXPECT(event.start == landed && event.rlength == size && event.mlength == size && event.user_ptr == wanted);
  next_event(queue, PTL_EVENT_AUTO_UNLINK);
  snprintf(wanted, sizeof wanted, "from rank %d", previous_rank());
  EXPECT(strcmp(event.start, wanted) == 0);

  job_barrier();
  CALL(PtlMEUnlink(overflow));
  CALL(PtlMDRelease(memory_handle));
  CALL(PtlPTFree(ni, index));
  CALL(PtlEQFree(queue));
  end_portals(ni);
  return 0;
}
