// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/burst_meter.h"

#include <algorithm>
#include <ctime>

namespace umwelt::engine
{

namespace
{

std::int64_t nanoseconds(clockid_t id)
{
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// The best of a few short intervals: an interrupt between two reads only ever lengthens one side.
double measure_frequency()
{
  constexpr std::int64_t interval = 2'000'000; // ns
  double best = 0;
  double best_error = 1e30;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t before = nanoseconds(CLOCK_MONOTONIC_RAW);
    const std::uint64_t first = BurstMeter::ticks();
    const std::int64_t after = nanoseconds(CLOCK_MONOTONIC_RAW);
    std::int64_t end = after;
    while (end < after + interval)
      end = nanoseconds(CLOCK_MONOTONIC_RAW);
    const std::uint64_t last = BurstMeter::ticks();
    const std::int64_t done = nanoseconds(CLOCK_MONOTONIC_RAW);
    const double error = static_cast<double>(after - before + done - end);
    if (error < best_error) {
      best_error = error;
      best = (static_cast<double>(end + done) / 2 - static_cast<double>(before + after) / 2) * 1000 /
             static_cast<double>(last - first);
    }
  }
  return best;
}

} // namespace

BurstMeter::BurstMeter() : ps_per_tick_(measure_frequency())
{
  constexpr double shortest_preemption = 20e6; // ps; the kernel's shortest time slice is far above
  correction_ticks_ = static_cast<std::uint64_t>(shortest_preemption / ps_per_tick_);
  last_ticks_ = ticks();
  last_cpu_ns_ = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

void BurstMeter::skip()
{
  last_ticks_ = ticks();
  last_cpu_ns_ = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

sim::SimTime BurstMeter::measure(std::uint64_t begin)
{
  const std::uint64_t end = ticks();
  const std::uint64_t elapsed = end - begin;
  const double burst = static_cast<double>(elapsed) * ps_per_tick_;
  if (elapsed < correction_ticks_)
    return static_cast<sim::SimTime>(burst);
  // Since the last look at the CPU clock only bursts too short to be interrupted have gone by, so whatever the thread did not
  // run in between, it did not run in this one. The margin covers the error of the frequency.
  const std::int64_t cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  const double wall = static_cast<double>(end - last_ticks_) * ps_per_tick_;
  const double away = wall - static_cast<double>(cpu - last_cpu_ns_) * 1000;
  last_ticks_ = end;
  last_cpu_ns_ = cpu;
  const double margin = 2e6 + wall * 1e-4;
  return static_cast<sim::SimTime>(away > margin ? std::max(burst - away, 0.0) : burst);
}

} // namespace umwelt::engine
