/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Numbers that mean something: wildcards of match ids, options of entries, kinds of acknowledgement, how operations
 * fail, operations on memory and their types. Each ABI has others (preload/portals/ABIS.md). */
#include "tests/portals_programs/program.h"

enum { size = 64, portal = 6, empty_portal = 7, disabled_portal = 8 };

static ptl_handle_eq_t target_events, own_events;
static ptl_handle_ct_t acknowledged;
static ptl_handle_md_t descriptor;
static ptl_process_t next, previous;
static _Alignas(16) char from[size], to[size];

static ptl_handle_me_t append(ptl_handle_ni_t ni, unsigned options, ptl_process_t who, ptl_match_bits_t bits)
{
  const ptl_me_t entry = {.start = to,
                          .length = size / 2,
                          .ct_handle = PTL_CT_NONE,
                          .uid = PTL_UID_ANY,
                          .options = options | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                          .match_id = who,
                          .match_bits = bits};
  ptl_handle_me_t handle;
  CALL(PtlMEAppend(ni, portal, &entry, PTL_PRIORITY_LIST, NULL, &handle));
  return handle;
}

static void put(ptl_pt_index_t index, ptl_match_bits_t bits, ptl_size_t length, ptl_ack_req_t acknowledgement)
{
  CALL(PtlPut(descriptor, 0, length, acknowledgement, next, index, bits, 0, NULL, 0));
}

static ptl_event_t next_of(ptl_handle_eq_t queue, ptl_event_kind_t type)
{
  ptl_event_t event;
  CALL(PtlEQWait(queue, &event));
  if (event.type != type) {
    fprintf(stderr, "rank %d: event of type %d, expected %d\n", job_rank, (int)event.type, (int)type);
    exit(1);
  }
  return event;
}

static void wildcards(ptl_handle_ni_t ni)
{
  ptl_process_t anybody = {.phys = {PTL_NID_ANY, PTL_PID_ANY}};
  ptl_process_t of_node = {.phys = {previous.phys.nid, PTL_PID_ANY}};
  ptl_process_t nobody = {.phys = {PTL_NID_ANY, PTL_PID_MAX}};
  append(ni, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, anybody, 1);
  append(ni, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, of_node, 2);
  const ptl_handle_me_t never = append(ni, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, nobody, 3);
  append(ni, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, previous, 3);
  job_barrier();
  for (ptl_match_bits_t bits = 1; bits <= 3; ++bits) {
    put(portal, bits, 8, PTL_NO_ACK_REQ);
    const ptl_event_t event = next_of(target_events, PTL_EVENT_PUT);
    EXPECT(event.match_bits == bits && event.initiator.phys.nid == previous.phys.nid);
  }
  CALL(PtlMEUnlink(never));
}

static void failures(ptl_handle_ni_t ni)
{
  ptl_process_t anybody = {.phys = {PTL_NID_ANY, PTL_PID_ANY}};
  const ptl_handle_me_t gets = append(ni, PTL_ME_OP_GET, anybody, 11);
  const ptl_handle_me_t silent = append(ni, PTL_ME_OP_PUT | PTL_ME_ACK_DISABLE | PTL_ME_MAY_ALIGN, anybody, 12);
  const ptl_handle_me_t whole = append(ni, PTL_ME_OP_PUT | PTL_ME_NO_TRUNCATE, anybody, 13);
  const ptl_handle_me_t part = append(ni, PTL_ME_OP_PUT | PTL_ME_IS_ACCESSIBLE, anybody, 14);
  const ptl_handle_me_t quiet = append(ni, PTL_ME_OP_PUT | PTL_ME_EVENT_SUCCESS_DISABLE, anybody, 15);
  job_barrier();
  put(portal, 11, 8, PTL_ACK_REQ);
  EXPECT(next_of(own_events, PTL_EVENT_ACK).ni_fail_type == PTL_NI_OP_VIOLATION);
  put(empty_portal, 0, 8, PTL_ACK_REQ);
  EXPECT(next_of(own_events, PTL_EVENT_ACK).ni_fail_type == PTL_NI_DROPPED);
  put(disabled_portal, 0, 8, PTL_ACK_REQ);
  EXPECT(next_of(own_events, PTL_EVENT_ACK).ni_fail_type == PTL_NI_PT_DISABLED);
  put(portal, 13, size, PTL_ACK_REQ);
  EXPECT(next_of(own_events, PTL_EVENT_ACK).ni_fail_type == PTL_NI_DROPPED);
  put(portal, 12, 8, PTL_ACK_REQ); /* whose acknowledgement does not come */
  put(portal, 14, size, PTL_ACK_REQ);
  const ptl_event_t event = next_of(own_events, PTL_EVENT_ACK);
  EXPECT(event.ni_fail_type == PTL_NI_OK && event.mlength == size / 2);
  const ptl_ct_event_t none = {0, 0}; /* what has been acknowledged with an event has counted, too */
  CALL(PtlCTSet(acknowledged, none));
  put(portal, 15, 8, PTL_CT_ACK_REQ);
  wait_for(acknowledged, 1);
  put(portal, 15, 8, PTL_OC_ACK_REQ);
  wait_for(acknowledged, 2);
  job_barrier();
  const ptl_handle_me_t entries[] = {gets, silent, whole, part, quiet};
  for (unsigned i = 0; i < sizeof entries / sizeof *entries; ++i)
    CALL(PtlMEUnlink(entries[i]));
  ptl_event_t left;
  while (PtlEQGet(target_events, &left) == PTL_OK)
    EXPECT(left.type == PTL_EVENT_PUT && left.match_bits != 15);
}

/* What the target holds after `operation` with 12 on 10. */
static const struct {
  ptl_op_t operation;
  int64_t after;
} integers[] = {{PTL_MIN, 10}, {PTL_MAX, 12}, {PTL_SUM, 22},       {PTL_PROD, 120}, {PTL_LOR, 1},
                {PTL_LAND, 1}, {PTL_BOR, 14}, {PTL_BAND, 10 & 12}, {PTL_LXOR, 0},   {PTL_BXOR, 6}};
/* The same with an operand of 10 and of 11. */
static const struct {
  ptl_op_t operation;
  bool with_10, with_11;
} conditions[] = {{PTL_CSWAP, true, false},     {PTL_CSWAP_NE, false, true}, {PTL_CSWAP_LE, true, false},
                  {PTL_CSWAP_LT, false, false}, {PTL_CSWAP_GE, true, true},  {PTL_CSWAP_GT, false, true}};

static int64_t fetched(void)
{
  const ptl_event_t event = next_of(own_events, PTL_EVENT_REPLY);
  EXPECT(event.ni_fail_type == PTL_NI_OK);
  int64_t value;
  memcpy(&value, from + 8, sizeof value);
  return value;
}

/* All of it on memory of its own, so that it has the answer. */
static void operations(ptl_handle_ni_t ni, ptl_process_t self)
{
  const ptl_handle_me_t entry = append(ni, PTL_ME_OP_PUT | PTL_ME_OP_GET, self, 20);
  const int64_t ten = 10, eleven = 11, twelve = 12;
  memcpy(from, &twelve, sizeof twelve);
  for (unsigned i = 0; i < sizeof integers / sizeof *integers; ++i) {
    memcpy(to, &ten, sizeof ten);
    CALL(PtlFetchAtomic(descriptor, 8, descriptor, 0, 8, self, portal, 20, 0, NULL, 0, integers[i].operation,
                        PTL_INT64_T));
    EXPECT(fetched() == 10);
    const ptl_event_t event = next_of(target_events, PTL_EVENT_FETCH_ATOMIC);
    EXPECT(event.atomic_operation == integers[i].operation && event.atomic_type == PTL_INT64_T);
    EXPECT(memcmp(to, &integers[i].after, 8) == 0);
  }
  for (unsigned i = 0; i < 2 * sizeof conditions / sizeof *conditions; ++i) {
    const bool swaps = i % 2 ? conditions[i / 2].with_11 : conditions[i / 2].with_10;
    memcpy(to, &ten, sizeof ten);
    CALL(PtlSwap(descriptor, 8, descriptor, 0, 8, self, portal, 20, 0, NULL, 0, i % 2 ? &eleven : &ten,
                 conditions[i / 2].operation, PTL_INT64_T));
    EXPECT(fetched() == 10);
    next_of(target_events, PTL_EVENT_FETCH_ATOMIC);
    EXPECT(memcmp(to, swaps ? &twelve : &ten, 8) == 0);
  }
  memcpy(to, &ten, sizeof ten);
  CALL(PtlSwap(descriptor, 8, descriptor, 0, 8, self, portal, 20, 0, NULL, 0, &eleven, PTL_MSWAP, PTL_INT64_T));
  EXPECT(fetched() == 10);
  next_of(target_events, PTL_EVENT_FETCH_ATOMIC);
  int64_t swapped;
  memcpy(&swapped, to, sizeof swapped);
  EXPECT(swapped == ((10 & ~11) | (12 & 11)));

  const float one[2] = {1.5F, 2};
  const double two[2] = {2.5, 3};
  memcpy(from, one, sizeof one);
  memcpy(to, one, sizeof one);
  CALL(PtlAtomic(descriptor, 0, 8, PTL_NO_ACK_REQ, self, portal, 20, 0, NULL, 0, PTL_SUM, PTL_FLOAT));
  EXPECT(next_of(target_events, PTL_EVENT_ATOMIC).atomic_type == PTL_FLOAT);
  EXPECT(((float*)(void*)to)[0] == 3 && ((float*)(void*)to)[1] == 4);
  memcpy(from, two, sizeof two);
  memcpy(to, two, sizeof two);
  CALL(PtlAtomic(descriptor, 0, 16, PTL_NO_ACK_REQ, self, portal, 20, 0, NULL, 0, PTL_PROD, PTL_DOUBLE_COMPLEX));
  EXPECT(next_of(target_events, PTL_EVENT_ATOMIC).atomic_type == PTL_DOUBLE_COMPLEX);
  EXPECT(((double*)(void*)to)[0] == 2.5 * 2.5 - 9 && ((double*)(void*)to)[1] == 15);
  EXPECT(PtlAtomic(descriptor, 0, 8, PTL_NO_ACK_REQ, self, portal, 20, 0, NULL, 0, (ptl_op_t)99, PTL_INT64_T) ==
         PTL_ARG_INVALID);
  EXPECT(PtlAtomic(descriptor, 0, 8, PTL_NO_ACK_REQ, self, portal, 20, 0, NULL, 0, PTL_SUM, (ptl_datatype_t)99) ==
         PTL_ARG_INVALID);
  CALL(PtlMEUnlink(entry));
}

int main(void)
{
  const ptl_handle_ni_t ni = begin_portals(PTL_NI_MATCHING | PTL_NI_PHYSICAL);
  ptl_process_t* map = job_map(ni);
  next = map[next_rank()];
  previous = map[previous_rank()];
  CALL(PtlEQAlloc(ni, 256, &target_events));
  CALL(PtlEQAlloc(ni, 256, &own_events));
  acknowledged = new_counter(ni);
  const ptl_md_t memory = {.start = from,
                           .length = size,
                           .options = PTL_MD_EVENT_SEND_DISABLE | PTL_MD_EVENT_CT_ACK,
                           .eq_handle = own_events,
                           .ct_handle = acknowledged};
  CALL(PtlMDBind(ni, &memory, &descriptor));
  ptl_pt_index_t index;
  CALL(PtlPTAlloc(ni, 0, target_events, portal, &index));
  CALL(PtlPTAlloc(ni, 0, target_events, disabled_portal, &index));
  CALL(PtlPTDisable(ni, disabled_portal));
  wildcards(ni);
  failures(ni);
  operations(ni, map[job_rank]);
  end_portals(ni);
  free(map);
  return 0;
}
