// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/nic_load.h"

#include <algorithm>

namespace umwelt::observe
{

std::uint64_t NicLoad::started(const net::Transfer& transfer)
{
  return next_ != nullptr ? next_->started(transfer) : 1;
}

void NicLoad::stage(const net::StageRecord& record)
{
  if (next_ != nullptr)
    next_->stage(record);
  for (auto node = static_cast<std::uint32_t>(nics_.size()); node <= record.node; ++node)
    nics_.emplace_back().node = node;
  Details::Nic& nic = nics_[record.node];
  switch (record.kind) {
  case net::StageKind::message:
    ++(record.outcome == net::StageOutcome::done ? nic.messages : nic.in_vain);
    nic.bytes += record.outcome == net::StageOutcome::done ? record.bytes : 0;
    break;
  case net::StageKind::command:
    ++nic.commands;
    break;
  case net::StageKind::pio_payload:
  case net::StageKind::dma_payload:
    nic.pci_read_bytes += record.bytes;
    break;
  case net::StageKind::payload_write:
    nic.pci_written_bytes += record.bytes;
    break;
  case net::StageKind::event:
    ++nic.events;
    break;
  case net::StageKind::queue:
    nic.queued += record.end - record.start;
    queued_.add(record.node, record.start, record.end, static_cast<double>(record.end - record.start));
    break;
  case net::StageKind::transmit:
    nic.transmitting += record.end - record.start;
    break;
  case net::StageKind::acknowledgement:
  case net::StageKind::dma_request:
  case net::StageKind::receive:
    break;
  }
}

std::vector<Details::Nic> NicLoad::record(sim::SimTime simulated) const
{
  std::vector<Details::Nic> used;
  for (Details::Nic nic : nics_) {
    if (nic.messages + nic.in_vain + nic.commands + nic.events == 0)
      continue;
    if (nic.node < queued_.rows())
      for (const double time : queued_.row(nic.node, simulated))
        nic.fullest = std::max(nic.fullest, time / static_cast<double>(queued_.width()));
    used.push_back(nic);
  }
  return used;
}

} // namespace umwelt::observe
