// SPDX-License-Identifier: LGPL-2.1-or-later
// What each NIC has done, for the report: adds up the stages of transfers (net_models/core/observer.h) as they come.
// Memory depends on the number of nodes alone. Models without stages tell of messages only.
#pragma once

#include <cstdint>
#include <vector>

#include "net_models/core/observer.h"
#include "runtime/base/time_bins.h"
#include "runtime/observe/details.h"

namespace umwelt::observe
{

class NicLoad final : public net::Observer
{
public:
  // `next` is told everything, too; it may be null.
  explicit NicLoad(net::Observer* next) : next_(next) {}

  std::uint64_t started(const net::Transfer& transfer) override;
  void stage(const net::StageRecord& record) override;

  // Nodes whose NICs have done something, of a run that took so long. Names are left out.
  [[nodiscard]] std::vector<Details::Nic> record(sim::SimTime simulated) const;

private:
  static constexpr std::size_t bins = 64; // a quarter of a KiB for each node

  net::Observer* next_;
  std::vector<Details::Nic> nics_; // by node
  sim::TimeBins queued_{bins};     // time of commands in the NIC, by node
};

} // namespace umwelt::observe
