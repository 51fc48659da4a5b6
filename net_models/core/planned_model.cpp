// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/core/planned_model.h"

#include <algorithm>

#include "net_models/core/link_load.h"
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

PlannedModel::Plan PlannedModel::plan_of_target(const Transfer&)
{
  const SimTime now = timeline().now();
  return {now, now, now};
}

void PlannedModel::keep_order(Flight& flight)
{
  if (!flight.transfer->ordered())
    return;
  Order& order = ordered_[flight.transfer->processes()];
  Plan& plan = flight.plan;
  plan.header = std::max(plan.header, order.last);
  plan.last_byte = std::max(plan.last_byte, plan.header);
  order.last = plan.header;
  flight.order = &order;
  (order.first == nullptr ? order.first : order.end->next_in_order) = &flight;
  order.end = &flight;
}

PlannedModel::Flight& PlannedModel::take_off(Transfer& transfer)
{
  Flight& flight = flights_.acquire();
  flight.model = this;
  flight.transfer = &transfer;
  flight.source_told = false;
  flight.header_told = false;
  flight.departed = true;
  flight.order = nullptr;
  flight.next_in_order = nullptr;
  flight.tail = 0;
  flight.started = timeline().now();
  transfer.state = &flight;
  return flight;
}

bool PlannedModel::start(Transfer& transfer)
{
  Flight& flight = take_off(transfer);
  if (context_.load != nullptr) [[unlikely]] // these models have no links: as if their bytes went over the platform's
    context_.load->carried(context_.platform.route(transfer.source, transfer.target), transfer.payload,
                           timeline().now());
  if (context_.failures != nullptr) [[unlikely]] {
    start_in_turn(flight);
    return true;
  }
  flight.plan = plan(transfer);
  keep_order(flight);
  schedule_next(flight);
  return true;
}

void PlannedModel::take_in(Transfer& transfer, SimTime tail)
{
  Flight& flight = take_off(transfer);
  flight.source_told = true; // by the sender's model
  flight.tail = tail;
  flight.plan = plan_of_target(transfer);
  keep_order(flight);
  schedule_next(flight);
}

void PlannedModel::tail_moved(Transfer& transfer, SimTime tail)
{
  Flight& flight = static_cast<Flight&>(*transfer.state);
  flight.tail = tail;
  if (flight.header_told)
    schedule_next(flight);
}

void PlannedModel::schedule_next(Flight& flight)
{
  const Plan& plan = flight.plan;
  // delivered() waits for source_read(): these models hold no buffer for longer than the bytes travel
  SimTime next = plan.header;
  if (flight.header_told)
    next = flight.source_told ? last_byte(flight) : plan.source_free;
  else if (!flight.source_told)
    next = std::min(plan.header, plan.source_free);
  if (next == sim::never)
    return timeline().cancel(flight); // until its tail is known
  timeline().schedule(flight, next);
}

void PlannedModel::tell_header(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  if (flight.order != nullptr) {
    Order& order = *flight.order;
    while (order.first != &flight) // due by now, too: the timeline has them in another order
      tell_header(*order.first);
    order.first = flight.next_in_order;
    flight.order = nullptr;
  }
  flight.header_told = true;
  if (transfer.handover == nullptr) {
    transfer.client->header_arrived(transfer);
    if (transfer.payload == 0)
      flight.plan.last_byte = timeline().now();
    return;
  }
  if (context_.observer != nullptr) [[unlikely]]
    tell(flight);
  const SimTime tail = flight.plan.last_byte;
  if (flight.source_told)
    forget(flight);
  transfer.handover->reached(transfer, tail);
}

void PlannedModel::forget(Flight& flight)
{
  timeline().cancel(flight);
  flights_.release(flight);
}

void PlannedModel::advance(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  if (!flight.departed) [[unlikely]]
    return try_again(flight);
  const bool leaves = transfer.handover != nullptr;
  const SimTime now = timeline().now();
  if (!flight.source_told && flight.plan.source_free <= now) {
    flight.source_told = true;
    const bool was_all = leaves && flight.header_told;
    if (was_all)
      forget(flight);
    transfer.client->source_read(transfer); // the transfer may be gone then
    if (was_all)
      return;
  }
  if (!flight.header_told && flight.plan.header <= now) {
    const bool was_all = leaves && flight.source_told;
    tell_header(flight);
    if (was_all)
      return;
  }
  if (!leaves && flight.header_told && flight.source_told && last_byte(flight) <= now) {
    if (context_.observer != nullptr) [[unlikely]]
      tell(flight);
    flights_.release(flight);
    transfer.client->delivered(transfer);
    return;
  }
  schedule_next(flight);
}

SimTime PlannedModel::last_byte(const Flight& flight)
{
  return flight.transfer->payload > 0 ? std::max(flight.plan.last_byte, flight.tail) : flight.plan.last_byte;
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
