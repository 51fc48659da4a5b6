// SPDX-License-Identifier: LGPL-2.1-or-later
// Reliability from NIC to NIC: the end-to-end acknowledgement, and what is sent again or given up without it.
#include "net_models/bxi/model.h"

#include <algorithm>

#include "net_models/bxi/nic.h"
#include "platforms/link_failures.h"

namespace umwelt::net
{

void BxiModel::lose(Flight& flight, TransferFailure why)
{
  ++statistics_.lost;
  observation_.lost(flight);
  fabric_->leave(flight.passage);
  if (!parameters_.e2e && why == TransferFailure::corrupted)
    return fail(flight, why);
  schedule(flight, Stage::resend, std::max(context_.timeline.now(), flight.sent_at + parameters_.e2e_timeout));
}

// The end-to-end ack shares the response's packet if there is one; it takes the same time and no bandwidth of its own.
void BxiModel::await_acknowledgement(Flight& flight)
{
  if (parameters_.quick_ack)
    return schedule(flight, Stage::acknowledged, context_.timeline.now());
  SimTime arrival = 0;
  SimTime sent = flight.posted + parameters_.ack_time;
  const platform::Route* const back = way_back(flight, sent);
  const bool arrives = back != nullptr && fabric_->control(*back, sent, arrival);
  observation_.acknowledged(flight, sent, arrives ? arrival : sent, arrives ? StageOutcome::done : StageOutcome::lost);
  if (!arrives)
    return lose(flight, TransferFailure::undeliverable);
  schedule(flight, Stage::acknowledged, arrival + parameters_.rx_time);
}

void BxiModel::acknowledged(Flight& flight)
{
  Transfer* const transfer = flight.source_told ? nullptr : flight.transfer;
  release_credits(flight);
  recycle(flight);
  if (transfer != nullptr)
    transfer->client->source_read(*transfer);
}

void BxiModel::resend(Flight& flight)
{
  if (!parameters_.e2e || flight.retries >= parameters_.e2e_retries)
    return fail(flight, TransferFailure::undeliverable);
  ++flight.retries;
  ++statistics_.resent;
  if (flight.passage.cut)
    ++context_.failures->counts.resent;
  flight.command_at = context_.timeline.now();
  enqueue(flight);
}

void BxiModel::fail(Flight& flight, TransferFailure why)
{
  ++statistics_.failed;
  if (context_.failures != nullptr)
    ++context_.failures->counts.failed;
  Transfer* const transfer = flight.transfer;
  if (flight.incomplete && !flight.copied)
    nics_[flight.target].writing -= transfer->deposit;
  leave_flow(flight);
  release_credits(flight);
  recycle(flight);
  if (transfer != nullptr)
    transfer->client->failed(*transfer, why);
}

void BxiModel::recycle(Flight& flight)
{
  fabric_->leave(flight.passage);
  flights_.release(flight);
}

} // namespace umwelt::net
