// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/core/planned_model.h"

#include <algorithm>

#include "net_models/core/observer.h"
#include "platforms/platform.h"

namespace umwelt::net
{

PlannedModel::PlannedModel(const ModelContext& context) : context_(context), writes_(context.platform.node_count())
{
}

const platform::Route& PlannedModel::route_of(const Transfer& transfer) const
{
  return route_ != nullptr ? *route_ : context_.platform.route(transfer.source, transfer.target);
}

void PlannedModel::keep_order(const Transfer& transfer, Plan& plan)
{
  if (!transfer.ordered())
    return;
  SimTime& last = ordered_[transfer.processes()];
  plan.header = std::max(plan.header, last);
  plan.last_byte = std::max(plan.last_byte, plan.header);
  last = plan.header;
}

bool PlannedModel::start(Transfer& transfer)
{
  Flight& flight = flights_.acquire();
  flight.model = this;
  flight.transfer = &transfer;
  flight.source_told = false;
  flight.header_told = false;
  transfer.state = &flight;
  flight.started = timeline().now();
  if (context_.failures != nullptr) [[unlikely]] {
    start_in_turn(flight);
    return true;
  }
  flight.plan = plan(transfer);
  keep_order(transfer, flight.plan);
  schedule_next(flight);
  return true;
}

void PlannedModel::schedule_next(Flight& flight)
{
  const Plan& plan = flight.plan;
  SimTime next = flight.header_told ? plan.last_byte : plan.header;
  if (!flight.source_told) // delivered() waits for it: these models hold no buffer for longer than the bytes travel
    next = flight.header_told ? plan.source_free : std::min(plan.header, plan.source_free);
  timeline().schedule(flight, next);
}

void PlannedModel::advance(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  if (!flight.departed) [[unlikely]]
    return try_again(flight);
  if (!flight.source_told && flight.plan.source_free <= timeline().now()) {
    flight.source_told = true;
    transfer.client->source_read(transfer);
  }
  if (!flight.header_told && flight.plan.header <= timeline().now()) {
    flight.header_told = true;
    transfer.client->header_arrived(transfer);
    if (transfer.deposit == 0)
      flight.plan.last_byte = timeline().now();
  }
  if (flight.header_told && flight.source_told && flight.plan.last_byte <= timeline().now()) {
    if (context_.observer != nullptr) [[unlikely]]
      tell(flight);
    flights_.release(flight);
    transfer.client->delivered(transfer);
    return;
  }
  schedule_next(flight);
}

void PlannedModel::tell(const Flight& flight) const
{
  const Transfer& transfer = *flight.transfer;
  context_.observer->stage({.kind = StageKind::message,
                            .service = transfer.service,
                            .response = is_response(transfer.kind),
                            .node = transfer.source,
                            .peer = transfer.target,
                            .transfer = context_.observer->started(transfer),
                            .initiator_process = transfer.initiator_process,
                            .target_process = transfer.target_process,
                            .bytes = transfer.payload,
                            .start = flight.started,
                            .end = flight.plan.last_byte});
}

void PlannedModel::write_to_host(NodeIndex node, WriteKind kind, HostWrite& write)
{
  writes_[node].post(timeline(), timeline().now() + write_delay(kind), write);
}

} // namespace umwelt::net
