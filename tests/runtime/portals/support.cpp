// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{

bool TestHost::wait(Process&, sim::SimTime deadline)
{
  ++waits;
  if (!while_waiting.empty()) {
    const auto action = while_waiting.front();
    while_waiting.pop_front();
    action();
    return true;
  }
  if (timeline_.next() > deadline) {
    timeline_.advance_to(deadline);
    return false;
  }
  if (!timeline_.step())
    throw Deadlock();
  return true;
}

void Peer::open(unsigned ni_options, unsigned pt_options, const ptl_ni_limits_t* limits, ptl_size_t events)
{
  matching_ = (ni_options & PTL_NI_MATCHING) != 0;
  logical_ = (ni_options & PTL_NI_LOGICAL) != 0;
  ASSERT_EQ(api::PtlInit(process), PTL_OK);
  ASSERT_EQ(api::PtlNIInit(process, PTL_IFACE_DEFAULT, ni_options, PTL_PID_ANY, limits, nullptr, &ni), PTL_OK);
  target_eq = eq(events);
  initiator_eq = eq(events);
  target_ct = ct();
  initiator_ct = ct();
  ASSERT_EQ(api::PtlPTAlloc(process, ni, pt_options, target_eq, 0, &pt), PTL_OK);
}

ptl_process_t Peer::id()
{
  ptl_process_t result{};
  EXPECT_EQ(api::PtlGetId(process, ni, &result), PTL_OK);
  return result;
}

ptl_handle_eq_t Peer::eq(ptl_size_t count)
{
  ptl_handle_eq_t handle = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlEQAlloc(process, ni, count, &handle), PTL_OK);
  return handle;
}

ptl_handle_ct_t Peer::ct()
{
  ptl_handle_ct_t handle = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlCTAlloc(process, ni, &handle), PTL_OK);
  return handle;
}

ptl_ct_event_t Peer::count(ptl_handle_ct_t counter)
{
  ptl_ct_event_t value{};
  EXPECT_EQ(api::PtlCTGet(process, counter, &value), PTL_OK);
  return value;
}

ptl_handle_md_t Peer::md(void* start, ptl_size_t length, unsigned options)
{
  const ptl_md_t description{start, length, options, initiator_eq, initiator_ct};
  ptl_handle_md_t handle = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlMDBind(process, ni, &description, &handle), PTL_OK);
  return handle;
}

ptl_handle_md_t Peer::silent_md(void* start, ptl_size_t length, unsigned options)
{
  const ptl_md_t description{start, length, options, PTL_EQ_NONE, PTL_CT_NONE};
  ptl_handle_md_t handle = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlMDBind(process, ni, &description, &handle), PTL_OK);
  return handle;
}

namespace
{

ptl_process_t anybody(bool logical)
{
  ptl_process_t id{};
  if (logical)
    id.rank = PTL_RANK_ANY;
  else
    id.phys = {PTL_NID_ANY, PTL_PID_ANY};
  return id;
}

} // namespace

ptl_handle_me_t Peer::append(void* start, ptl_size_t length, unsigned options, const EntryArguments& arguments)
{
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  const ptl_handle_ct_t counter = arguments.counted ? target_ct : PTL_CT_NONE;
  if (matching_) {
    const ptl_me_t me{start,          length,           counter,
                      arguments.uid,  options,          arguments.match_id.value_or(anybody(logical_)),
                      arguments.bits, arguments.ignore, arguments.min_free};
    EXPECT_EQ(api::PtlMEAppend(process, ni, pt, &me, arguments.list, arguments.user_ptr, &handle), arguments.expect);
  } else {
    const ptl_le_t le{start, length, counter, arguments.uid, options};
    EXPECT_EQ(api::PtlLEAppend(process, ni, pt, &le, arguments.list, arguments.user_ptr, &handle), arguments.expect);
  }
  return handle;
}

int Peer::unlink(ptl_handle_me_t entry)
{
  return matching_ ? api::PtlMEUnlink(process, entry) : api::PtlLEUnlink(process, entry);
}

int Peer::search(ptl_search_op_t operation, unsigned options, const EntryArguments& arguments)
{
  const ptl_handle_ct_t counter = arguments.counted ? target_ct : PTL_CT_NONE;
  if (matching_) {
    const ptl_me_t me{nullptr,           0,
                      counter,           arguments.uid,
                      options,           arguments.match_id.value_or(anybody(logical_)),
                      arguments.bits,    arguments.ignore,
                      arguments.min_free};
    return api::PtlMESearch(process, ni, pt, &me, operation, arguments.user_ptr);
  }
  const ptl_le_t le{nullptr, 0, counter, arguments.uid, options};
  return api::PtlLESearch(process, ni, pt, &le, operation, arguments.user_ptr);
}

int Peer::put(ptl_handle_md_t md, ptl_size_t length, Peer& to, const PutArguments& x)
{
  return api::PtlPut(process, md, x.local_offset, length, x.ack, to.id(), x.pt, x.bits, x.remote_offset, x.user_ptr,
                     x.hdr_data);
}

int Peer::get(ptl_handle_md_t md, ptl_size_t length, Peer& from, const PutArguments& x)
{
  return api::PtlGet(process, md, x.local_offset, length, from.id(), x.pt, x.bits, x.remote_offset, x.user_ptr);
}

int Peer::atomic(ptl_handle_md_t md, ptl_size_t length, Peer& to, ptl_op_t operation, ptl_datatype_t type,
                 const PutArguments& x)
{
  return api::PtlAtomic(process, md, x.local_offset, length, x.ack, to.id(), x.pt, x.bits, x.remote_offset, x.user_ptr,
                        x.hdr_data, operation, type);
}

int Peer::fetch(ptl_handle_md_t get_md, ptl_handle_md_t put_md, ptl_size_t length, Peer& to, ptl_op_t operation,
                ptl_datatype_t type, const PutArguments& x)
{
  return api::PtlFetchAtomic(process, get_md, 0, put_md, x.local_offset, length, to.id(), x.pt, x.bits, x.remote_offset,
                             x.user_ptr, x.hdr_data, operation, type);
}

int Peer::swap(ptl_handle_md_t get_md, ptl_handle_md_t put_md, ptl_size_t length, Peer& to, const void* operand,
               ptl_op_t operation, ptl_datatype_t type, const PutArguments& x)
{
  return api::PtlSwap(process, get_md, 0, put_md, x.local_offset, length, to.id(), x.pt, x.bits, x.remote_offset,
                      x.user_ptr, x.hdr_data, operand, operation, type);
}

std::vector<ptl_event_t> Peer::events(ptl_handle_eq_t eq)
{
  std::vector<ptl_event_t> result;
  ptl_event_t event{};
  while (api::PtlEQGet(process, eq, &event) == PTL_OK)
    result.push_back(event);
  return result;
}

ptl_sr_value_t Peer::status(ptl_sr_index_t index)
{
  ptl_sr_value_t value = -1;
  EXPECT_EQ(api::PtlNIStatus(process, ni, index, &value), PTL_OK);
  return value;
}

std::vector<int> types(const std::vector<ptl_event_t>& events)
{
  std::vector<int> result;
  for (const ptl_event_t& event : events)
    result.push_back(event.type);
  return result;
}

Machine::Machine(unsigned ni_options, unsigned pt_options, const ptl_ni_limits_t* limits, ptl_size_t events)
{
  fabric.set_model(model);
  a.open(ni_options, pt_options, limits, events);
  b.open(ni_options, pt_options, limits, events);
  if ((ni_options & PTL_NI_LOGICAL) == 0)
    return;
  ptl_process_t map[2]{};
  map[0].phys = {a.process.nid(), a.process.pid()};
  map[1].phys = {b.process.nid(), b.process.pid()};
  EXPECT_EQ(api::PtlSetMap(a.process, a.ni, 2, map), PTL_OK);
  EXPECT_EQ(api::PtlSetMap(b.process, b.ni, 2, map), PTL_OK);
}

} // namespace umwelt::portals::test
