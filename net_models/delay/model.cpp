// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/delay/model.h"

namespace umwelt::net
{

DelayModel::DelayModel(const ModelContext& context, const DelayParameters& parameters)
    : PlannedModel(context), parameters_(parameters)
{
}

SimTime DelayModel::issue_cost(const Transfer& transfer) const
{
  return transfer.from_host ? parameters_.issue : 0;
}

SimTime DelayModel::take_cost(WriteKind) const
{
  return 0;
}

SimTime DelayModel::write_delay(WriteKind) const
{
  return 0;
}

PlannedModel::Plan DelayModel::plan(const Transfer& transfer)
{
  const SimTime bytes = sim::transfer_time(transfer.payload, parameters_.bandwidth);
  const SimTime now = timeline().now();
  return {now + bytes, now + parameters_.latency, now + parameters_.latency + bytes};
}

} // namespace umwelt::net
