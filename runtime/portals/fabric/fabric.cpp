// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/fabric/fabric.h"

#include <algorithm>
#include <cassert>

#include "runtime/portals/fabric/process.h"

namespace umwelt::portals
{

Fabric::Fabric(sim::Timeline& timeline, Host& host, net::NodeIndex nodes)
    : timeline_(timeline), host_(host), nodes_(nodes), initiator_(*this), target_(*this), triggers_(*this)
{
}

Fabric::Census Fabric::census() const
{
  return {messages_.in_use(), buffers_.in_use(), event_writes_.in_use() + counter_writes_.in_use(), headers_.in_use(),
          triggers_.waiting()};
}

// ---- Processes and interfaces ----

void Fabric::attach(Process& process)
{
  assert(process.node() < nodes_.size());
  nodes_[process.node()].processes.push_back(&process);
}

void Fabric::detach(Process& process)
{
  Node& node = nodes_[process.node()];
  std::erase(node.processes, &process);
  if (process.pid() != PTL_PID_ANY)
    unbind(process, process.pid());
  while (Message* message = process.waiting_messages) {
    remove_waiting(process, *message);
    initiator_.cancel_issue(*message);
    release(*message);
  }
}

bool Fabric::bind(Process& process, ptl_pid_t pid)
{
  Node& node = nodes_[process.node()];
  if (node.by_pid.size() <= pid)
    node.by_pid.resize(pid + 1);
  if (node.by_pid[pid])
    return node.by_pid[pid] == &process;
  node.by_pid[pid] = &process;
  return true;
}

void Fabric::unbind(Process& process, ptl_pid_t pid)
{
  nodes_[process.node()].by_pid[pid] = nullptr;
}

bool Fabric::node_of(ptl_nid_t nid, net::NodeIndex& node) const
{
  if (nid == 0 || nid == PTL_NID_ANY)
    return false;
  const net::NodeIndex index = nid < PTL_NID_ANY ? nid - 1 : nid - 2;
  if (index >= nodes_.size())
    return false;
  node = index;
  return true;
}

Process* Fabric::find(ptl_nid_t nid, ptl_pid_t pid) const
{
  net::NodeIndex node = 0;
  if (!node_of(nid, node) || pid >= nodes_[node].by_pid.size())
    return nullptr;
  return nodes_[node].by_pid[pid];
}

NiRef Fabric::add_interface(Ni& ni)
{
  if (free_interfaces_.empty()) {
    interfaces_.push_back({&ni, 0});
    return {static_cast<std::uint32_t>(interfaces_.size() - 1), 0};
  }
  const std::uint32_t slot = free_interfaces_.back();
  free_interfaces_.pop_back();
  interfaces_[slot].ni = &ni;
  return {slot, interfaces_[slot].epoch};
}

void Fabric::remove_interface(NiRef ref)
{
  interfaces_[ref.slot].ni = nullptr;
  ++interfaces_[ref.slot].epoch;
  free_interfaces_.push_back(ref.slot);
}

// ---- Writes to host memory ----

void EventWrite::visible()
{
  fabric->became_visible(*this);
}

void CounterWrite::visible()
{
  fabric->became_visible(*this);
}

void Fabric::write_event(Ni& ni, ptl_handle_eq_t queue)
{
  EventWrite& write = event_writes_.acquire();
  write.fabric = this;
  write.ni = ni.ref;
  write.queue = queue;
  model_->write_to_host(ni.process.node(), net::WriteKind::full_event, write);
}

void Fabric::write_counter(Ni& ni, ptl_handle_ct_t counter, const CounterChange& change)
{
  CounterWrite& write = counter_writes_.acquire();
  write.fabric = this;
  write.ni = ni.ref;
  write.counter = counter;
  write.change = change;
  model_->write_to_host(ni.process.node(), net::WriteKind::counter, write);
}

void Fabric::became_visible(EventWrite& write)
{
  Ni* ni = resolve(write.ni);
  EventQueue* queue = ni ? ni->queues.find(write.queue) : nullptr;
  event_writes_.release(write);
  if (!queue)
    return;
  queue->show();
  host_.event_visible(ni->process, queue->handle);
}

void Fabric::became_visible(CounterWrite& write)
{
  Ni* ni = resolve(write.ni);
  Counter* counter = ni ? ni->counters.find(write.counter) : nullptr;
  if (counter)
    counter->show(write.change);
  counter_writes_.release(write);
  if (counter)
    host_.changed(ni->process);
}

// ---- Messages ----

Message& Fabric::new_message()
{
  Message& message = messages_.acquire();
  for (Leg* leg : {&message.request, &message.response}) {
    *leg = Leg();
    leg->client = this;
    leg->message = &message;
  }
  message.response_due = message.reply_held = false;
  message.put_md = message.get_md = nullptr;
  message.target_ni = NiRef();
  message.pt = nullptr;
  message.entry = nullptr;
  message.header = nullptr;
  message.matched = message.in_order = message.moved = message.complete = message.event_reserved = false;
  message.ni_fail = PTL_NI_OK;
  message.list = PTL_PRIORITY_LIST;
  message.mlength = message.moffset = 0;
  message.payload.captured = message.payload.placed = message.payload.lost = false;
  message.previous_waiting = message.next_waiting = nullptr;
  return message;
}

void Fabric::release(Message& message)
{
  if (message.header && !message.complete) // the interface went first and left the header to its message
    headers_.release(*message.header);
  if (message.payload.buffer)
    buffers_.release(std::move(message.payload.buffer), message.payload.buffer_size);
  message.origin.reset();
  messages_.release(message);
}

void Fabric::release_if_over(Message& message)
{
  if (message.request.over() && (!message.response_due || message.response.over()))
    release(message);
}

void Fabric::respond(Message& message)
{
  const Leg& request = message.request;
  Leg& response = message.response;
  const bool reply = message.move.fetches();
  response.kind = reply ? net::TransferKind::reply : net::TransferKind::ack;
  response.source = request.target;
  response.target = request.source;
  response.payload = reply ? message.mlength : 0;
  response.initiator_process = request.initiator_process;
  response.target_process = request.target_process;
  response.from_host = false;
  response.service = request.service;
  response.unordered = request.unordered;
  response.started = timeline_.now();
  message.response_due = true;
  [[maybe_unused]] const bool taken = model_->start(response);
  assert(taken); // only commands of the host may be refused
}

void Fabric::add_waiting(Process& process, Message& message)
{
  message.previous_waiting = nullptr;
  message.next_waiting = process.waiting_messages;
  if (process.waiting_messages)
    process.waiting_messages->previous_waiting = &message;
  process.waiting_messages = &message;
}

void Fabric::remove_waiting(Process& process, Message& message)
{
  (message.previous_waiting ? message.previous_waiting->next_waiting : process.waiting_messages) = message.next_waiting;
  if (message.next_waiting)
    message.next_waiting->previous_waiting = message.previous_waiting;
}

void Fabric::record(const Leg& leg, bool was_delivered)
{
  if (observer_)
    observer_->message({leg.kind, leg.initiator_process, leg.target_process, leg.source, leg.target, leg.payload,
                        leg.started, timeline_.now(), was_delivered});
}

void Fabric::note_origin(Message& message, Process& process)
{
  if (tells_ends_)
    message.origin = host_.departs(process);
}

// Both ends hear of what has gone between them, as long as they are there.
void Fabric::tell_of(const Message& message, bool request)
{
  const net::Transfer& transfer = message.request;
  const sim::SimTime began = message.request.started;
  if (request) {
    if (const Ni* ni = resolve(message.target_ni))
      host_.came(ni->process, transfer.initiator_process, message.origin.get(), began, transfer.payload);
    return;
  }
  host_.exchanged(transfer.initiator_process, transfer.target_process, began);
  if (const Ni* ni = resolve(message.initiator))
    host_.answered(ni->process, transfer.target_process, message.origin.get(), began, message.response.payload);
}

// ---- Callbacks of the model ----

void Fabric::source_read(net::Transfer& transfer)
{
  auto& leg = static_cast<Leg&>(transfer);
  Message& message = *leg.message;
  leg.source_read = true;
  if (&leg == &message.request)
    initiator_.source_read(message);
  else
    target_.source_read(message);
  release_if_over(message);
}

void Fabric::header_arrived(net::Transfer& transfer)
{
  auto& leg = static_cast<Leg&>(transfer);
  Message& message = *leg.message;
  leg.arrived = true;
  if (&leg == &message.request)
    target_.header_arrived(message);
  else
    leg.deposit = leg.payload;
}

void Fabric::delivered(net::Transfer& transfer)
{
  auto& leg = static_cast<Leg&>(transfer);
  Message& message = *leg.message;
  leg.delivered = true;
  record(leg, true);
  if (tells_ends_)
    tell_of(message, &leg == &message.request);
  if (&leg == &message.request)
    target_.delivered(message);
  else
    initiator_.response_delivered(message);
  release_if_over(message);
}

void Fabric::failed(net::Transfer& transfer, net::TransferFailure)
{
  auto& leg = static_cast<Leg&>(transfer);
  Message& message = *leg.message;
  leg.failed = true;
  record(leg, false);
  if (&leg == &message.request) {
    target_.request_failed(message);
    initiator_.request_failed(message);
  } else {
    target_.response_failed(message);
    initiator_.response_failed(message);
  }
  release_if_over(message);
}

void Fabric::command_slot_free(net::NodeIndex node)
{
  for (Process* process : nodes_[node].processes)
    if (process->waiting_messages)
      host_.changed(*process);
}

} // namespace umwelt::portals
