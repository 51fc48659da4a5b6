// SPDX-License-Identifier: LGPL-2.1-or-later
// From the host's command to the moment at which the NIC can send it: places in the queues, payloads that the NIC
// reads.
#include "net_models/bxi/model.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "net_models/bxi/nic.h"

namespace umwelt::net
{

std::uint8_t BxiModel::queue_of(const Transfer& transfer) const
{
  const auto base = transfer.kind == TransferKind::ack ? Queue::acks
                    : is_response(transfer.kind)       ? Queue::responses
                                                       : Queue::requests;
  return static_cast<std::uint8_t>(base + (service_.uses(transfer) ? 1 : 0));
}

bool BxiModel::reserve(Transfer& transfer)
{
  Nic& nic = nics_[transfer.source];
  Queue& queue = nic.queues[queue_of(transfer)];
  if (context_.listener != nullptr && queue.slots_used >= parameters_.queue_depth) {
    nic.refused = true;
    return false;
  }
  ++queue.slots_used;
  transfer.reserved = true;
  return true;
}

void BxiModel::unreserve(Transfer& transfer)
{
  Nic& nic = nics_[transfer.source];
  --nic.queues[queue_of(transfer)].slots_used;
  transfer.reserved = false;
  if (std::exchange(nic.refused, false))
    context_.listener->command_slot_free(transfer.source);
}

BxiFlight& BxiModel::take_on(Transfer& transfer)
{
  Flight& flight = flights_.acquire();
  flight.model = this;
  flight.transfer = &transfer;
  flight.payload = transfer.payload;
  flight.copied = parameters_.copied(transfer);
  flight.leaves = transfer.handover != nullptr;
  flight.inbound = false;
  flight.stalled = flight.copied ? 0 : parameters_.small_misses(transfer);
  flight.source = transfer.source;
  flight.target = transfer.target;
  flight.initiator_process = transfer.initiator_process;
  flight.target_process = transfer.target_process;
  flight.kind = transfer.kind;
  flight.queue = queue_of(transfer);
  flight.from_host = transfer.from_host;
  flight.source_told = false;
  flight.received = false;
  flight.parked = false;
  flight.credited = false;
  flight.set_aside = false;
  flight.detour = false;
  flight.incomplete = false;
  flight.blocked_since = sim::never;
  flight.retries = 0;
  flight.passage = {};
  flight.passage.route = &context_.platform.route(transfer.source, transfer.target);
  flight.passage.bytes = parameters_.wire_bytes(transfer.payload);
  flight.passage.flight = &flight;
  flight.passage.source = transfer.source;
  flight.passage.target = transfer.target;
  flight.passage.network = flight.queue;
  flight.passage.one_packet = transfer.payload <= parameters_.packet;
  flight.flow = nullptr;
  flight.holds_slot = false;
  transfer.state = &flight;
  return flight;
}

bool BxiModel::start(Transfer& transfer)
{
  if (transfer.from_host && !transfer.reserved && !reserve(transfer))
    return false;
  const Nic& nic = nics_[transfer.source];
  Flight& flight = take_on(transfer);
  flight.holds_slot = transfer.from_host;

  if (transfer.from_host) {
    const bool stored = parameters_.stored_by_host(transfer.payload);
    flight.command_at = context_.timeline.now() + parameters_.pci_latency +
                        (stored ? pci_time(parameters_, transfer.payload) : SimTime{0});
  } else {
    // A response goes out behind the events that were written before it.
    flight.command_at = std::max(cause(), is_response(transfer.kind) ? nic.engine.events_free() : SimTime{0});
  }
  if (transfer.ordered()) {
    const std::uint32_t network = flight.queue % 2 != 0 ? 1U << 31 : 0;
    Flow& flow = flows_[pair_key(transfer.source | network, transfer.target)];
    flight.flow = &flow;
    flight.flow_next = nullptr;
    flight.flow_previous = flow.first == nullptr ? nullptr : flow.last;
    (flow.first == nullptr ? flow.first : flow.last->flow_next) = &flight;
    flow.last = &flight;
  }
  enqueue(flight);
  return true;
}

void BxiModel::enqueue(Flight& flight)
{
  Nic& nic = nics_[flight.source];
  Queue& queue = nic.queues[flight.queue];
  const bool idle = queue.list.empty();
  queue.list.push(flight);
  if (idle)
    prepare(nic, queue);
}

// Schedules the injection of the first command of a queue. The NIC works ahead: by now it may long have looked at the
// command and have its payload.
void BxiModel::prepare(Nic& nic, Queue& queue)
{
  Flight& flight = *queue.list.first;
  SimTime looked_at = 0;
  if (flight.from_host) {
    const SimTime stored = parameters_.stored_by_host(flight.payload) ? pci_time(parameters_, flight.payload) : 0;
    looked_at = nic.engine.take_in(context_.timeline.now(), flight.command_at, parameters_.command_gap + stored);
  } else {
    looked_at = std::max(flight.command_at, queue.processed);
    queue.processed = looked_at + parameters_.tx_gap;
  }
  const SimTime work = flight.kind == TransferKind::ack     ? parameters_.ack_time
                       : flight.kind == TransferKind::reply ? parameters_.reply_time
                                                            : parameters_.tx_time;
  SimTime ready = looked_at + work;
  if (flight.kind == TransferKind::ack && parameters_.quick_ack)
    ready = context_.timeline.now();
  if (flight.reads_payload(parameters_))
    ready = payload_ready(nic, flight, ready);
  schedule(flight, Stage::inject, std::max(ready, queue.free));
}

// When the first PCI packet of the payload is in the NIC.
SimTime BxiModel::payload_ready(Nic& nic, Flight& flight, SimTime processed)
{
  const SimTime asked = std::max(processed, nic.dma_free);
  nic.dma_free = asked + parameters_.dma_gap;
  if (!parameters_.pci)
    return asked;
  const std::uint64_t first = std::min(flight.payload, parameters_.pci_packet);
  const SimTime share = sim::transfer_time(flight.payload, parameters_.pci_shared);
  const SimTime packet = sim::transfer_time(parameters_.pci_packet, parameters_.pci_shared);
  const SimTime begin = flight.payload <= parameters_.pci_packet
                            ? nic.read.book_short(asked + parameters_.pci_read, share, packet)
                            : nic.read.book_long(asked + parameters_.pci_read, share);
  flight.times.read_asked = asked;
  flight.times.read_begin = begin;
  return begin + pci_time(parameters_, first);
}

// The message that heads its queue goes on or is set aside: the next one may be prepared.
void BxiModel::leave_queue(const Flight& flight, Flight* next)
{
  Nic& nic = nics_[flight.source];
  Queue& queue = nic.queues[flight.queue];
  assert(queue.list.first == &flight);
  queue.list.first = next;
  if (!queue.list.empty())
    prepare(nic, queue);
}

} // namespace umwelt::net
