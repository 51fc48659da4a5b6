// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages between nodes of this model and of others (core/model.h, Handover): this one carries what its nodes send up
// to the first packet at the target's NIC, and receives what others have carried so far.
#include "net_models/bxi/model.h"

#include <algorithm>

#include "net_models/bxi/nic.h"

namespace umwelt::net
{

// `never`: the fabric does not know yet.
SimTime BxiModel::known_tail(const Flight& flight) const
{
  return flight.passage.foreseen() ? std::max(flight.passage.arrival(), context_.timeline.now()) : sim::never;
}

// The first packet is there. Where links fail the rest may be lost, and all is sent again then: the whole message has
// to be there.
void BxiModel::hand_over(Flight& flight)
{
  const SimTime tail = known_tail(flight);
  if (context_.failures != nullptr && tail != context_.timeline.now()) {
    flight.stage = Stage::arrive;
    if (tail != sim::never)
      schedule(flight, Stage::arrive, tail);
    return;
  }
  if (flight.flow != nullptr && flight.flow->first != &flight) {
    flight.parked = true;
    return;
  }
  flight.parked = false;
  flight.received = true;
  flight.stage = Stage::handed_over;
  Transfer& transfer = *flight.transfer;
  transfer.handover->reached(transfer, tail);
  leave_flow(flight);
}

// What shared the last link with it has changed. The fabric is in the middle of its work.
void BxiModel::foresee(Flight& flight)
{
  if (flight.stage == Stage::handed_over)
    flight.transfer->handover->foreseen(*flight.transfer, known_tail(flight));
  else if (flight.stage == Stage::arrive && context_.failures != nullptr)
    schedule(flight, Stage::arrive, known_tail(flight));
}

void BxiModel::taken(Transfer& transfer)
{
  Flight& flight = static_cast<Flight&>(*transfer.state);
  flight.posted = context_.timeline.now();
  observation_.arrived(flight);
  const bool tells = !flight.source_told && !parameters_.e2e;
  flight.source_told = flight.source_told || tells;
  const bool ends = flight.source_told;
  if (ends)
    flight.transfer = nullptr;
  if (tracked_ || !ends)
    await_acknowledgement(flight);
  else
    recycle(flight);
  if (tells)
    transfer.client->source_read(transfer);
}

void BxiModel::take_in(Transfer& transfer, SimTime tail)
{
  Flight& flight = take_on(transfer);
  flight.inbound = true;
  flight.source_told = true; // by the sender's model
  flight.times = {};
  flight.sent_at = context_.timeline.now();
  flight.passage.head = context_.timeline.now();
  flight.passage.tail = tail;
  flight.passage.known = tail == sim::never ? 1 : 0; // foreseen() at `hop` 0: it is on no link of this fabric
  const bool instant = flight.kind == TransferKind::ack && parameters_.quick_ack;
  schedule(flight, Stage::arrive, context_.timeline.now() + (instant ? 0 : parameters_.rx_time));
}

void BxiModel::tail_moved(Transfer& transfer, SimTime tail)
{
  Flight& flight = static_cast<Flight&>(*transfer.state);
  flight.passage.tail = tail;
  flight.passage.known = 0;
  if (flight.stage == Stage::write && flight.payload > 0)
    write_payload(flight);
}

} // namespace umwelt::net
