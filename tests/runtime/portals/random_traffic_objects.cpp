// SPDX-License-Identifier: LGPL-2.1-or-later
// Random calls on everything else: descriptors, counters, queues, a second interface, waiting, garbage.
#include "tests/runtime/portals/random_traffic.h"

#include <utility>

#include "tests/runtime/portals/counted_api.h"
#include "tests/runtime/portals/random_traffic_places.h"

namespace umwelt::portals::test
{

void RandomTraffic::descriptors(Rank& rank)
{
  if (rank.mds.size() > 5) {
    const auto which = rank.mds.begin() + pick(static_cast<unsigned>(rank.mds.size()));
    require(counted::PtlMDRelease(*rank.process, which->handle) == PTL_OK, "a descriptor is released");
    require(counted::PtlMDRelease(*rank.process, which->handle) == PTL_ARG_INVALID, "a released descriptor is gone");
    rank.mds.erase(which);
    return;
  }
  constexpr unsigned choices[] = {PTL_MD_EVENT_CT_SEND, PTL_MD_EVENT_CT_REPLY, PTL_MD_EVENT_CT_ACK, PTL_MD_UNORDERED,
                                  PTL_MD_EVENT_CT_BYTES};
  unsigned options = 0;
  for (const unsigned choice : choices)
    options |= pick(2) ? choice : 0;
  constexpr unsigned rare[] = {PTL_MD_VOLATILE, PTL_MD_EVENT_SUCCESS_DISABLE, PTL_MD_EVENT_SEND_DISABLE,
                               PTL_MD_UNRELIABLE, PTL_IOVEC};
  for (const unsigned choice : rare)
    options |= pick(6) ? 0 : choice;
  ptl_md_t md{rank.arena.data() + 4096, 4000, options, rank.eq, one_of(rank.counters)};
  if (options & PTL_IOVEC) {
    md.start = rank.md_pieces.data();
    md.length = rank.md_pieces.size();
  }
  ptl_handle_md_t handle = PTL_INVALID_HANDLE;
  require(counted::PtlMDBind(*rank.process, rank.ni, &md, &handle) == PTL_OK, "a descriptor is bound");
  rank.mds.push_back({handle, options});
}

void RandomTraffic::counters(Rank& rank)
{
  const ptl_handle_ct_t counter = one_of(rank.counters);
  ptl_ct_event_t value{};
  switch (pick(6)) {
  case 0:
    static_cast<void>(counted::PtlCTSet(*rank.process, counter, {pick(10), pick(3)}));
    return;
  case 1:
    static_cast<void>(counted::PtlCTInc(*rank.process, counter, {pick(10), 0}));
    return;
  case 2:
    static_cast<void>(counted::PtlCTCancelTriggered(*rank.process, counter));
    return;
  case 3:
    static_cast<void>(counted::PtlTriggeredCTInc(*rank.process, counter, {1, 0}, one_of(rank.counters), pick(30)));
    return;
  case 4:
    static_cast<void>(counted::PtlTriggeredCTSet(*rank.process, counter, {0, 0}, one_of(rank.counters), pick(30)));
    return;
  default:
    require(counted::PtlCTGet(*rank.process, counter, &value) == PTL_OK, "a counter can be read");
    return;
  }
}

void RandomTraffic::portal_table(Rank& rank)
{
  const ptl_pt_index_t index = pick(2);
  if (pick(4) == 0)
    require(counted::PtlPTDisable(*rank.process, rank.ni, index) == PTL_OK, "an entry can be disabled");
  else
    require(counted::PtlPTEnable(*rank.process, rank.ni, index) == PTL_OK, "an entry can be enabled");
}

// Queues, counters and portal table entries that come and go with traffic under way.
void RandomTraffic::spare_objects(Rank& rank)
{
  Process& process = *rank.process;
  ptl_handle_any_t handle = PTL_INVALID_HANDLE;
  int result = PTL_OK;
  switch (pick(6)) {
  case 0:
    result = counted::PtlEQAlloc(process, rank.ni, pick(5), &handle);
    require(result == PTL_OK || result == PTL_NO_SPACE, "a queue is allocated or out of space");
    if (result == PTL_OK)
      rank.spare_queues.push_back(handle);
    return;
  case 1:
    result = counted::PtlCTAlloc(process, rank.ni, &handle);
    require(result == PTL_OK || result == PTL_NO_SPACE, "a counter is allocated or out of space");
    if (result == PTL_OK)
      rank.spare_counters.push_back(handle);
    return;
  case 2: {
    constexpr unsigned options[] = {PTL_PT_FLOWCTRL, PTL_PT_ALLOC_DISABLED, PTL_PT_ONLY_USE_ONCE, PTL_PT_ONLY_TRUNCATE};
    unsigned chosen = 0;
    for (const unsigned option : options)
      chosen |= pick(3) ? 0 : option;
    const ptl_handle_eq_t queue = rank.spare_queues.empty() ? PTL_EQ_NONE : one_of(rank.spare_queues);
    ptl_pt_index_t index = 0;
    result = counted::PtlPTAlloc(process, rank.ni, chosen, queue, spare + pick(4), &index);
    require(result == PTL_OK || result == PTL_PT_IN_USE ||
                (result == PTL_PT_EQ_NEEDED && queue == PTL_EQ_NONE && (chosen & PTL_PT_FLOWCTRL)),
            "a portal table entry is allocated, in use or needs a queue");
    if (result == PTL_OK)
      rank.spare_tables.push_back(index);
    return;
  }
  case 3:
    if (rank.spare_queues.empty())
      return;
    require(counted::PtlEQFree(process, rank.spare_queues.back()) == PTL_OK, "a queue is freed");
    rank.spare_queues.pop_back();
    return;
  case 4:
    if (rank.spare_counters.empty())
      return;
    require(counted::PtlCTFree(process, rank.spare_counters.back()) == PTL_OK, "a counter is freed");
    rank.spare_counters.pop_back();
    return;
  default:
    if (rank.spare_tables.empty())
      return;
    result = counted::PtlPTFree(process, rank.ni, rank.spare_tables.back());
    require(result == PTL_OK || result == PTL_PT_IN_USE, "a portal table entry is freed or in use");
    if (result == PTL_OK)
      rank.spare_tables.pop_back();
    return;
  }
}

// Questions with known answers.
void RandomTraffic::identity(Rank& rank)
{
  Process& process = *rank.process;
  const ptl_handle_any_t objects[] = {rank.ni, rank.eq, rank.letters, rank.mail_ct};
  ptl_process_t id{};
  ptl_process_t map[ranks]{};
  ptl_size_t size = 0;
  ptl_uid_t uid = 0;
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  switch (pick(6)) {
  case 0:
    require(counted::PtlGetId(process, rank.ni, &id) == PTL_OK && id.rank == number_of(rank), "a rank is told");
    require(counted::PtlGetPhysId(process, rank.ni, &id) == PTL_OK && id.phys.nid == process.nid() &&
                id.phys.pid == process.pid(),
            "an address is told");
    require(counted::PtlGetUid(process, rank.ni, &uid) == PTL_OK && uid == our_uid, "a user is told");
    return;
  case 1:
    require(counted::PtlGetMap(process, rank.ni, ranks, map, &size) == PTL_OK && size == ranks &&
                map[number_of(rank)].phys.nid == process.nid(),
            "a map is told");
    return;
  case 2:
    for (const ptl_handle_any_t object : objects)
      require(counted::PtlNIHandle(process, object, &ni) == PTL_OK && counted::PtlHandleIsEqual(process, ni, rank.ni),
              "objects know their interface");
    return;
  case 3:
    for (unsigned i = 0; i < PTL_SR_LAST; ++i) {
      const ptl_sr_value_t before = rank.status[i];
      require(counted::PtlNIStatus(process, rank.ni, static_cast<ptl_sr_index_t>(i), &rank.status[i]) == PTL_OK &&
                  rank.status[i] >= before,
              "status registers only grow");
    }
    return;
  case 4:
    require(counted::PtlStartBundle(process, rank.ni) == PTL_OK && counted::PtlEndBundle(process, rank.ni) == PTL_OK,
            "a bundle begins and ends");
    require(counted::PtlAtomicSync(process) == PTL_OK && counted::PtlNIAtomicSync(process, rank.ni) == PTL_OK,
            "atomics are synchronised");
    return;
  default: {
    const unsigned options = PTL_NI_LOGICAL | (matching_ ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING);
    require(counted::PtlNIInit(process, PTL_IFACE_DEFAULT, options, PTL_PID_ANY, nullptr, nullptr, &ni) == PTL_OK &&
                ni == rank.ni,
            "opening again gives the same interface");
    require(counted::PtlNIFini(process, ni) == PTL_OK && process.ni(rank.ni), "an interface lives until its last fini");
    return;
  }
  }
}

void RandomTraffic::open_side(Rank& rank)
{
  Process& process = *rank.process;
  rank.side = std::make_unique<Side>();
  Side& side = *rank.side;
  side.matching = pick(2) != 0;
  const unsigned options = PTL_NI_PHYSICAL | (side.matching ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING);
  require(counted::PtlNIInit(process, 0, options, PTL_PID_ANY, nullptr, nullptr, &side.ni) == PTL_OK,
          "a second interface is opened");
  require(counted::PtlEQAlloc(process, side.ni, 1 + pick(4), &side.eq) == PTL_OK, "PtlEQAlloc succeeds");
  ptl_pt_index_t index = 0;
  require(counted::PtlPTAlloc(process, side.ni, 0, side.eq, PTL_PT_ANY, &index) == PTL_OK && index == 0,
          "PtlPTAlloc succeeds");
  ptl_me_t me{};
  me.start = rank.arena.data();
  me.length = 4000;
  me.ct_handle = PTL_CT_NONE;
  me.uid = PTL_UID_ANY;
  me.options = PTL_ME_OP_PUT | PTL_ME_OP_GET;
  me.match_id.phys = {PTL_NID_ANY, PTL_PID_ANY};
  const ptl_le_t le{me.start, me.length, me.ct_handle, me.uid, me.options};
  require((side.matching
               ? counted::PtlMEAppend(process, side.ni, 0, &me, PTL_PRIORITY_LIST, nullptr, &side.entry)
               : counted::PtlLEAppend(process, side.ni, 0, &le, PTL_PRIORITY_LIST, nullptr, &side.entry)) == PTL_OK,
          "an entry is accepted");
  const ptl_md_t md{rank.arena.data() + 4096, 4000, 0, side.eq, PTL_CT_NONE};
  require(counted::PtlMDBind(process, side.ni, &md, &side.md) == PTL_OK, "a descriptor is bound");
  // Objects of two interfaces do not mix.
  const ptl_md_t mixed{rank.arena.data(), 100, 0, side.eq, PTL_CT_NONE};
  ptl_handle_md_t handle = PTL_INVALID_HANDLE;
  require(counted::PtlMDBind(process, rank.ni, &mixed, &handle) == PTL_ARG_INVALID, "another interface's queue");
  require(counted::PtlFetchAtomic(process, side.md, 0, rank.letters, 0, 8, address(0), plain, 0, 0, nullptr, 0, PTL_SUM,
                                  PTL_UINT64_T) == PTL_ARG_INVALID,
          "descriptors of two interfaces");
}

// Whatever is still under way.
void RandomTraffic::close_side(Rank& rank)
{
  Process& process = *rank.process;
  const Side side = *std::exchange(rank.side, nullptr);
  ptl_event_t event{};
  require(counted::PtlNIFini(process, side.ni) == PTL_OK, "an interface is closed");
  require(counted::PtlNIFini(process, side.ni) == PTL_ARG_INVALID, "a closed interface is gone");
  require(counted::PtlMDRelease(process, side.md) == PTL_ARG_INVALID, "and its descriptors");
  require(counted::PtlEQGet(process, side.eq, &event) == PTL_ARG_INVALID, "and its queues");
}

void RandomTraffic::side(Rank& rank)
{
  if (!rank.side)
    return open_side(rank);
  const Side& side = *rank.side;
  Process& process = *rank.process;
  const Process& other = *ranks_[pick(ranks)].process;
  ptl_process_t to{};
  to.phys = {other.nid(), other.pid()};
  ptl_event_t event{};
  int result = PTL_OK;
  switch (pick(6)) {
  case 0:
    return close_side(rank);
  case 1:
    result = counted::PtlGet(process, side.md, 0, pick(3000), to, 0, 0, 0, nullptr);
    break;
  case 2:
    result = counted::PtlEQGet(process, side.eq, &event);
    require(result == PTL_OK || result == PTL_EQ_DROPPED || result == PTL_EQ_EMPTY, "a queue answers");
    return;
  default:
    result = counted::PtlPut(process, side.md, 0, pick(3000), PTL_ACK_REQ, to, 0, 0, 0, nullptr, 0);
    break;
  }
  require(result == PTL_OK, "a message of the second interface is accepted");
}

void RandomTraffic::wait(Rank& rank)
{
  Process& process = *rank.process;
  const ptl_handle_eq_t queues[] = {rank.target_eq[plain], rank.eq, rank.target_eq[flow], rank.mail_eq};
  const ptl_handle_ct_t counter = one_of(rank.counters);
  const ptl_handle_ct_t both[] = {counter, rank.mail_ct};
  const ptl_size_t tests[] = {pick(20), pick(100)};
  ptl_event_t event{};
  ptl_ct_event_t value{};
  unsigned which = 0;
  int result = PTL_OK;
  try {
    switch (pick(6)) {
    case 0:
      result = counted::PtlEQWait(process, rank.eq, &event);
      require(result == PTL_OK, "waiting for an event ends with one");
      return dispatch(number_of(rank), rank.eq, event);
    case 1:
      result = counted::PtlCTWait(process, counter, pick(10), &value);
      require(result == PTL_OK, "waiting for a counter ends with its value");
      return;
    case 2:
      result = counted::PtlCTPoll(process, both, tests, 2, pick(2), &value, &which);
      require(result == PTL_CT_NONE_REACHED ||
                  (result == PTL_OK && which < 2 && (value.success >= tests[which] || value.failure > 0)),
              "a poll tells a counter that has reached its test");
      return;
    default:
      result = counted::PtlEQPoll(process, queues, 4, pick(3) ? 0 : 1, &event, &which);
      require(result == PTL_OK || result == PTL_EQ_EMPTY || result == PTL_EQ_DROPPED, "a poll answers");
      if (result != PTL_EQ_EMPTY)
        dispatch(number_of(rank), queues[which], event);
      return;
    }
  } catch (const Deadlock&) { // it waits for what never comes
  }
}

void RandomTraffic::wild()
{
  if (!wild_.initialised()) {
    require(api::PtlInit(wild_) == PTL_OK, "PtlInit succeeds");
    const unsigned matching = pick(2) ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING;
    const unsigned addressing = pick(2) ? PTL_NI_LOGICAL : PTL_NI_PHYSICAL;
    ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
    require(api::PtlNIInit(wild_, 0, matching | addressing, PTL_PID_ANY, nullptr, nullptr, &ni) == PTL_OK,
            "PtlNIInit succeeds");
    garbage_.remember(ni);
    ptl_pt_index_t index = 0;
    static_cast<void>(api::PtlPTAlloc(wild_, ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index));
  }
  for (unsigned calls = 1 + pick(10); calls > 0; --calls)
    garbage_.call_one(wild_);
}

} // namespace umwelt::portals::test
