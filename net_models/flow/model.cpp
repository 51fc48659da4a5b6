// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/flow/model.h"

#include <algorithm>

#include <simgrid/Exception.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include "platforms/platform.h"

namespace umwelt::net
{

FlowModel::FlowModel(const ModelContext& context, const FlowParameters& parameters)
    : context_(context), parameters_(parameters), writes_(context.platform.node_count()),
      epoch_(simgrid::s4u::Engine::get_clock() - sim::to_seconds(context.timeline.now()))
{
}

FlowModel::~FlowModel() = default;

SimTime FlowModel::issue_cost(const Transfer& transfer) const
{
  return transfer.from_host ? parameters_.issue : 0;
}

SimTime FlowModel::simgrid_now() const
{
  return sim::from_seconds(simgrid::s4u::Engine::get_clock() - epoch_);
}

void FlowModel::schedule(Flight& flight, Stage stage, SimTime when)
{
  flight.stage = stage;
  context_.timeline.schedule(flight, when);
}

bool FlowModel::start(Transfer& transfer)
{
  Flight& flight = flights_.take();
  flight.model = this;
  flight.transfer = &transfer;
  flight.header_told = false;
  flight.carried = false;
  transfer.state = &flight;
  flight.started = context_.timeline.now();
  schedule(flight, Stage::inject, context_.timeline.now() + parameters_.overhead);
  return true;
}

void FlowModel::advance(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  switch (flight.stage) {
  case Stage::inject:
    return inject(flight);
  case Stage::header:
    flight.header_told = true;
    transfer.client->header_arrived(transfer);
    if (flight.carried)
      finish(flight);
    return;
  case Stage::done:
    return finish(flight);
  case Stage::failed:
    if (context_.observer != nullptr) [[unlikely]]
      tell(flight, StageOutcome::lost);
    flights_.give(flight);
    return transfer.client->failed(transfer, TransferFailure::undeliverable);
  }
}

void FlowModel::inject(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  const platform::Platform& platform = context_.platform;
  const platform::Route& route = platform.route(transfer.source, transfer.target);
  const SimTime now = context_.timeline.now();

  const bool flows = transfer.payload > 0 && !route.links.empty();
  flight.header_at = now + route.latency;
  if (!flows) // a node's own copy is seen whole
    flight.header_at += sim::transfer_time(transfer.payload, parameters_.loopback_bandwidth);
  if (!is_response(transfer.kind) && !transfer.unordered) {
    SimTime& last = ordered_[static_cast<std::uint64_t>(transfer.initiator_process) << 32 | transfer.target_process];
    flight.header_at = last = std::max(last, flight.header_at);
  }
  flight.carried = !flows;
  if (flows)
    waiting_.push_back(&flight);
  schedule(flight, Stage::header, flight.header_at);
}

// Events fire on whatever stack the engine is on, maybe a rank's; SimGrid may be entered from its actor's own stack only,
// which is where the engine calls advance_external().
void FlowModel::begin_waiting()
{
  const SimTime now = context_.timeline.now();
  if (simgrid_now() < now) // between our calls SimGrid's clock stands still
    simgrid::s4u::this_actor::sleep_until(epoch_ + sim::to_seconds(now));
  for (Flight* const flight : waiting_) {
    const Transfer& transfer = *flight->transfer;
    simgrid::s4u::CommPtr comm = simgrid::s4u::Comm::sendto_init(context_.platform.node(transfer.source).host,
                                                                 context_.platform.node(transfer.target).host);
    comm->set_payload_size(transfer.payload)->start();
    running_.push_back(std::move(comm));
    running_flights_.push_back(flight);
  }
  waiting_.clear();
}

bool FlowModel::advance_external(SimTime limit)
{
  if (!waiting_.empty())
    begin_waiting();
  const double seconds_left = limit == sim::never ? -1 : sim::to_seconds(limit - simgrid_now());
  if (limit != sim::never && seconds_left <= 0)
    return false;
  ssize_t done = -1;
  bool failed = false;
  try {
    done = simgrid::s4u::Comm::wait_any_for(running_, seconds_left);
  } catch (const simgrid::NetworkFailureException&) { // a link went down: platform files can say so
    const auto broken = std::find_if(running_.begin(), running_.end(), [](const simgrid::s4u::CommPtr& comm) {
      return comm->get_state() == simgrid::s4u::Activity::State::FAILED;
    });
    done = broken - running_.begin();
    failed = true;
  }
  if (done < 0)
    return false;
  const auto index = static_cast<std::size_t>(done);
  Flight& flight = *running_flights_[index];
  running_[index] = std::move(running_.back());
  running_.pop_back();
  running_flights_[index] = running_flights_.back();
  running_flights_.pop_back();

  // Solver and timeline round differently: never in the timeline's past.
  const SimTime when = std::max(simgrid_now(), context_.timeline.now());
  flight.carried = true;
  if (failed)
    schedule(flight, Stage::failed, when);
  else if (flight.header_told)
    schedule(flight, Stage::done, when);
  return true; // otherwise the header, kept back by earlier requests, brings the payload along
}

void FlowModel::finish(Flight& flight)
{
  Transfer& transfer = *flight.transfer;
  if (context_.observer != nullptr) [[unlikely]]
    tell(flight, StageOutcome::done);
  flights_.give(flight);
  transfer.client->source_read(transfer);
  transfer.client->delivered(transfer);
}

void FlowModel::tell(const Flight& flight, StageOutcome outcome) const
{
  const Transfer& transfer = *flight.transfer;
  context_.observer->stage({.kind = StageKind::message,
                            .outcome = outcome,
                            .service = transfer.service,
                            .response = is_response(transfer.kind),
                            .node = transfer.source,
                            .peer = transfer.target,
                            .transfer = context_.observer->started(transfer),
                            .initiator_process = transfer.initiator_process,
                            .target_process = transfer.target_process,
                            .bytes = transfer.payload,
                            .start = flight.started,
                            .end = context_.timeline.now()});
}

void FlowModel::write_to_host(NodeIndex node, WriteKind, HostWrite& write)
{
  writes_[node].post(context_.timeline, context_.timeline.now(), write);
}

} // namespace umwelt::net
