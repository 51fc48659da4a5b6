/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Flow control: rank 0 has room for one message. The others' Puts beyond it disable its portal table entry, fail with
 * PTL_NI_PT_DISABLED, and succeed once it has been enabled again (Portals 4.3, 2.5.4, 3.5.5). */
#include "tests/portals_programs/program.h"

static ptl_handle_ni_t ni;
static ptl_pt_index_t index_;
static ptl_handle_eq_t queue;
static long box;

static void make_room(void)
{
  const ptl_me_t entry = {.start = &box,
                          .length = sizeof box,
                          .ct_handle = PTL_CT_NONE,
                          .uid = PTL_UID_ANY,
                          .options =
                              PTL_ME_OP_PUT | PTL_ME_USE_ONCE | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                          .match_id = {.rank = PTL_RANK_ANY}};
  ptl_handle_me_t handle;
  CALL(PtlMEAppend(ni, index_, &entry, PTL_PRIORITY_LIST, NULL, &handle));
}

static void receive_all(int messages)
{
  bool* seen = calloc((size_t)job_size, sizeof *seen);
  unsigned disabled = 0;
  while (messages > 0) {
    ptl_event_t event;
    CALL(PtlEQWait(queue, &event));
    if (event.type == PTL_EVENT_PT_DISABLED) {
      EXPECT(event.ni_fail_type == PTL_NI_PT_DISABLED && event.pt_index == index_);
      ++disabled;
      make_room();
      CALL(PtlPTEnable(ni, index_));
    } else {
      EXPECT(event.type == PTL_EVENT_PUT && event.ni_fail_type == PTL_NI_OK);
      EXPECT(!seen[event.initiator.rank] && event.hdr_data == event.initiator.rank);
      seen[event.initiator.rank] = true;
      --messages;
    }
  }
  EXPECT(disabled >= 1 || job_size == 2);
  free(seen);
}

static void send_until_taken(void)
{
  static long value;
  ptl_handle_eq_t sent;
  CALL(PtlEQAlloc(ni, 64, &sent));
  const ptl_md_t memory = {.start = &value,
                           .length = sizeof value,
                           .options = PTL_MD_EVENT_SUCCESS_DISABLE | PTL_MD_EVENT_SEND_DISABLE,
                           .eq_handle = sent,
                           .ct_handle = new_counter(ni)};
  ptl_md_t counted = memory;
  counted.options |= PTL_MD_EVENT_CT_ACK;
  ptl_handle_md_t handle;
  CALL(PtlMDBind(ni, &counted, &handle));
  for (;;) {
    ptl_ct_event_t count;
    const ptl_ct_event_t zero = {0, 0};
    CALL(PtlCTSet(counted.ct_handle, zero));
    CALL(PtlPut(handle, 0, sizeof value, PTL_ACK_REQ, rank_id(0), index_, 0, 0, NULL, (ptl_hdr_data_t)job_rank));
    CALL(PtlCTWait(counted.ct_handle, 1, &count));
    if (count.failure == 0)
      break;
    ptl_event_t event;
    CALL(PtlEQWait(sent, &event));
    EXPECT(event.type == PTL_EVENT_ACK && event.ni_fail_type == PTL_NI_PT_DISABLED);
  }
  CALL(PtlMDRelease(handle));
  CALL(PtlCTFree(counted.ct_handle));
  CALL(PtlEQFree(sent));
}

int main(void)
{
  ni = begin_logical(PTL_NI_MATCHING);
  CALL(PtlEQAlloc(ni, 64, &queue));
  CALL(PtlPTAlloc(ni, PTL_PT_FLOWCTRL, queue, 0, &index_));
  if (job_rank == 0)
    make_room();
  job_barrier();
  if (job_rank == 0)
    receive_all(job_size - 1);
  else
    send_until_taken();
  job_barrier();
  CALL(PtlPTDisable(ni, index_));
  CALL(PtlPTFree(ni, index_));
  CALL(PtlEQFree(queue));
  end_portals(ni);
  return 0;
}
