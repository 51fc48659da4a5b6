// SPDX-License-Identifier: LGPL-2.1-or-later
// Where links fail (--fault): flows over a link that fails are stopped, and begin anew over another way or when there
// is one. What must not overtake a message that has to wait departs behind it.
#include "net_models/flow/model.h"

#include <algorithm>
#include <utility>

#include "platforms/link_failures.h"

namespace umwelt::net
{

// Not before a message of the same processes that had to wait.
SimTime* FlowModel::earliest(const Transfer& transfer)
{
  return transfer.ordered() ? &departs_[transfer.processes()] : nullptr;
}

// False: it departs later, or never.
bool FlowModel::find_way(Flight& flight)
{
  const Transfer& transfer = *flight.transfer;
  const SimTime now = context_.timeline.now();
  SimTime* const in_turn = flight.header_told ? nullptr : earliest(transfer);
  if (in_turn != nullptr && now < *in_turn) {
    begin_to_wait(flight);
    schedule(flight, Stage::inject, *in_turn);
    return false;
  }
  platform::LinkFailures& failures = *context_.failures;
  const platform::LinkFailures::Way way = failures.find(transfer.source, transfer.target, now);
  if (way.from == sim::never) {
    ++failures.counts.failed;
    flight.sent = now;
    schedule(flight, Stage::failed, now);
    return false;
  }
  if (way.route == nullptr) {
    begin_to_wait(flight);
    depart_at(flight, way.from);
    return false;
  }
  if (flight.blocked_since != sim::never)
    failures.counts.waited += now - std::exchange(flight.blocked_since, sim::never);
  failures.counts.rerouted += way.detour ? 1 : 0;
  flight.route = way.route;
  return true;
}

void FlowModel::begin_to_wait(Flight& flight)
{
  if (flight.blocked_since != sim::never)
    return;
  ++context_.failures->counts.delayed;
  flight.blocked_since = context_.timeline.now();
}

void FlowModel::depart_at(Flight& flight, SimTime when)
{
  if (SimTime* const in_turn = flight.header_told ? nullptr : earliest(*flight.transfer); in_turn != nullptr)
    *in_turn = std::max(*in_turn, when);
  schedule(flight, Stage::inject, when);
}

// Whether a link of its way fails before its header is there.
bool FlowModel::is_cut(Flight& flight, SimTime header_at)
{
  const SimTime cut = context_.failures->first_failure(*flight.route, context_.timeline.now(), header_at);
  if (cut == sim::never)
    return false;
  ++context_.failures->counts.resent;
  depart_at(flight, cut);
  return true;
}

// A flow begins: its links may fail while it lasts.
void FlowModel::await_failure(const Flight& flight)
{
  const SimTime next = context_.failures->first_failure(*flight.route, context_.timeline.now() + 1, sim::never);
  if (next == sim::never || (failure_.pending() && failure_.when() <= next))
    return;
  context_.timeline.schedule(failure_, next);
}

// Stops the flows over links that have failed. True: there were some.
bool FlowModel::cut_running()
{
  const SimTime now = context_.timeline.now();
  failure_.due = false;
  bool any = false;
  solver_.stop_if([&](FluidFlow& flow) {
    Flight& flight = static_cast<Flight&>(flow);
    if (context_.failures->whole(*flight.route, now)) {
      await_failure(flight);
      return false;
    }
    send_again(flight, now);
    return any = true;
  });
  return any;
}

void FlowModel::send_again(Flight& flight, SimTime when)
{
  ++context_.failures->counts.resent;
  if (flight.header_told)
    schedule(flight, Stage::inject, when);
  else
    flight.cut = true; // its header is there already, but waits for earlier ones
}

} // namespace umwelt::net
