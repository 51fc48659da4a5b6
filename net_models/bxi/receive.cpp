// SPDX-License-Identifier: LGPL-2.1-or-later
// At the target: receive engines match headers, requests of a flow in their order, and payloads go to the host.
#include "net_models/bxi/model.h"

#include <algorithm>

#include "net_models/bxi/nic.h"

namespace umwelt::net
{

// The header has been in the NIC for rx_time.
void BxiModel::arrive(Flight& flight)
{
  if (flight.passage.cut)
    return lose(flight, TransferFailure::undeliverable);
  if (flight.passage.corrupted)
    return lose(flight, TransferFailure::corrupted); // the receiver's check finds it
  if (flight.incomplete) {
    flight.incomplete = false;
    flight.stage = Stage::write;
    if (flight.passage.foreseen())
      write_payload(flight);
    return;
  }
  if (flight.received) { // the payload had arrived, its ack had not
    observation_.duplicate(flight);
    flight.posted = context_.timeline.now();
    return await_acknowledgement(flight);
  }
  if (flight.leaves)
    return hand_over(flight);
  if (flight.kind == TransferKind::ack && parameters_.quick_ack) {
    SimTime no_engine = 0;
    return match(flight, no_engine);
  }
  if (flight.flow != nullptr && flight.flow->first != &flight)
    flight.parked = true; // a later message overtook an earlier one: requests are matched in order
  else
    receive(flight);
}

void BxiModel::receive(Flight& flight)
{
  Nic& nic = nics_[flight.target];
  flight.parked = false;
  SimTime& engine = *std::min_element(nic.engines.begin(), nic.engines.begin() + parameters_.rx_engines);
  if (nic.arrived.empty() && engine <= context_.timeline.now() - parameters_.rx_time)
    return match(flight, engine);
  nic.arrived.push(flight);
  if (!nic.pending())
    context_.timeline.schedule(nic, engine + parameters_.rx_time);
}

// A receive engine is done with its work and takes the next message.
void BxiModel::serve(Nic& nic)
{
  SimTime& engine = *std::min_element(nic.engines.begin(), nic.engines.begin() + parameters_.rx_engines);
  if (engine <= context_.timeline.now() - parameters_.rx_time && !nic.arrived.empty())
    match(nic.arrived.pop(), engine);
  if (!nic.arrived.empty() && !nic.pending()) {
    const SimTime free = *std::min_element(nic.engines.begin(), nic.engines.begin() + parameters_.rx_engines);
    context_.timeline.schedule(nic, free + parameters_.rx_time);
  }
}

void BxiModel::match(Flight& flight, SimTime& engine)
{
  const SimTime now = context_.timeline.now();
  Nic& nic = nics_[flight.target];
  Transfer& transfer = *flight.transfer;
  flight.received = true;
  engine = std::max(engine, now - parameters_.rx_time) + parameters_.rx_gap +
           (flight.payload > parameters_.page ? parameters_.rx_page_gap : 0);
  leave_flow(flight);

  transfer.searched = 0;
  transfer.client->header_arrived(transfer);
  const SimTime searching = static_cast<SimTime>(transfer.searched) * parameters_.search;
  engine += searching;
  const SimTime matched = flight.matched = now + searching;
  const std::uint64_t bytes = transfer.deposit;
  if (flight.payload == 0) {
    const bool atomic = flight.kind == TransferKind::atomic || flight.kind == TransferKind::fetch_atomic;
    flight.posted = matched + (atomic ? parameters_.atomic_time : 0);
    if (flight.posted == now)
      return deliver(flight);
    return schedule(flight, Stage::write, flight.posted);
  }
  if (flight.writes_payload(parameters_)) {
    const SimTime share = sim::transfer_time(bytes, parameters_.pci_shared);
    const SimTime packet = sim::transfer_time(parameters_.pci_packet, parameters_.pci_shared);
    flight.write_begin = bytes <= parameters_.pci_packet ? nic.write.book_short(matched, share, packet)
                                                         : nic.write.book_long(matched, share);
  }
  if (!flight.copied)
    nic.writing += bytes;
  flight.stage = Stage::write;
  if (flight.passage.foreseen())
    write_payload(flight);
}

// When the last byte is in the target's memory, as the tail's arrival is foreseen now. What the target does not take
// has crossed the network all the same.
void BxiModel::write_payload(Flight& flight)
{
  const Transfer& transfer = *flight.transfer;
  const std::uint64_t bytes = transfer.deposit;
  const SimTime searching = static_cast<SimTime>(transfer.searched) * parameters_.search;
  const SimTime last_packet_in = flight.passage.arrival() + parameters_.rx_time + searching;
  const std::uint64_t last = std::min(bytes, parameters_.pci_packet);
  flight.posted = std::max(flight.matched, last_packet_in);
  if (flight.writes_payload(parameters_))
    flight.posted =
        std::max(flight.write_begin + pci_time(parameters_, bytes), last_packet_in + pci_time(parameters_, last));
  if (flight.kind == TransferKind::atomic || flight.kind == TransferKind::fetch_atomic)
    flight.posted += parameters_.atomic_time;
  flight.late = flight.passage.late;
  schedule(flight, Stage::write, flight.posted + (bytes > 0 ? parameters_.pci_latency : 0));
}

void BxiModel::deliver(Flight& flight)
{
  if (flight.passage.cut && flight.payload > 0) [[unlikely]] {
    flight.incomplete = true;
    return lose(flight, TransferFailure::undeliverable);
  }
  if (flight.payload > 0 && (!flight.passage.foreseen() || flight.passage.late != flight.late)) {
    if (flight.passage.foreseen())
      write_payload(flight);
    return; // others came into its way: settled() will say when the tail is there
  }
  Transfer& transfer = *flight.transfer;
  TransferClient& client = *transfer.client;
  const SimTime posted = flight.posted;
  if (!flight.copied)
    nics_[flight.target].writing -= transfer.deposit;
  const bool flushed = parameters_.flushes(transfer);
  observation_.arrived(flight);
  if (!flight.source_told && !parameters_.e2e) {
    flight.source_told = true;
    client.source_read(transfer);
  }
  const bool ends = flight.source_told;
  if (ends)
    flight.transfer = nullptr;
  if (!flight.inbound && (tracked_ || !ends))
    await_acknowledgement(flight);
  else
    recycle(flight);
  cause_ = posted;
  flush_ = flushed ? parameters_.flush_time : 0;
  client.delivered(transfer);
  cause_ = sim::never;
  flush_ = 0;
}

void BxiModel::leave_flow(Flight& flight)
{
  if (flight.flow == nullptr)
    return;
  Flow& flow = *flight.flow;
  (flight.flow_previous == nullptr ? flow.first : flight.flow_previous->flow_next) = flight.flow_next;
  (flight.flow_next == nullptr ? flow.last : flight.flow_next->flow_previous) = flight.flow_previous;
  flight.flow = nullptr;
  if (flow.first != nullptr && flow.first->parked) {
    if (flow.first->leaves)
      return hand_over(*flow.first);
    // It has been through rx_time already; the engine sees it right behind the one that made way.
    Flight& next = *flow.first;
    next.parked = false;
    Nic& nic = nics_[next.target];
    nic.arrived.push(next);
    if (!nic.pending())
      context_.timeline.schedule(nic,
                                 *std::min_element(nic.engines.begin(), nic.engines.begin() + parameters_.rx_engines) +
                                     parameters_.rx_time);
  }
}

} // namespace umwelt::net
