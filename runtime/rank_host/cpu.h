// SPDX-License-Identifier: LGPL-2.1-or-later
// How the computing of ranks becomes simulated time (--cpu, --cpu-threshold, --cpu-first-touch). What the policy of a
// rank is may change (job/computing.h), so the rank's clock knows.
#pragma once

#include <cstdint>
#include <optional>

#include "preload/abi/gate.h"
#include "runtime/engine/burst_meter.h"
#include "runtime/engine/cpu_policy.h"
#include "runtime/rank_host/burst.h"

namespace umwelt::rank_host
{

class Cpu
{
public:
  // `clock_read`: what a read of the clock takes where bursts are not measured, since a program that waits for the
  // clock to move must see it move.
  // `measures`: there may be ranks whose bursts are measured.
  Cpu(bool measures, sim::SimTime threshold, sim::SimTime first_touch, sim::SimTime clock_read, const Pace& pace = {});

  // CPU time of a burst of the calling thread that began at `begin` ticks and ends now; 0 if bursts are not measured.
  sim::SimTime measure(std::uint64_t begin) { return meter_ ? meter_->measure(begin) : 0; }
  // What a burst counts for, of a rank with that clock; 0 if it is to be dropped. A burst in which the program has
  // looked at the clock is never dropped: it has seen that time.
  [[nodiscard]] sim::SimTime charge(const umw_clock& clock, const Burst& burst, bool looked) const;
  // The least that a burst counts for that has used `cpu` so far and goes on.
  [[nodiscard]] sim::SimTime least_charge(const umw_clock& clock, sim::SimTime cpu) const
  {
    return cpu > threshold_ ? charge(clock, {cpu}, true) : 0;
  }
  // What a program's own read of the time stamp counter counts in: this machine's ticks, or others that are the same
  // everywhere.
  [[nodiscard]] double ps_per_time_stamp() const { return meter_ ? meter_->ps_per_tick() : 500; }
  // A burst begins now; what has gone by since the last one ended is nobody's. Ticks, 0 if bursts are not measured.
  std::uint64_t begin() { return meter_ ? meter_->begin() : 0; }
  // CPU time of the calling thread; 0 if bursts are not measured.
  [[nodiscard]] sim::SimTime now() const { return meter_ ? engine::BurstMeter::cpu() : 0; }
  // What has gone by since `pause` ticks is not part of the burst; returns its new begin (BurstMeter::exclude).
  std::uint64_t exclude(std::uint64_t begin, std::uint64_t pause)
  {
    return meter_ ? meter_->exclude(begin, pause) : begin;
  }
  // How the shim is to read the clock between crossings, and bursts of the rank are to count, until the next use().
  void set_up(umw_clock& clock) const;
  // `speed`: of the rank's cores, in the DVFS state that has that pace. Between bursts.
  void use(umw_clock& clock, const engine::CpuPolicy& policy, double speed, double pace = 1) const;
  // Some bursts are: not every run is like the other.
  [[nodiscard]] bool measured() const { return meter_.has_value(); }
  // Those of a rank with that clock are.
  [[nodiscard]] static bool measures(const umw_clock& clock) { return clock.ps_per_tick > 0; }
  // Of the time stamp counter; 0 if bursts are not measured.
  [[nodiscard]] double ticks_per_ps() const { return meter_ ? 1 / meter_->ps_per_tick() : 0; }
  // Of short bursts; none where bursts are not measured.
  [[nodiscard]] Pace pace() const { return measured() ? pace_ : Pace{}; }
  // What a measured burst lacks when it begins with data that the NIC has just written: the miss of its first line.
  [[nodiscard]] sim::SimTime first_touch(const umw_clock& clock) const { return measures(clock) ? first_touch_ : 0; }

private:
  sim::SimTime threshold_;
  sim::SimTime first_touch_;
  sim::SimTime clock_read_;
  Pace pace_;
  std::optional<engine::BurstMeter> meter_;
  std::int64_t realtime_origin_ns_; // one clock for all ranks
};

} // namespace umwelt::rank_host
