// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/loggp/model.h"

#include <algorithm>

#include "platforms/platform.h"

namespace umwelt::net
{

LogGPModel::LogGPModel(const ModelContext& context, const LogGPParameters& parameters)
    : PlannedModel(context), parameters_(parameters), nics_(context.platform.node_count())
{
}

SimTime LogGPModel::issue_cost(const Transfer& transfer) const
{
  return transfer.from_host ? parameters_.o : 0;
}

SimTime LogGPModel::take_cost(WriteKind) const
{
  return parameters_.o;
}

SimTime LogGPModel::write_delay(WriteKind) const
{
  return 0;
}

PlannedModel::Plan LogGPModel::plan(const Transfer& transfer)
{
  SimTime latency = parameters_.L;
  double bandwidth = parameters_.G;
  if (parameters_.route) {
    const platform::Route& route = route_of(transfer);
    latency += route.latency;
    bandwidth = std::min(bandwidth, route.bandwidth);
  }
  const SimTime bytes = sim::transfer_time(transfer.payload, bandwidth);
  const SimTime busy = std::max(parameters_.g, bytes);

  SimTime& sender = nics_[transfer.source].sends_until;
  const SimTime sent = std::max(timeline().now(), sender);
  sender = sent + busy;

  if (transfer.handover != nullptr)
    return {sent + bytes, sent + latency, sent + latency + bytes};
  SimTime& receiver = nics_[transfer.target].receives_until;
  const SimTime received = std::max(sent + latency, receiver);
  receiver = received + busy;

  return {sent + bytes, received, received + bytes};
}

PlannedModel::Plan LogGPModel::plan_of_target(const Transfer& transfer)
{
  const SimTime bytes = sim::transfer_time(transfer.payload, parameters_.G);
  SimTime& receiver = nics_[transfer.target].receives_until;
  const SimTime received = std::max(timeline().now(), receiver);
  receiver = received + std::max(parameters_.g, bytes);
  return {received, received, received + bytes};
}

} // namespace umwelt::net
