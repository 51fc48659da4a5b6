// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/burst_meter.h"

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
  constexpr std::int64_t good_enough = 2'000;  // ns, of the reads at both ends
  constexpr int enough = 3;
  constexpr int most = 50; // on a busy machine
  double best = 0;
  double best_error = 1e30;
  for (int i = 0; i < enough || (i < most && best_error > good_enough); ++i) {
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

std::int64_t MachineClocks::cpu_ns()
{
  return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

std::int64_t MachineClocks::monotonic_ns()
{
  return nanoseconds(CLOCK_MONOTONIC);
}

BurstMeter::BurstMeter() : MeterOn({}, measure_frequency(), find_timer_ticks())
{
}

} // namespace umwelt::engine
