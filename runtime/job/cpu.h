// SPDX-License-Identifier: LGPL-2.1-or-later
// How the computing of ranks becomes simulated time (--cpu, --cpu-threshold, --cpu-first-touch).
#pragma once

#include <cstdint>
#include <optional>

#include "preload/gate/gate.h"
#include "runtime/cli/options.h"
#include "runtime/engine/burst_meter.h"

namespace umwelt::job
{

class Cpu
{
public:
  Cpu(const cli::CpuPolicy& policy, sim::SimTime threshold, sim::SimTime first_touch);

  // Length of a burst that began at `begin` ticks and ends now; 0 if it is to be dropped. A burst in which the program has
  // looked at the clock is never dropped: it has seen that time.
  sim::SimTime burst(std::uint64_t begin, bool looked);
  // What has gone by since the last burst ended is nobody's.
  void skip()
  {
    if (meter_)
      meter_->skip();
  }
  // How the shim is to read the clock between crossings.
  void set_up(umw_clock& clock) const;
  [[nodiscard]] bool measured() const { return meter_.has_value(); }
  // What a measured burst lacks when it begins with data that the NIC has just written: the miss of its first line.
  [[nodiscard]] sim::SimTime first_touch() const { return measured() ? first_touch_ : 0; }

private:
  cli::CpuPolicy policy_;
  sim::SimTime threshold_;
  sim::SimTime first_touch_;
  std::optional<engine::BurstMeter> meter_;
  std::int64_t realtime_origin_ns_; // one clock for all ranks
};

} // namespace umwelt::job
