// SPDX-License-Identifier: LGPL-2.1-or-later
// Processes on a small machine, and short ways to say what a test is not about.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "runtime/portals/api/api.h"
#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/process.h"
#include "tests/runtime/portals/test_model.h"

namespace umwelt::portals::test
{

// Thrown by a wait that nothing will ever end.
struct Deadlock : std::runtime_error {
  Deadlock() : std::runtime_error("nothing left to happen") {}
};

// Waiting fires what is due; `while_waiting` plays the other threads of the process.
class TestHost final : public Host
{
public:
  explicit TestHost(sim::Timeline& timeline) : timeline_(timeline) {}

  std::deque<std::function<void()>> while_waiting;
  bool poll_steps = false; // an empty poll lets the next event happen
  std::size_t waits = 0;
  std::size_t changes = 0;
  std::size_t empty_polls = 0;
  std::size_t idle_calls = 0;
  std::size_t writes_told = 0;
  std::size_t writes_untold = 0;
  std::size_t productive_polls = 0;
  std::size_t receptions = 0;
  std::uint64_t unread = 0;
  sim::SimTime spent = 0;
  bool runs_ahead = false; // the calling thread goes on before what it spends has passed
  sim::SimTime ahead_until = 0;

  bool wait(Process& process, sim::SimTime deadline) override;
  void changed(Process&) override { ++changes; }
  bool empty_poll(Process&) override
  {
    ++empty_polls;
    return poll_steps && timeline_.step();
  }
  void idle_call(Process&) override { ++idle_calls; }
  void written(Process&, bool told) override { ++(told ? writes_told : writes_untold); }
  void productive_poll(Process&) override { ++productive_polls; }
  void received(Process&, std::uint64_t bytes) override
  {
    ++receptions;
    unread += bytes;
  }
  void spend(Process& process, sim::SimTime host_time) override
  {
    spent += host_time;
    if (runs_ahead)
      ahead_until = now(process) + host_time;
  }
  [[nodiscard]] sim::SimTime now(const Process&) const override { return std::max(timeline_.now(), ahead_until); }

private:
  sim::Timeline& timeline_;
};

// Entries take everything unless said otherwise; a list entry on a non-matching interface.
struct EntryArguments {
  ptl_list_t list = PTL_PRIORITY_LIST;
  ptl_match_bits_t bits = 0;
  ptl_match_bits_t ignore = 0;
  ptl_size_t min_free = 0;
  ptl_uid_t uid = PTL_UID_ANY;
  void* user_ptr = nullptr;
  std::optional<ptl_process_t> match_id;
  bool counted = false;
  int expect = PTL_OK;
};

struct PutArguments {
  ptl_ack_req_t ack = PTL_NO_ACK_REQ;
  ptl_match_bits_t bits = 0;
  ptl_size_t remote_offset = 0;
  ptl_size_t local_offset = 0;
  void* user_ptr = nullptr;
  ptl_hdr_data_t hdr_data = 0;
  ptl_pt_index_t pt = 0;
};

// A process with one interface and what most tests need on it: a queue and a counter for each role, portal table entry
// 0.
struct Peer {
  Peer(Fabric& fabric, net::NodeIndex node, std::uint32_t rank, ptl_uid_t uid) : process(fabric, node, rank, uid) {}

  Process process;
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  ptl_handle_eq_t target_eq = PTL_EQ_NONE;
  ptl_handle_eq_t initiator_eq = PTL_EQ_NONE;
  ptl_handle_ct_t target_ct = PTL_CT_NONE;
  ptl_handle_ct_t initiator_ct = PTL_CT_NONE;
  ptl_pt_index_t pt = 0;

  void open(unsigned ni_options, unsigned pt_options = 0, const ptl_ni_limits_t* limits = nullptr,
            ptl_size_t events = 1024);
  [[nodiscard]] bool matching() const { return matching_; }
  [[nodiscard]] ptl_process_t id();

  ptl_handle_eq_t eq(ptl_size_t count = 64);
  ptl_handle_ct_t ct();
  ptl_ct_event_t count(ptl_handle_ct_t ct);
  ptl_handle_md_t md(void* start, ptl_size_t length, unsigned options = 0);
  ptl_handle_md_t silent_md(void* start, ptl_size_t length, unsigned options = 0); // no queue, no counter

  ptl_handle_me_t append(void* start, ptl_size_t length, unsigned options, const EntryArguments& arguments = {});
  int unlink(ptl_handle_me_t entry);
  int search(ptl_search_op_t operation, unsigned options, const EntryArguments& arguments = {});

  int put(ptl_handle_md_t md, ptl_size_t length, Peer& to, const PutArguments& arguments = {});
  int get(ptl_handle_md_t md, ptl_size_t length, Peer& from, const PutArguments& arguments = {});
  int atomic(ptl_handle_md_t md, ptl_size_t length, Peer& to, ptl_op_t operation, ptl_datatype_t type,
             const PutArguments& arguments = {});
  int fetch(ptl_handle_md_t get_md, ptl_handle_md_t put_md, ptl_size_t length, Peer& to, ptl_op_t operation,
            ptl_datatype_t type, const PutArguments& arguments = {});
  int swap(ptl_handle_md_t get_md, ptl_handle_md_t put_md, ptl_size_t length, Peer& to, const void* operand,
           ptl_op_t operation, ptl_datatype_t type, const PutArguments& arguments = {});

  // All events that are visible now.
  std::vector<ptl_event_t> events(ptl_handle_eq_t eq);
  std::vector<ptl_event_t> target_events() { return events(target_eq); }
  std::vector<ptl_event_t> initiator_events() { return events(initiator_eq); }
  ptl_sr_value_t status(ptl_sr_index_t index);

private:
  bool matching_ = true;
  bool logical_ = true;
};

std::vector<int> types(const std::vector<ptl_event_t>& events);

// Two processes on two nodes with matching logical interfaces.
class Machine : public ::testing::Test
{
protected:
  explicit Machine(unsigned ni_options = PTL_NI_MATCHING | PTL_NI_LOGICAL, unsigned pt_options = 0,
                   const ptl_ni_limits_t* limits = nullptr, ptl_size_t events = 1024);

  // Everything under way happens.
  void settle()
  {
    while (timeline.step()) {
    }
  }

  sim::Timeline timeline;
  TestHost host{timeline};
  Fabric fabric{timeline, host, 4};
  TestModel model{timeline, fabric};
  Peer a{fabric, 0, 0, 100};
  Peer b{fabric, 1, 1, 200};
};

class NonMatchingMachine : public Machine
{
protected:
  NonMatchingMachine() : Machine(PTL_NI_NO_MATCHING | PTL_NI_LOGICAL) {}
};

class PhysicalMachine : public Machine
{
protected:
  PhysicalMachine() : Machine(PTL_NI_MATCHING | PTL_NI_PHYSICAL) {}
};

class FlowMachine : public Machine
{
protected:
  FlowMachine() : Machine(PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PT_FLOWCTRL, nullptr, 4) {}
};

} // namespace umwelt::portals::test
