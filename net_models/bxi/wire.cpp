// SPDX-License-Identifier: LGPL-2.1-or-later
// From one NIC to the other: the virtual network of the sender, then links and switches (core/fabric.h) or the way back
// into the same node.
#include "net_models/bxi/model.h"

#include <algorithm>

#include "net_models/bxi/nic.h"
#include "platforms/link_failures.h"

namespace umwelt::net
{

void BxiModel::inject(Flight& flight)
{
  Flight* const next = flight.next; // waiting for a credit puts the flight into another list
  if (context_.failures != nullptr && !find_way(flight))
    return;
  if (tracked_ && !acquire_credits(flight))
    return leave_queue(flight, next);
  Passage& passage = flight.passage;
  const SimTime now = context_.timeline.now();
  passage.hop = 0;
  passage.known = 0;
  passage.corrupted = false;
  passage.cut = false;
  passage.late = 0;
  passage.head = now;
  passage.tail = now;
  if (flight.source == flight.target) {
    const double rate = flight.copied ? parameters_.loop_shared : parameters_.pci_shared;
    const SimTime share = sim::transfer_time(flight.payload, rate);
    const SimTime packet = sim::transfer_time(parameters_.packet, rate);
    passage.start = passage.one_packet ? nics_[flight.source].loop.book_short(now, share, packet)
                                       : nics_[flight.source].loop.book_long(now, share);
    if (flight.copied) // by processors: the NIC goes on with the next
      leave_queue(flight, next);
    if (passage.start > now)
      return schedule(flight, Stage::depart, passage.start);
  } else if (flight.kind == TransferKind::ack && parameters_.quick_ack) {
    passage.start = now;
  } else {
    switch (fabric_->enter(passage)) {
    case Fabric::Entry::free:
      break;
    case Fabric::Entry::later:
      return schedule(flight, Stage::depart, passage.start);
    case Fabric::Entry::ahead:
      return schedule(flight, Stage::inject, passage.start);
    case Fabric::Entry::waits:
      flight.stage = Stage::depart;
      return;
    case Fabric::Entry::lost:
      return lose(flight, TransferFailure::undeliverable);
    }
  }
  depart(flight);
}

void BxiModel::depart(Flight& flight)
{
  Nic& nic = nics_[flight.source];
  Queue& queue = nic.queues[flight.queue];
  Passage& passage = flight.passage;
  const SimTime now = context_.timeline.now();
  const bool instant = flight.kind == TransferKind::ack && parameters_.quick_ack;
  const bool loop = flight.source == flight.target;
  const Nic& other = nics_[flight.target];
  // Both NICs keep the translations of what they send and of what they receive.
  const std::uint64_t beside = std::max(nic.writing, other.reading_until > now ? other.reading : 0);
  passage.pause = flight.copied ? 0 : flight.stalled + parameters_.misses(flight.payload, beside);
  const SimTime injection = instant         ? 0
                            : flight.copied ? sim::transfer_time(flight.payload, parameters_.loop_transfer)
                            : loop          ? pci_time(parameters_, flight.payload)
                                            : fabric_->injection(passage);

  flight.sent_at = now;
  if (flight.detour)
    ++context_.failures->counts.rerouted;
  ++statistics_.messages;
  statistics_.wire_bytes += passage.bytes;
  flight.times.left = now + injection + passage.pause;
  if (!flight.copied && flight.times.left >= nic.reading_until) { // else it slips in between a longer message's packets
    nic.reading = flight.payload;
    nic.reading_until = flight.times.left;
  }
  if (!flight.copied) {
    queue.free = flight.times.left;
    leave_queue(flight, flight.next);
  }

  bool lost = false;
  if (instant || loop) {
    passage.known = static_cast<std::uint32_t>(passage.route->links.size());
    passage.hop = passage.known;
    passage.head = now + (loop ? parameters_.loopback : 0);
    passage.tail = passage.head + injection + passage.pause;
  } else {
    lost = !fabric_->pass(passage);
  }

  bool freed = false;
  if (flight.holds_slot) {
    flight.holds_slot = false;
    --queue.slots_used;
    freed = nic.refused;
    nic.refused = false;
  }
  const NodeIndex source = flight.source;
  if (!flight.source_told && !flight.keeps_buffer(parameters_)) {
    flight.source_told = true;
    Transfer& transfer = *flight.transfer;
    transfer.client->source_read(transfer);
  }
  if (lost)
    lose(flight, TransferFailure::undeliverable);
  else
    travel(flight);
  if (freed)
    context_.listener->command_slot_free(source);
}

// On through the fabric as far as nothing is in the way.
void BxiModel::travel(Flight& flight)
{
  Passage& passage = flight.passage;
  SimTime whole = passage.tail;
  if (passage.route->links.empty()) { // within the node
    if (!passage.one_packet)
      whole = passage.head + sim::transfer_time(parameters_.packet, parameters_.pci_transfer);
  } else {
    switch (fabric_->advance(passage)) {
    case Fabric::Entry::free:
      whole = fabric_->header_in(passage);
      break;
    case Fabric::Entry::later:
      return schedule(flight, Stage::fabric, passage.start);
    case Fabric::Entry::ahead:
      return schedule(flight, Stage::head, passage.start);
    case Fabric::Entry::waits:
      flight.stage = Stage::fabric;
      return;
    case Fabric::Entry::lost:
      return lose(flight, TransferFailure::undeliverable);
    }
  }
  const bool instant = flight.kind == TransferKind::ack && parameters_.quick_ack;
  schedule(flight, Stage::arrive, whole + (instant || flight.leaves ? 0 : parameters_.rx_time));
}

// It was its turn on a link where it had to wait.
void BxiModel::entered(Passage& passage)
{
  context_.timeline.schedule(*static_cast<BxiPassage&>(passage).flight, context_.timeline.now()); // its stage is set
}

// What shared a link with the message has changed, and is over for now.
void BxiModel::settled(Passage& passage)
{
  Flight& flight = *static_cast<BxiPassage&>(passage).flight;
  if (flight.leaves)
    foresee(flight);
  else if (flight.stage == Stage::write && flight.payload > 0)
    write_payload(flight);
}

} // namespace umwelt::net
