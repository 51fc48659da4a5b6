// SPDX-License-Identifier: LGPL-2.1-or-later
// Planned models on a machine whose links fail. A plan that a failure would cut is no plan: the transfer departs again
// when the link fails, over another way or when there is one. What must not overtake it departs behind it.
#include "net_models/core/planned_model.h"

#include <utility>

#include "platforms/link_failures.h"

namespace umwelt::net
{

void PlannedModel::start_in_turn(Flight& flight)
{
  flight.departed = false;
  flight.undeliverable = false;
  flight.waits_since = sim::never;
  flight.queue = nullptr;
  if (!flight.transfer->ordered()) {
    depart(flight);
    return;
  }
  Queue& queue = queues_[flight.transfer->processes()];
  flight.queue = &queue;
  queue.push_back(&flight);
  if (queue.size() == 1)
    let_depart(queue);
  else
    begin_to_wait(flight);
}

void PlannedModel::begin_to_wait(Flight& flight)
{
  if (flight.waits_since != sim::never)
    return;
  ++context_.failures->counts.delayed;
  flight.waits_since = timeline().now();
}

// False: it has to wait, or to be sent again. (One that can never go has nothing to wait for.)
bool PlannedModel::depart(Flight& flight)
{
  const Transfer& transfer = *flight.transfer;
  platform::LinkFailures& failures = *context_.failures;
  const SimTime now = timeline().now();
  const platform::LinkFailures::Way way = failures.find(transfer.source, transfer.target, now);
  if (way.from == sim::never) {
    ++failures.counts.failed;
    flight.undeliverable = true;
    timeline().schedule(flight, now);
    return true;
  }
  if (way.route == nullptr) {
    begin_to_wait(flight);
    timeline().schedule(flight, way.from);
    return false;
  }
  if (flight.waits_since != sim::never)
    failures.counts.waited += now - std::exchange(flight.waits_since, sim::never);
  route_ = way.route;
  flight.plan = plan(transfer);
  route_ = nullptr;
  if (const SimTime cut = failures.first_failure(*way.route, now, flight.plan.last_byte); cut != sim::never) {
    ++failures.counts.resent;
    timeline().schedule(flight, cut);
    return false;
  }
  failures.counts.rerouted += way.detour ? 1 : 0;
  flight.departed = true;
  keep_order(flight);
  schedule_next(flight);
  return true;
}

void PlannedModel::let_depart(Queue& queue)
{
  while (!queue.empty() && depart(*queue.front()))
    queue.pop_front();
}

void PlannedModel::try_again(Flight& flight)
{
  if (flight.undeliverable) {
    Transfer& transfer = *flight.transfer;
    flight.departed = true;
    flights_.release(flight);
    transfer.client->failed(transfer, TransferFailure::undeliverable);
  } else if (flight.queue != nullptr) {
    let_depart(*flight.queue);
  } else {
    depart(flight);
  }
}

} // namespace umwelt::net
