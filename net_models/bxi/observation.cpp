// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/bxi/observation.h"

#include <algorithm>

#include "net_models/bxi/flight.h"
#include "net_models/bxi/nic.h"

namespace umwelt::net
{

// All of a message that has come, at once and last: the way there pays one test.
void BxiObservation::tell_arrival(BxiFlight& flight) const
{
  const Transfer& transfer = *flight.transfer;
  if (!flight.inbound) {
    tell_departure(flight);
    tell_message(flight, flight.passage.arrival(), StageOutcome::done);
  }
  if (flight.leaves)
    return;
  const SimTime seen = flight.matched - static_cast<SimTime>(transfer.searched) * parameters_.search;
  tell(flight, StageKind::receive, flight.payload, std::max(flight.sent_at, seen - parameters_.rx_time),
       flight.matched);
  if (flight.writes_payload(parameters_))
    tell(flight, StageKind::payload_write, transfer.deposit, flight.write_begin, timeline_.now());
}

void BxiObservation::tell_loss(BxiFlight& flight) const
{
  if (flight.received && flight.posted >= flight.sent_at)
    return; // not sent again since it came: it is the end-to-end acknowledgement that was lost
  tell_departure(flight);
  tell_message(flight, timeline_.now(), StageOutcome::lost);
}

void BxiObservation::tell_duplicate(BxiFlight& flight) const
{
  tell_departure(flight);
  tell_message(flight, flight.passage.arrival(), StageOutcome::duplicate);
}

// What one copy of a message went through before it left.
void BxiObservation::tell_departure(BxiFlight& flight) const
{
  const bool first = flight.retries == 0;
  if (first)
    flight.times.transfer = observer_->started(*flight.transfer);
  if (first && flight.from_host && parameters_.pci) {
    const bool stored = flight.payload > 0 && parameters_.stored_by_host(flight.payload);
    const SimTime written = flight.command_at - (stored ? pci_time(parameters_, flight.payload) : SimTime{0});
    const SimTime issued = written - parameters_.pci_latency;
    tell(flight, StageKind::command, 0, issued, written);
    if (stored)
      tell(flight, StageKind::pio_payload, flight.payload, issued, flight.command_at);
  }
  if (flight.reads_payload(parameters_) && parameters_.pci) {
    tell(flight, StageKind::dma_request, 0, flight.times.read_asked, flight.times.read_asked + parameters_.pci_read);
    tell(flight, StageKind::dma_payload, flight.payload, flight.times.read_begin,
         flight.times.read_begin + pci_time(parameters_, flight.payload));
  }
  tell(flight, StageKind::queue, flight.payload, std::min(flight.command_at, flight.sent_at), flight.sent_at);
  tell(flight, StageKind::transmit, flight.passage.bytes, flight.sent_at, flight.times.left);
}

void BxiObservation::tell_event(NodeIndex node, SimTime start) const
{
  observer_->stage(
      {.kind = StageKind::event, .node = node, .peer = node, .start = start, .end = start + parameters_.pci_latency});
}

void BxiObservation::tell(const BxiFlight& flight, StageKind kind, std::uint64_t bytes, SimTime start,
                          SimTime end) const
{
  const bool receiving = kind == StageKind::receive || kind == StageKind::payload_write;
  const NodeIndex node = receiving ? flight.target : flight.source;
  observer_->stage({.kind = kind,
                    .service = flight.queue % 2 != 0,
                    .response = is_response(flight.kind),
                    .node = node,
                    .peer = node,
                    .transfer = flight.times.transfer,
                    .initiator_process = flight.initiator_process,
                    .target_process = flight.target_process,
                    .bytes = bytes,
                    .start = start,
                    .end = end});
}

void BxiObservation::tell_message(const BxiFlight& flight, SimTime end, StageOutcome outcome) const
{
  observer_->stage({.kind = StageKind::message,
                    .outcome = outcome,
                    .service = flight.queue % 2 != 0,
                    .response = is_response(flight.kind),
                    .node = flight.source,
                    .peer = flight.target,
                    .transfer = flight.times.transfer,
                    .initiator_process = flight.initiator_process,
                    .target_process = flight.target_process,
                    .bytes = flight.payload,
                    .start = flight.sent_at,
                    .end = std::max(end, flight.sent_at)});
}

void BxiObservation::tell_acknowledgement(const BxiFlight& flight, SimTime start, SimTime end,
                                          StageOutcome outcome) const
{
  observer_->stage({.kind = StageKind::acknowledgement,
                    .outcome = outcome,
                    .service = flight.queue % 2 != 0,
                    .response = true,
                    .node = flight.target,
                    .peer = flight.source,
                    .transfer = flight.times.transfer,
                    .initiator_process = flight.initiator_process,
                    .target_process = flight.target_process,
                    .start = start,
                    .end = end});
}

} // namespace umwelt::net
