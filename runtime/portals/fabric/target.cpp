// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/fabric/target.h"

#include <algorithm>
#include <array>

#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/lists.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::portals
{

namespace
{

constexpr std::size_t largest_atomic = 512; // limits.cpp

// The operation an entry must take: put for data that comes in, get for data that goes out (Portals 4.3, 3.11).
bool allowed(const Entry& entry, const Move& move)
{
  return (!move.sends() || (entry.options & PTL_ME_OP_PUT)) && (!move.fetches() || (entry.options & PTL_ME_OP_GET));
}

ptl_event_kind_t event_type(Operation operation)
{
  switch (operation) {
  case Operation::put:
    return PTL_EVENT_PUT;
  case Operation::get:
    return PTL_EVENT_GET;
  case Operation::atomic:
    return PTL_EVENT_ATOMIC;
  case Operation::fetch_atomic:
  case Operation::swap:
    break;
  }
  return PTL_EVENT_FETCH_ATOMIC;
}

ptl_size_t longest(const Ni& ni, const Move& move)
{
  return move.is_atomic() ? std::min<ptl_size_t>(ni.limits.max_atomic_size, largest_atomic) : ni.limits.max_msg_size;
}

// As the target reports the message; type and user_ptr are the caller's.
ptl_event_t describe(const Message& message)
{
  const Move& move = message.move;
  ptl_event_t event{};
  event.start = message.entry->region.address(message.moffset);
  event.hdr_data = move.hdr_data;
  event.match_bits = move.match_bits;
  event.rlength = move.length;
  event.mlength = message.mlength;
  event.remote_offset = move.remote_offset;
  event.initiator = message.probe.initiator;
  event.uid = message.uid;
  event.pt_index = move.pt_index;
  event.ptl_list = message.list;
  event.ni_fail_type = message.ni_fail;
  event.atomic_operation = move.atomic_operation;
  event.atomic_type = move.atomic_type;
  return event;
}

// Whether the order of the two can be seen in the target's memory.
bool conflict(const Message& a, const Message& b)
{
  return a.initiator == b.initiator && (a.move.sends() || b.move.sends()) &&
         a.entry->region.may_overlap(a.moffset, a.mlength, b.entry->region, b.moffset, b.mlength);
}

void append_matched(Ni& ni, Message& message)
{
  message.in_order = true;
  message.previous_matched = ni.last_matched;
  message.next_matched = nullptr;
  (ni.last_matched ? ni.last_matched->next_matched : ni.first_matched) = &message;
  ni.last_matched = &message;
}

void remove_matched(Ni& ni, Message& message)
{
  message.in_order = false;
  (message.previous_matched ? message.previous_matched->next_matched : ni.first_matched) = message.next_matched;
  (message.next_matched ? message.next_matched->previous_matched : ni.last_matched) = message.previous_matched;
}

void announce_disabled(Ni& ni, PortalTableEntry& pt, ptl_pt_index_t index)
{
  pt.state = PortalTableEntry::State::disabled;
  if (pt.announce_disabled)
    ni.post_entry_event(pt.eq, PTL_EVENT_PT_DISABLED, index, nullptr, PTL_NI_PT_DISABLED);
}

} // namespace

void Target::fail(Message& message, ptl_ni_fail_t why)
{
  message.ni_fail = why;
  message.mlength = 0;
}

void Target::count(Ni& ni, ptl_sr_index_t status_register)
{
  ++ni.status[status_register];
  fabric_.host().changed(ni.process); // who asks for it again and again waits for that
}

void Target::drop(Message& message, Ni& ni, ptl_ni_fail_t why)
{
  count(ni, PTL_SR_DROP_COUNT);
  fabric_.host().refused(ni.process);
  fail(message, why);
}

void Target::exhausted(Message& message, Ni& ni, const Entry* entry)
{
  PortalTableEntry& pt = *message.pt;
  if (!pt.flow_control())
    return drop(message, ni, PTL_NI_DROPPED);
  pt.state = PortalTableEntry::State::disabling;
  pt.announce_disabled = !entry || (entry->options & PTL_ME_EVENT_FLOWCTRL_DISABLE) == 0;
  if (pt.in_progress == 0)
    announce_disabled(ni, pt, message.move.pt_index);
  drop(message, ni, PTL_NI_PT_DISABLED);
}

void Target::header_arrived(Message& message)
{
  const Process* process = fabric_.find(message.target_nid, message.target_pid);
  Ni* ni = process ? process->interface(message.ni_kind) : nullptr;
  if (!ni)
    return fail(message, PTL_NI_UNDELIVERABLE);
  message.target_ni = ni->ref;
  match(message, *ni);
  if (message.matched && message.move.sends())
    message.request.deposit = message.mlength;
}

void Target::match(Message& message, Ni& ni)
{
  message.pt = ni.pt(message.move.pt_index);
  if (!message.pt)
    return drop(message, ni, PTL_NI_DROPPED);
  PortalTableEntry& pt = *message.pt;
  if (pt.state != PortalTableEntry::State::enabled)
    return drop(message, ni, PTL_NI_PT_DISABLED);
  Entry* entry = pt.priority.find(message.probe, message.request.searched);
  if (!entry)
    entry = pt.overflow.find(message.probe, message.request.searched);
  if (!entry)
    return exhausted(message, ni, nullptr);
  // Violations change nothing at the target but a status register (Portals 4.3, 3.11).
  if (entry->uid != PTL_UID_ANY && entry->uid != message.uid) {
    count(ni, PTL_SR_PERMISSION_VIOLATIONS);
    return fail(message, PTL_NI_PERM_VIOLATION);
  }
  if (!allowed(*entry, message.move)) {
    count(ni, PTL_SR_OPERATION_VIOLATIONS);
    return fail(message, PTL_NI_OP_VIOLATION);
  }
  accept(message, ni, *entry);
}

void Target::accept(Message& message, Ni& ni, Entry& entry)
{
  PortalTableEntry& pt = *message.pt;
  const bool overflow = entry.list == PTL_OVERFLOW_LIST;
  const bool keeps_header = overflow && (entry.options & PTL_ME_UNEXPECTED_HDR_DISABLE) == 0;
  if (keeps_header && ni.unexpected_headers >= ni.limits.max_unexpected_headers)
    return exhausted(message, ni, &entry);

  const ptl_size_t length = entry.region.length();
  const ptl_size_t offset = entry.manage_local() ? entry.offset : message.move.remote_offset;
  ptl_size_t mlength = offset < length ? std::min(message.move.length, length - offset) : 0;
  mlength = std::min(mlength, longest(ni, message.move));
  const bool runs_out =
      entry.manage_local() && entry.min_free > 0 && length - std::min(length, offset + mlength) < entry.min_free;
  const bool unlinks = (entry.options & PTL_ME_USE_ONCE) || runs_out;
  const bool announces = unlinks && (entry.options & PTL_ME_EVENT_UNLINK_DISABLE) == 0;

  if (pt.flow_control()) {
    // Events are promised their places now; without room the message is refused (Portals 4.3, 3.7 flow control).
    constexpr unsigned silent = PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_SUCCESS_DISABLE;
    const bool event = (entry.options & silent) == 0;
    const std::uint64_t places = (event ? 1 : 0) + (announces ? 1 : 0);
    EventQueue* queue = ni.queues.find(pt.eq);
    if (queue && !queue->has_room(places))
      return exhausted(message, ni, &entry);
    if (queue) {
      queue->reserved += places;
      message.event_reserved = event;
      entry.unlink_reserved = announces;
    }
  }

  message.matched = true;
  message.entry = &entry;
  message.list = entry.list;
  message.mlength = mlength;
  message.moffset = offset;
  if (mlength > 0 && !message.request.unordered)
    append_matched(ni, message);
  ++entry.in_progress;
  ++pt.in_progress;
  if (entry.manage_local())
    entry.offset += mlength;
  if (unlinks) {
    pt.list(entry.list).remove(entry);
    entry.state = Entry::State::unlinked;
    entry.announce_unlink = announces;
    entry.announce_free = overflow && announces;
  }
  if (keeps_header) {
    UnexpectedHeader& header = fabric_.headers().acquire();
    header.event = describe(message);
    header.type =
        static_cast<ptl_event_kind_t>(event_type(message.move.operation) + 1); // PUT_OVERFLOW follows PUT, ...
    header.probe = message.probe;
    header.entry = &entry;
    header.complete = false;
    header.claim = Claim();
    pt.unexpected.append(header);
    ++ni.unexpected_headers;
    ++entry.headers;
    message.header = &header;
  }
}

MemoryRef Target::place_of(const Message& message, const Ni& ni) const
{
  return {&ni.process.memory(), &message.entry->region, message.moffset};
}

void Target::move_earlier(const Message& message, Ni& ni)
{
  if (!message.in_order)
    return;
  for (Message* earlier = ni.first_matched; earlier != &message; earlier = earlier->next_matched) {
    if (earlier->moved || !conflict(*earlier, message))
      continue;
    if (earlier->move.sends())
      deposit(*earlier, ni);
    else
      read(*earlier, ni);
  }
}

void Target::read(Message& message, Ni& ni)
{
  message.moved = true;
  move_earlier(message, ni);
  message.payload.capture(place_of(message, ni), message.mlength, fabric_.buffers());
}

bool Target::source(Message& message, MemoryRef& place)
{
  Ni* ni = fabric_.resolve(message.target_ni);
  if (!ni || !message.matched || message.complete)
    return false;
  message.moved = true;
  move_earlier(message, *ni);
  place = place_of(message, *ni);
  return true;
}

bool Target::place(Message& message, const MemoryRef& from)
{
  Ni* ni = fabric_.resolve(message.target_ni);
  if (!ni || !message.matched || message.move.operation != Operation::put || message.mlength == 0)
    return false;
  message.moved = true;
  move_earlier(message, *ni);
  message.payload.placed = copy(from, place_of(message, *ni), message.mlength);
  if (!message.payload.placed) {
    message.payload.lost = true;
    fail(message, PTL_NI_SEGV);
  }
  return true;
}

void Target::combine(Message& message, const MemoryRef& to)
{
  const Move& move = message.move;
  std::array<std::byte, largest_atomic> value;
  std::array<std::byte, largest_atomic> before;
  if (!copy_out(to, value.data(), message.mlength))
    return fail(message, PTL_NI_SEGV);
  before = value;
  atomics::apply(move.atomic_operation, move.atomic_type, value.data(), message.payload.data(), move.operand.data(),
                 nullptr, message.mlength);
  if (!copy_in(to, value.data(), message.mlength))
    return fail(message, PTL_NI_SEGV);
  std::copy_n(before.data(), message.mlength, message.payload.data()); // what a fetching atomic brings back
}

void Target::deposit(Message& message, Ni& ni)
{
  if (message.mlength == 0 || message.moved)
    return;
  message.moved = true;
  move_earlier(message, ni);
  Payload& payload = message.payload;
  const MemoryRef to = place_of(message, ni);
  const bool put = message.move.operation == Operation::put;
  MemoryRef from;
  if (payload.open() && !fabric_.initiator().source(message, from))
    payload.lost = true;
  else if (payload.open() && !put)
    payload.capture(from, message.move.length, fabric_.buffers());
  if (payload.lost)
    return fail(message, PTL_NI_UNDELIVERABLE);
  if (!put)
    return combine(message, to);
  payload.placed = payload.captured ? copy_in(to, payload.data(), message.mlength) : copy(from, to, message.mlength);
  if (payload.placed)
    return;
  payload.lost = true;
  fail(message, PTL_NI_SEGV);
}

void Target::delivered(Message& message)
{
  const Move& move = message.move;
  Ni* ni = fabric_.resolve(message.target_ni);
  if (message.matched && !ni)
    fail(message, PTL_NI_UNDELIVERABLE);
  bool wants_response = move.fetches() || move.ack_req != PTL_NO_ACK_REQ;
  if (message.matched && ni && move.sends()) {
    if (!move.fetches() && (message.entry->options & PTL_ME_ACK_DISABLE))
      wants_response = false;
    deposit(message, *ni);
    complete(message, *ni);
  }
  if (wants_response)
    fabric_.respond(message);
}

void Target::source_read(Message& message)
{
  if (message.move.operation != Operation::get || !message.matched || message.complete)
    return;
  Ni* ni = fabric_.resolve(message.target_ni);
  Payload& payload = message.payload;
  if (!ni) {
    payload.lost = payload.open() && !message.response.delivered;
    return;
  }
  if (payload.open() && !message.response.delivered && message.mlength > 0) {
    MemoryRef from;
    MemoryRef to;
    if (!message.response.arrived || !fabric_.initiator().destination(message, to))
      read(message, *ni);
    else if (source(message, from))
      payload.placed = copy(from, to, message.mlength);
    payload.lost = !payload.placed && !payload.captured;
  }
  complete(message, *ni);
}

void Target::abandon(Message& message)
{
  if (!message.matched || message.complete)
    return;
  if (Ni* ni = fabric_.resolve(message.target_ni)) {
    fail(message, PTL_NI_UNDELIVERABLE);
    complete(message, *ni);
  }
}

void Target::request_failed(Message& message)
{
  if (!message.request.delivered)
    abandon(message);
}

void Target::response_failed(Message& message)
{
  abandon(message);
}

void Target::complete(Message& message, Ni& ni)
{
  message.complete = true;
  PortalTableEntry& pt = *message.pt;
  Entry& entry = *message.entry;
  constexpr unsigned silent = PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_SUCCESS_DISABLE;
  if (message.mlength > 0 && message.move.sends())
    fabric_.host().written(ni.process, (pt.eq != PTL_EQ_NONE && (entry.options & silent) == 0) ||
                                           (entry.options & PTL_ME_EVENT_CT_COMM) != 0);
  if (message.in_order)
    remove_matched(ni, message);
  const ptl_pt_index_t index = message.move.pt_index;
  EventQueue* queue = message.event_reserved || entry.unlink_reserved ? ni.queues.find(pt.eq) : nullptr;
  if (queue && message.event_reserved)
    --queue->reserved;

  const bool failed = message.ni_fail != PTL_NI_OK;
  if ((entry.options & PTL_ME_EVENT_COMM_DISABLE) == 0 &&
      (failed || (entry.options & PTL_ME_EVENT_SUCCESS_DISABLE) == 0)) {
    ptl_event_t event = describe(message);
    event.type = event_type(message.move.operation);
    event.user_ptr = entry.user_ptr;
    // Where the message came to lie was the NIC's choice: its program copies it to where it belongs. It hears of what
    // is on the overflow list once more, and copies it then.
    const bool copied = entry.manage_local() && entry.list == PTL_PRIORITY_LIST && message.move.sends();
    ni.post(pt.eq, event, copied ? message.mlength : 0);
  }
  if (entry.options & PTL_ME_EVENT_CT_COMM)
    ni.count(entry.ct, message.ni_fail, (entry.options & PTL_ME_EVENT_CT_BYTES) ? message.mlength : 1);
  // Messages may complete in another order than they matched; AUTO_UNLINK follows the events of all of them.
  if (entry.in_progress == 1 && entry.announce_unlink) { // the last one
    entry.announce_unlink = false;
    if (queue && entry.unlink_reserved)
      --queue->reserved;
    ni.post_entry_event(pt.eq, PTL_EVENT_AUTO_UNLINK, index, entry.user_ptr);
  }

  --entry.in_progress;
  UnexpectedHeader* header = message.header;
  if (header) {
    header->complete = true;
    header->event.ni_fail_type = message.ni_fail;
    header->event.mlength = message.mlength;
  }
  if (header && header->claim.taken) {
    announce_claim(ni, pt, *header); // and lets go of the entry
  } else {
    if (header && failed) { // nothing that a later entry could take
      pt.unexpected.remove(*header);
      --ni.unexpected_headers;
      --entry.headers;
      fabric_.headers().release(*header);
    }
    ni.release_if_unused(entry);
  }
  if (--pt.in_progress == 0 && pt.state == PortalTableEntry::State::disabling)
    announce_disabled(ni, pt, index);
  if (ni.process.waiting_for_objects > 0)
    fabric_.host().changed(ni.process);
}

} // namespace umwelt::portals
