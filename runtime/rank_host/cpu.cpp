// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/cpu.h"

#include <ctime>
#include <limits>

namespace umwelt::rank_host
{

namespace
{

// Unmeasured time a rank may run ahead of the others before it settles.
constexpr sim::SimTime longest_debt = 10 * sim::microsecond;
// Simulated time 0 on the wall clock where a run must be reproducible: 2026-01-01 00:00:00 UTC.
constexpr std::int64_t reproducible_origin_ns = 1'767'225'600LL * 1'000'000'000LL;
// The simulated machines were booted a day before.
constexpr std::int64_t uptime_origin_ns = 86'400LL * 1'000'000'000LL;

} // namespace

Cpu::Cpu(bool measures, sim::SimTime threshold, sim::SimTime first_touch, sim::SimTime clock_read, const Pace& pace)
    : threshold_(threshold), first_touch_(first_touch), clock_read_(clock_read), pace_(pace)
{
  if (measures)
    meter_.emplace();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  realtime_origin_ns_ = meter_ ? now.tv_sec * 1'000'000'000LL + now.tv_nsec : reproducible_origin_ns;
}

sim::SimTime Cpu::charge(const umw_clock& clock, const Burst& burst, bool looked) const
{
  if (burst.paused)
    return 0;
  if (!measures(clock))
    return clock.fixed_ps;
  if (burst.time < threshold_ && !looked)
    return 0;
  if (clock.scale == 1)
    return burst.time;
  return burst.learned + static_cast<sim::SimTime>(static_cast<double>(burst.time - burst.learned) * clock.scale);
}

void Cpu::set_up(umw_clock& clock) const
{
  clock.realtime_origin_ns = realtime_origin_ns_;
  clock.uptime_origin_ns = uptime_origin_ns;
  clock.path_ticks = std::numeric_limits<std::uint64_t>::max(); // until a path begins (RankHost::call)
  clock.most_debt_ps = longest_debt;
}

void Cpu::use(umw_clock& clock, const engine::CpuPolicy& policy, double speed, double pace) const
{
  using Kind = engine::CpuPolicy::Kind;
  clock.speed = speed;
  clock.pace = pace;
  clock.scale = policy.kind == Kind::scaled ? policy.scale : 1;
  clock.fixed_ps = policy.kind == Kind::fixed ? policy.fixed : 0;
  if (policy.measures() && meter_) {
    clock.ps_per_tick = meter_->ps_per_tick() * clock.scale / speed; // what it reads of a burst is what that counts for
    clock.settle_ticks = meter_->correction_ticks();
    clock.read_cost_ps = 0;
  } else {
    clock.ps_per_tick = 0;
    clock.read_cost_ps = clock_read_;
    clock.settle_ticks = static_cast<std::uint64_t>(longest_debt);
  }
}

} // namespace umwelt::rank_host
