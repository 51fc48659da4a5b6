// SPDX-License-Identifier: LGPL-2.1-or-later
// Where links fail (--fault): which way a message takes, and what becomes of those that have none. The NIC sets such a
// message aside, so that those behind it in its queue, which may have a way, go on; it keeps its place in the order of
// its flow, in which the target matches.
#include "net_models/bxi/model.h"

#include <utility>

#include "net_models/bxi/nic.h"
#include "platforms/link_failures.h"

namespace umwelt::net
{

// Sets the route of a message that is about to depart. False: there is none now.
bool BxiModel::find_way(Flight& flight)
{
  if (flight.source == flight.target || (flight.kind == TransferKind::ack && parameters_.quick_ack))
    return true;
  const SimTime now = context_.timeline.now();
  platform::LinkFailures& failures = *context_.failures;
  const platform::LinkFailures::Way way = failures.find(flight.source, flight.target, now);
  if (way.route != nullptr) {
    if (flight.blocked_since != sim::never)
      failures.counts.waited += now - std::exchange(flight.blocked_since, sim::never);
    flight.passage.route = way.route;
    flight.detour = way.detour;
    return true;
  }
  leave_queue(flight, flight.next);
  if (way.from == sim::never) {
    give_up(flight);
    return false;
  }
  if (flight.blocked_since == sim::never) {
    ++failures.counts.delayed;
    flight.blocked_since = now;
  }
  schedule(flight, Stage::blocked, way.from);
  return false;
}

// There will never be a way.
void BxiModel::give_up(Flight& flight)
{
  Nic& nic = nics_[flight.source];
  const NodeIndex source = flight.source;
  bool freed = false;
  if (flight.holds_slot) {
    flight.holds_slot = false;
    --nic.queues[flight.queue].slots_used;
    freed = std::exchange(nic.refused, false);
  }
  fail(flight, TransferFailure::undeliverable);
  if (freed)
    context_.listener->command_slot_free(source);
}

// Of an end-to-end acknowledgement, which waits for a way if there is none when it would be sent. Null: there will
// never be one.
const platform::Route* BxiModel::way_back(const Flight& flight, SimTime& sent)
{
  if (context_.failures == nullptr)
    return &context_.platform.route(flight.target, flight.source);
  platform::LinkFailures::Way way = context_.failures->find(flight.target, flight.source, sent);
  if (way.from == sim::never)
    return nullptr;
  sent = way.from;
  if (way.route == nullptr)
    way = context_.failures->find(flight.target, flight.source, sent);
  return way.route;
}

} // namespace umwelt::net
