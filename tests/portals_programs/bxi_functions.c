/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What BXI's library has beyond Portals 4, compiled with its numbers (preload/portals/ABIS.md): twins that do not
 * block, names of constants; what cannot be done fails. */
#include "tests/portals_programs/program.h"

static void on_nic(void* argument, unsigned int nic, int what)
{
  (void)argument, (void)nic, (void)what;
}

static void on_events(void* argument, ptl_handle_eq_t queue)
{
  (void)argument, (void)queue;
}

int main(void)
{
  EXPECT(strcmp(PtlToStr(PTL_OK, PTL_STR_ERROR), "PTL_OK") == 0);
  EXPECT(strcmp(PtlToStr(PTL_EQ_EMPTY, PTL_STR_ERROR), "PTL_EQ_EMPTY") == 0);
  EXPECT(strcmp(PtlToStr(PTL_TRY_AGAIN, PTL_STR_ERROR), "PTL_TRY_AGAIN") == 0);
  EXPECT(strcmp(PtlToStr(PTL_EVENT_LINK, PTL_STR_EVENT), "PTL_EVENT_LINK") == 0);
  EXPECT(strcmp(PtlToStr(PTL_NI_SEGV, PTL_STR_FAIL_TYPE), "PTL_NI_SEGV") == 0);
  EXPECT(strcmp(PtlToStr(PTL_IN_USE, PTL_STR_FAIL_TYPE), "PTL_IN_USE") == 0);
  EXPECT(strcmp(PtlToStr(4711, PTL_STR_EVENT), "Unknown") == 0);
  EXPECT(strcmp(PtlToStr(0, (enum ptl_str_type)7), "Unknown") == 0);
  EXPECT(PtlFailTypeSize() == 12);
  ptl_activate_hook_t hook;
  CALL(PtlActivateHookAdd(on_nic, NULL, &hook));
  CALL(PtlActivateHookRemove(hook));
  EXPECT(PtlActivateHookAdd(NULL, NULL, &hook) == PTL_ARG_INVALID);
  EXPECT(PtlActivateHookRemove(NULL) == PTL_ARG_INVALID);

  static char from[64], to[64];
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_MATCHING);
  CALL(PtlNIAtomicSync(ni));
  ptl_handle_eq_t queue;
  ptl_pt_index_t index;
  CALL(PtlEQAlloc(ni, 16, &queue));
  CALL(PtlPTAlloc(ni, 0, queue, 4, &index));
  CALL(PtlPTDisableNB(ni, index));
  CALL(PtlPTEnableNB(ni, index));
  const ptl_me_t entry = {.start = to,
                          .length = sizeof to,
                          .ct_handle = PTL_CT_NONE,
                          .uid = PTL_UID_ANY,
                          .options = PTL_ME_OP_PUT | PTL_ME_OP_GET,
                          .match_id = {.rank = PTL_RANK_ANY}};
  ptl_handle_me_t handle;
  CALL(PtlMESearchNB(ni, index, &entry, PTL_SEARCH_ONLY, NULL));
  ptl_event_t event;
  CALL(PtlEQWait(queue, &event));
  EXPECT(event.type == PTL_EVENT_SEARCH && event.ni_fail_type == PTL_NI_NO_MATCH);
  CALL(PtlMEAppendNB(ni, index, &entry, PTL_PRIORITY_LIST, NULL, &handle));
  next_event(queue, PTL_EVENT_LINK);
  job_barrier();
  const ptl_handle_ct_t counter = new_counter(ni);
  const ptl_md_t memory = {.start = from,
                           .length = sizeof from,
                           .options = PTL_MD_EVENT_CT_REPLY | PTL_MD_EVENT_CT_ACK,
                           .eq_handle = PTL_EQ_NONE,
                           .ct_handle = counter};
  ptl_handle_md_t descriptor;
  CALL(PtlMDBindNB(ni, &memory, &descriptor));
  snprintf(from, sizeof from, "from rank %d", job_rank);
  const ptl_process_t peer = rank_id(next_rank());
  CALL(PtlPutNB(descriptor, 0, 32, PTL_CT_ACK_REQ, peer, index, 0, 0, NULL, 0));
  wait_for(counter, 1);
  CALL(PtlGetNB(descriptor, 32, 32, peer, index, 0, 0, NULL));
  wait_for(counter, 2);
  EXPECT(strcmp(from + 32, from) == 0);
  CALL(PtlTriggeredPutNB(descriptor, 0, 32, PTL_CT_ACK_REQ, peer, index, 0, 32, NULL, 0, counter, 3));
  const ptl_ct_event_t one = {1, 0};
  CALL(PtlCTInc(counter, one));
  wait_for(counter, 4);

  uint64_t id, version;
  EXPECT(PtlGetHwid(ni, &id, &version) == PTL_FAIL);
  EXPECT(PtlEQAllocAsync(ni, 16, &queue, on_events, NULL, 0) == PTL_FAIL);
  struct pollfd descriptors[1];
  EXPECT(PtlNFDs(ni) == -1 && PtlNFDs(ni) == -1);
  EXPECT(PtlPollFDs(ni, descriptors, POLLIN) == -1);
  EXPECT(PtlPollEvents(ni, descriptors) == POLLERR);
  end_portals(ni);
  return 0;
}
