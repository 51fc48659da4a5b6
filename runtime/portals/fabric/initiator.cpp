// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/fabric/initiator.h"

#include <algorithm>
#include <cassert>

#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::portals
{

namespace
{

bool fits(const MemoryDescriptor& descriptor, ptl_size_t offset, ptl_size_t length)
{
  return length <= descriptor.region.length() && offset <= descriptor.region.length() - length;
}

net::TransferKind kind_of(Operation operation)
{
  switch (operation) {
  case Operation::put:
    return net::TransferKind::put;
  case Operation::get:
    return net::TransferKind::get;
  case Operation::atomic:
    return net::TransferKind::atomic;
  case Operation::fetch_atomic:
  case Operation::swap:
    break;
  }
  return net::TransferKind::fetch_atomic;
}

bool valid_operation(const Move& move)
{
  switch (move.operation) {
  case Operation::put:
  case Operation::get:
    return true;
  case Operation::atomic:
  case Operation::fetch_atomic:
    return atomics::valid_atomic(move.atomic_operation, move.atomic_type);
  case Operation::swap:
    break;
  }
  return atomics::valid_swap(move.atomic_operation, move.atomic_type);
}

ptl_size_t longest(const Ni& ni, const Move& move)
{
  if (!move.is_atomic())
    return ni.limits.max_msg_size;
  if (move.operation == Operation::atomic)
    return ni.limits.max_atomic_size;
  const ptl_size_t limit = std::min(ni.limits.max_atomic_size, ni.limits.max_fetch_atomic_size);
  // PTL_CSWAP, its variants and PTL_MSWAP take one item (Portals 4.3, 3.15).
  return move.operation == Operation::swap && atomics::uses_operand(move.atomic_operation)
             ? std::min<ptl_size_t>(limit, atomics::item_size(move.atomic_type))
             : limit;
}

} // namespace

int Initiator::check(Process& process, const Move& move, Ni*& ni) const
{
  const MemoryDescriptor* put = move.sends() ? process.descriptor(move.put_md) : nullptr;
  const MemoryDescriptor* get = move.fetches() ? process.descriptor(move.get_md) : nullptr;
  if ((move.sends() && !put) || (move.fetches() && !get))
    return PTL_ARG_INVALID;
  ni = process.owner(put ? put->handle : get->handle);
  if (put && get && process.owner(get->handle) != ni)
    return PTL_ARG_INVALID;
  if ((put && !fits(*put, move.put_offset, move.length)) || (get && !fits(*get, move.get_offset, move.length)))
    return PTL_ARG_INVALID;
  if (!valid_operation(move) || move.length > longest(*ni, move))
    return PTL_ARG_INVALID;
  if (put && (put->options & PTL_MD_VOLATILE) && move.length > ni->limits.max_volatile_size)
    return PTL_ARG_INVALID;
  // An acknowledgement needs somewhere to go (the reference implementation refuses these).
  if (move.ack_req > PTL_OC_ACK_REQ)
    return PTL_ARG_INVALID;
  if (put && move.ack_req == PTL_ACK_REQ && (put->eq == PTL_EQ_NONE || (put->options & PTL_MD_UNRELIABLE)))
    return PTL_ARG_INVALID;
  if (put && move.ack_req == PTL_CT_ACK_REQ && put->ct == PTL_CT_NONE)
    return PTL_ARG_INVALID;
  if (ni->is_logical())
    return move.target.rank < ni->map.size() ? PTL_OK : PTL_ARG_INVALID;
  net::NodeIndex node = 0;
  const bool known = fabric_.node_of(move.target.phys.nid, node) && move.target.phys.pid != PTL_PID_ANY;
  return known ? PTL_OK : PTL_ARG_INVALID;
}

Message& Initiator::prepare(Ni& ni, const Move& move, bool from_host)
{
  Process& process = ni.process;
  Message& message = fabric_.new_message();
  message.initiator = ni.ref;
  message.move = move;
  message.put_sink = message.get_sink = EventSink();
  if (move.sends()) {
    message.put_md = process.descriptor(move.put_md);
    ++message.put_md->in_use;
    message.put_sink = {message.put_md->eq, message.put_md->ct, message.put_md->options};
  }
  if (move.fetches()) {
    message.get_md = process.descriptor(move.get_md);
    ++message.get_md->in_use;
    message.get_sink = {message.get_md->eq, message.get_md->ct, message.get_md->options};
  }
  message.ni_kind = ni.kind;
  message.probe = {ni.is_logical(), ni.id(), move.match_bits, move.length, move.remote_offset};
  message.uid = process.uid();
  // A map may hold anything; a process that does not exist is found out about at the target.
  const ptl_process_t target = ni.is_logical() ? ni.map[move.target.rank] : move.target;
  message.target_nid = target.phys.nid;
  message.target_pid = target.phys.pid;

  Leg& request = message.request;
  request.kind = kind_of(move.operation);
  request.source = process.node();
  request.target = process.node();
  static_cast<void>(fabric_.node_of(message.target_nid, request.target));
  request.payload = move.sends() ? move.length : 0;
  request.region = move.sends() ? message.put_md->region.length() : 0;
  if (move.operation == Operation::swap && atomics::uses_operand(move.atomic_operation))
    request.payload += atomics::item_size(move.atomic_type);
  request.initiator_process = process.rank();
  const Process* addressed = fabric_.find(message.target_nid, message.target_pid);
  request.target_process = addressed ? addressed->rank() : no_rank;
  request.from_host = from_host;
  request.unordered = ((message.put_sink.options | message.get_sink.options) & PTL_MD_UNORDERED) != 0;

  if (move.sends() && (move.length <= Payload::inline_size || (message.put_sink.options & PTL_MD_VOLATILE)))
    message.payload.capture({&process.memory(), &message.put_md->region, move.put_offset}, move.length,
                            fabric_.buffers());
  return message;
}

int Initiator::start(Process& process, const Move& move)
{
  Ni* ni = nullptr;
  if (const int result = check(process, move, ni); result != PTL_OK)
    return result;
  const NiRef ref = ni->ref;
  Message& message = prepare(*ni, move, true);
  fabric_.add_waiting(process, message);
  if (const sim::SimTime cost = fabric_.model().issue_cost(message.request); cost > 0)
    fabric_.host().spend(process, cost);
  for (;;) {
    if (process.detached()) // detach() has recycled the message
      return PTL_FAIL;
    if (!fabric_.resolve(ref)) {
      fabric_.remove_waiting(process, message);
      fabric_.release(message);
      return PTL_FAIL;
    }
    if (fabric_.model().reserve(message.request))
      break;
    fabric_.host().wait(process, sim::never);
  }
  fabric_.note_origin(message, process);
  if (const sim::SimTime time = fabric_.host().now(process); time > fabric_.timeline().now()) {
    message.issue.initiator = this;
    message.issue.process = &process;
    message.issue.message = &message;
    fabric_.timeline().schedule(message.issue, time);
  } else {
    issue(process, message);
  }
  return PTL_OK;
}

void Issue::fire()
{
  initiator->issue(*process, *message);
}

void Initiator::issue(Process& process, Message& message)
{
  fabric_.remove_waiting(process, message);
  if (!fabric_.resolve(message.initiator)) { // closed by another thread meanwhile
    fabric_.model().unreserve(message.request);
    fabric_.release(message);
    return;
  }
  message.request.started = fabric_.timeline().now();
  [[maybe_unused]] const bool taken = fabric_.model().start(message.request);
  assert(taken); // it has a place
}

void Initiator::cancel_issue(Message& message)
{
  if (!message.issue.pending())
    return;
  fabric_.timeline().cancel(message.issue);
  fabric_.model().unreserve(message.request);
}

int Initiator::arm(Process& process, const Move& move, ptl_handle_ct_t trigger, ptl_size_t threshold)
{
  Ni* ni = nullptr;
  if (const int result = check(process, move, ni); result != PTL_OK)
    return result;
  Counter* counter = ni->counters.find(trigger);
  if (!counter)
    return PTL_ARG_INVALID;
  TriggeredOp op;
  op.kind = TriggeredOp::Kind::move;
  op.threshold = threshold;
  op.move = move;
  return fabric_.triggers().arm(*ni, *counter, op);
}

void Initiator::start_triggered(Ni& ni, const Move& move)
{
  Ni* owner = nullptr;
  if (check(ni.process, move, owner) != PTL_OK)
    return;
  Message& message = prepare(*owner, move, false);
  fabric_.note_origin(message, ni.process);
  message.request.started = fabric_.timeline().now();
  fabric_.model().start(message.request);
}

bool Initiator::source(const Message& message, MemoryRef& place) const
{
  const Ni* ni = fabric_.resolve(message.initiator);
  if (!ni || !message.put_md)
    return false;
  place = {&ni->process.memory(), &message.put_md->region, message.move.put_offset};
  return true;
}

bool Initiator::destination(const Message& message, MemoryRef& place) const
{
  const Ni* ni = fabric_.resolve(message.initiator);
  if (!ni || !message.get_md)
    return false;
  place = {&ni->process.memory(), &message.get_md->region, message.move.get_offset};
  return true;
}

void Initiator::unpin(Ni& ni, MemoryDescriptor*& descriptor)
{
  if (!descriptor)
    return;
  if (--descriptor->in_use == 0 && ni.process.waiting_for_objects > 0)
    fabric_.host().changed(ni.process);
  descriptor = nullptr;
}

bool Initiator::post_send(Ni& ni, const Message& message, ptl_ni_fail_t fail)
{
  const EventSink& sink = message.put_sink;
  const bool event = sink.eq != PTL_EQ_NONE && (sink.options & PTL_MD_EVENT_SEND_DISABLE) == 0;
  if (event && (fail != PTL_NI_OK || (sink.options & PTL_MD_EVENT_SUCCESS_DISABLE) == 0)) {
    ptl_event_t send{};
    send.type = PTL_EVENT_SEND;
    send.user_ptr = message.move.user_ptr;
    send.ni_fail_type = fail;
    ni.post(sink.eq, send);
  }
  const bool counts = sink.ct != PTL_CT_NONE && (sink.options & PTL_MD_EVENT_CT_SEND);
  if (counts)
    ni.count(sink.ct, fail, (sink.options & PTL_MD_EVENT_CT_BYTES) ? message.move.length : 1);
  return event || counts;
}

void Initiator::finish(Message& message)
{
  message.reply_held = false;
  Ni* ni = fabric_.resolve(message.initiator);
  if (!ni)
    return;
  const bool reply = message.move.fetches();
  const EventSink& sink = reply ? message.get_sink : message.put_sink;
  unpin(*ni, message.get_md);
  const bool full = reply || message.move.ack_req == PTL_ACK_REQ;
  if (full && (message.ni_fail != PTL_NI_OK || (sink.options & PTL_MD_EVENT_SUCCESS_DISABLE) == 0)) {
    ptl_event_t event{};
    event.type = reply ? PTL_EVENT_REPLY : PTL_EVENT_ACK;
    event.user_ptr = message.move.user_ptr;
    event.mlength = message.mlength;
    event.remote_offset = message.moffset;
    event.ni_fail_type = message.ni_fail;
    event.ptl_list = message.list;
    ni->post(sink.eq, event);
  }
  if ((sink.options & (reply ? PTL_MD_EVENT_CT_REPLY : PTL_MD_EVENT_CT_ACK)) == 0)
    return;
  // An operation-completed acknowledgement tells that the operation is over, not how it went, and counts operations
  // only (Portals 4.3, 3.15).
  const bool over_only = !reply && message.move.ack_req == PTL_OC_ACK_REQ;
  const ptl_ni_fail_t fail = over_only && message.ni_fail != PTL_NI_UNDELIVERABLE ? PTL_NI_OK : message.ni_fail;
  const bool bytes = (sink.options & PTL_MD_EVENT_CT_BYTES) && !over_only;
  ni->count(sink.ct, fail, bytes ? message.mlength : 1);
}

void Initiator::source_read(Message& message)
{
  if (!message.move.sends())
    return;
  Payload& payload = message.payload;
  MemoryRef from;
  const bool present = source(message, from);
  const bool wanted = !message.request.arrived || (message.matched && message.mlength > 0);
  if (payload.open() && wanted && !message.request.delivered) {
    if (!present)
      payload.lost = true;
    else if (!fabric_.target().place(message, from))
      payload.capture(from, message.move.length, fabric_.buffers());
  }
  if (Ni* ni = fabric_.resolve(message.initiator)) {
    unpin(*ni, message.put_md);
    post_send(*ni, message, PTL_NI_OK);
  }
  if (message.reply_held)
    finish(message);
}

void Initiator::response_delivered(Message& message)
{
  MemoryRef to;
  if (message.move.fetches() && message.ni_fail == PTL_NI_OK && message.mlength > 0 && destination(message, to)) {
    Payload& payload = message.payload;
    MemoryRef from;
    bool written = payload.placed;
    if (payload.captured)
      written = copy_in(to, payload.data(), message.mlength);
    else if (payload.open() && fabric_.target().source(message, from))
      written = payload.placed = copy(from, to, message.mlength);
    if (!written) {
      message.ni_fail = PTL_NI_UNDELIVERABLE;
      message.mlength = 0;
    } else if (const Ni* ni = fabric_.resolve(message.initiator)) {
      const EventSink& sink = message.get_sink;
      fabric_.host().written(ni->process,
                             (sink.eq != PTL_EQ_NONE && (sink.options & PTL_MD_EVENT_SUCCESS_DISABLE) == 0) ||
                                 (sink.options & PTL_MD_EVENT_CT_REPLY) != 0);
    }
  }
  // SEND comes before ACK and REPLY.
  message.reply_held = message.move.sends() && !message.request.source_read && !message.request.failed;
  if (!message.reply_held)
    finish(message);
}

void Initiator::request_failed(Message& message)
{
  bool reported = false;
  Ni* ni = fabric_.resolve(message.initiator);
  if (ni && message.move.sends() && !message.request.source_read) {
    unpin(*ni, message.put_md);
    reported = post_send(*ni, message, PTL_NI_UNDELIVERABLE);
  }
  if (message.request.delivered) { // the target has it; only the source was still to be freed
    if (message.reply_held)
      finish(message);
    return;
  }
  message.ni_fail = PTL_NI_UNDELIVERABLE;
  message.mlength = 0;
  // ACK only follows a successful SEND (Portals 4.3, 3.13), unless that was not to be reported.
  if (message.move.fetches() || (message.move.ack_req != PTL_NO_ACK_REQ && !reported))
    finish(message);
}

void Initiator::response_failed(Message& message)
{
  if (message.response.delivered) // the initiator has it; only the target was still to be told
    return;
  message.ni_fail = PTL_NI_UNDELIVERABLE;
  message.mlength = 0;
  message.reply_held = message.move.sends() && !message.request.source_read && !message.request.failed;
  if (!message.reply_held)
    finish(message);
}

} // namespace umwelt::portals
