// SPDX-License-Identifier: LGPL-2.1-or-later
// One Portals operation from its start to its last event: the request and, if there is one, the response.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "net_models/core/model.h"
#include "runtime/base/origin.h"
#include "runtime/portals/data/atomics.h"
#include "runtime/portals/data/payload.h"
#include "runtime/portals/fabric/ni_ref.h"
#include "runtime/portals/matching/entry.h"
#include "runtime/portals/objects/memory_descriptor.h"

namespace umwelt::portals
{

class Initiator;
class Process;
struct Message;
struct PortalTableEntry;
struct UnexpectedHeader;

enum class Operation : std::uint8_t { put, get, atomic, fetch_atomic, swap };

// The arguments of a data movement call.
struct Move {
  Operation operation = Operation::put;
  ptl_handle_md_t put_md = PTL_INVALID_HANDLE;
  ptl_handle_md_t get_md = PTL_INVALID_HANDLE;
  ptl_size_t put_offset = 0;
  ptl_size_t get_offset = 0;
  ptl_size_t length = 0;
  ptl_ack_req_t ack_req = PTL_NO_ACK_REQ;
  ptl_process_t target{};
  ptl_pt_index_t pt_index = 0;
  ptl_match_bits_t match_bits = 0;
  ptl_size_t remote_offset = 0;
  void* user_ptr = nullptr;
  ptl_hdr_data_t hdr_data = 0;
  ptl_op_t atomic_operation = 0;
  ptl_datatype_t atomic_type = 0;
  std::array<std::byte, atomics::max_item> operand{};

  // Operations that carry data to the target, and those that bring data back.
  [[nodiscard]] bool sends() const { return operation != Operation::get; }
  [[nodiscard]] bool fetches() const { return operation == Operation::get || is_fetching_atomic(); }
  [[nodiscard]] bool is_fetching_atomic() const
  {
    return operation == Operation::fetch_atomic || operation == Operation::swap;
  }
  [[nodiscard]] bool is_atomic() const { return operation == Operation::atomic || is_fetching_atomic(); }
};

// One of the two transfers of a message.
struct Leg final : net::Transfer {
  Message* message = nullptr;
  sim::SimTime started = 0;
  bool source_read = false;
  bool arrived = false;
  bool delivered = false;
  bool failed = false;
  [[nodiscard]] bool over() const { return failed || (delivered && source_read); }
};

// Where events of one side of the operation go: kept apart from the descriptor, which may be released before the last
// one.
struct EventSink {
  ptl_handle_eq_t eq = PTL_EQ_NONE;
  ptl_handle_ct_t ct = PTL_CT_NONE;
  unsigned options = 0;
};

// The NIC is handed a command of a process that is ahead of the timeline.
struct Issue final : sim::Event {
  void fire() override;
  Initiator* initiator = nullptr;
  Process* process = nullptr;
  Message* message = nullptr;
};

// Pointers to objects of an interface are valid only while the interface exists: resolve `initiator` or `target_ni`
// first. The objects themselves stay while their in_use or in_progress counts this message.
struct Message {
  Leg request;
  Leg response;
  bool response_due = false; // a response will follow or is under way
  bool reply_held = false;   // the response is complete, but events of the request come first

  // Initiator.
  NiRef initiator;
  Move move;
  EventSink put_sink;
  EventSink get_sink;
  MemoryDescriptor* put_md = nullptr;  // counted in in_use until read
  MemoryDescriptor* get_md = nullptr;  // counted in in_use until written
  Message* previous_waiting = nullptr; // in the list of messages the NIC has not taken yet
  Message* next_waiting = nullptr;
  Issue issue;
  std::unique_ptr<sim::Origin> origin; // what the host keeps of its departure

  // The header.
  unsigned ni_kind = 0;
  Probe probe;
  ptl_uid_t uid = 0;
  ptl_nid_t target_nid = 0;
  ptl_pid_t target_pid = 0;

  // Target.
  NiRef target_ni;
  PortalTableEntry* pt = nullptr;
  Entry* entry = nullptr;
  UnexpectedHeader* header = nullptr;
  bool matched = false;
  bool in_order = false; // in the list of messages under way of the target's interface
  bool moved = false;    // what it does to the target's memory is done
  Message* previous_matched = nullptr;
  Message* next_matched = nullptr;
  bool complete = false;       // the target has posted its events
  bool event_reserved = false; // a place in the event queue, with flow control

  // The outcome, as it travels back.
  ptl_ni_fail_t ni_fail = PTL_NI_OK;
  ptl_list_t list = PTL_PRIORITY_LIST;
  ptl_size_t mlength = 0;
  ptl_size_t moffset = 0;

  Payload payload;
};

} // namespace umwelt::portals
