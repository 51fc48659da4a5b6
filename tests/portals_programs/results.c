/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What functions return, by name: each ABI has other numbers (preload/portals/ABIS.md). */
#include "tests/portals_programs/program.h"

enum { not_an_option = 1 << 27 };

static void interfaces(ptl_handle_ni_t ni, ptl_handle_eq_t queue)
{
  ptl_handle_ni_t other;
  EXPECT(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL,
                   &other) == PTL_ARG_INVALID);
  EXPECT(PtlNIInit(PTL_IFACE_DEFAULT, not_an_option | PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL,
                   &other) == PTL_ARG_INVALID);
  EXPECT(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, NULL) ==
         PTL_ARG_INVALID);
  EXPECT(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_MAX + 1, NULL, NULL, &other) ==
         PTL_ARG_INVALID);
  ptl_ni_limits_t limits;
  CALL(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, &limits, &other));
  EXPECT(limits.max_eqs > 0 && limits.max_msg_size >= 1 << 20);
  ptl_process_t id, map[1];
  CALL(PtlGetId(other, &id));
  EXPECT(id.rank == PTL_RANK_ANY);
  ptl_size_t size;
  EXPECT(PtlGetMap(other, 1, map, &size) == PTL_NO_SPACE);
  EXPECT(PtlSetMap(ni, 1, map) == PTL_ARG_INVALID);
  EXPECT(PtlHandleIsEqual(ni, ni) == 1 && PtlHandleIsEqual(ni, other) == 0);
  ptl_handle_ni_t owner;
  CALL(PtlNIHandle(queue, &owner));
  EXPECT(PtlHandleIsEqual(owner, ni));
  CALL(PtlNIFini(other));
  EXPECT(PtlNIFini(other) == PTL_ARG_INVALID);
  EXPECT(PtlNIHandle(PTL_INVALID_HANDLE, &owner) == PTL_ARG_INVALID);
}

static void portal_table(ptl_handle_ni_t ni, ptl_handle_eq_t queue)
{
  ptl_pt_index_t index, others[1024];
  EXPECT(PtlPTAlloc(ni, PTL_PT_FLOWCTRL, PTL_EQ_NONE, PTL_PT_ANY, &index) == PTL_PT_EQ_NEEDED);
  EXPECT(PtlPTAlloc(ni, not_an_option, queue, PTL_PT_ANY, &index) == PTL_ARG_INVALID);
  CALL(PtlPTAlloc(ni, PTL_PT_ONLY_USE_ONCE | PTL_PT_ONLY_TRUNCATE | PTL_PT_FLOWCTRL, queue, 3, &index));
  EXPECT(PtlPTAlloc(ni, 0, queue, 3, &index) == PTL_PT_IN_USE);
  int taken = 0, result;
  while (taken < 1024 && (result = PtlPTAlloc(ni, 0, queue, PTL_PT_ANY, &others[taken])) == PTL_OK)
    ++taken;
  EXPECT(taken > 8 && result == PTL_PT_FULL);
  while (taken > 0)
    CALL(PtlPTFree(ni, others[--taken]));
  static char memory[64];
  const ptl_me_t entry = {.start = memory,
                          .length = sizeof memory,
                          .ct_handle = PTL_CT_NONE,
                          .uid = PTL_UID_ANY,
                          .options = PTL_ME_OP_PUT,
                          .match_id = {.phys = {PTL_NID_ANY, PTL_PID_ANY}}};
  ptl_me_t wrong = entry;
  ptl_handle_me_t handle;
  wrong.options |= not_an_option;
  EXPECT(PtlMEAppend(ni, 3, &wrong, PTL_PRIORITY_LIST, NULL, &handle) == PTL_ARG_INVALID);
  EXPECT(PtlMEAppend(ni, 3, &entry, (ptl_list_t)77, NULL, &handle) == PTL_ARG_INVALID);
  CALL(PtlMEAppend(ni, 3, &entry, PTL_PRIORITY_LIST, NULL, &handle));
  EXPECT(PtlPTFree(ni, 3) == PTL_PT_IN_USE);
  CALL(PtlMEUnlink(handle));
  CALL(PtlPTFree(ni, 3));
}

static void queues_and_counters(ptl_handle_ni_t ni)
{
  ptl_handle_eq_t small, many[30];
  ptl_event_t event;
  CALL(PtlEQAlloc(ni, 1, &small));
  EXPECT(PtlEQGet(small, &event) == PTL_EQ_EMPTY);
  EXPECT(PtlEQGet(PTL_EQ_NONE, &event) == PTL_ARG_INVALID);
  ptl_pt_index_t index;
  CALL(PtlPTAlloc(ni, 0, small, PTL_PT_ANY, &index));
  for (int i = 0; i < 1000; ++i) {
    const ptl_me_t entry = {.ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY, .options = PTL_ME_OP_PUT};
    ptl_handle_me_t handle;
    CALL(PtlMEAppend(ni, index, &entry, PTL_PRIORITY_LIST, NULL, &handle));
    CALL(PtlMEUnlink(handle));
  }
  EXPECT(PtlEQWait(small, &event) == PTL_EQ_DROPPED && event.type == PTL_EVENT_LINK);

  unsigned which = 99;
  for (int i = 0; i < 30; ++i)
    CALL(PtlEQAlloc(ni, 4, &many[i]));
  EXPECT(PtlEQPoll(many, 30, 1, &event, &which) == PTL_EQ_EMPTY);
  many[29] = small;
  while (PtlEQGet(small, &event) != PTL_EQ_EMPTY)
    ;
  const ptl_me_t entry = {.ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY, .options = PTL_ME_OP_PUT};
  ptl_handle_ct_t counters[2] = {new_counter(ni), new_counter(ni)};
  ptl_handle_me_t handle;
  CALL(PtlMEAppend(ni, index, &entry, PTL_PRIORITY_LIST, counters, &handle));
  CALL(PtlEQPoll(many, 30, PTL_TIME_FOREVER, &event, &which));
  EXPECT(which == 29 && event.type == PTL_EVENT_LINK && event.user_ptr == counters);
  CALL(PtlMEUnlink(handle));

  const ptl_size_t tests[2] = {1, 1};
  ptl_ct_event_t value = {0, 0};
  EXPECT(PtlCTPoll(counters, tests, 2, 1, &value, &which) == PTL_CT_NONE_REACHED);
  value.success = 1;
  CALL(PtlCTSet(counters[1], value));
  CALL(PtlCTPoll(counters, tests, 2, PTL_TIME_FOREVER, &value, &which));
  EXPECT(which == 1 && value.success == 1);
  EXPECT(PtlCTGet(PTL_CT_NONE, &value) == PTL_ARG_INVALID);
  CALL(PtlCTFree(counters[0]));
  CALL(PtlCTFree(counters[1]));
  CALL(PtlPTFree(ni, index));

  const ptl_md_t wrong = {.options = not_an_option, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
  ptl_handle_md_t descriptor;
  EXPECT(PtlMDBind(ni, &wrong, &descriptor) == PTL_ARG_INVALID);
  EXPECT(PtlMDBind(ni, NULL, &descriptor) == PTL_ARG_INVALID);
}

int main(void)
{
  ptl_handle_ni_t ni;
  EXPECT(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &ni) == PTL_NO_INIT);
  ni = begin_portals(PTL_NI_MATCHING | PTL_NI_PHYSICAL);
  ptl_handle_eq_t queue;
  CALL(PtlEQAlloc(ni, 4096, &queue));
  interfaces(ni, queue);
  portal_table(ni, queue);
  queues_and_counters(ni);
  end_portals(ni);
  return 0;
}
