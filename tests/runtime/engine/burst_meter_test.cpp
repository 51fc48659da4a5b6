// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/burst_meter.h"

#include <ctime>

#include <gtest/gtest.h>
#include <unistd.h>

namespace umwelt::engine
{
namespace
{

std::int64_t cpu_ns()
{
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

TEST(BurstMeterTest, AgreesWithTheThreadsCpuClock)
{
  // On a busy machine the thread may lose the processor between two of these lines: one good try of several will do.
  double ratio = 0;
  for (int attempt = 0; attempt < 10 && (ratio < 0.95 || ratio > 1.05); ++attempt) {
    BurstMeter meter;
    const std::uint64_t begin = BurstMeter::ticks();
    const std::int64_t before = cpu_ns();
    while (cpu_ns() - before < 20'000'000) {
    }
    const double measured = static_cast<double>(meter.measure(begin));
    ratio = measured / (static_cast<double>(cpu_ns() - before) * 1000);
  }
  EXPECT_NEAR(ratio, 1.0, 0.05);
}

TEST(BurstMeterTest, TimeTheThreadDidNotRunDoesNotCount)
{
  BurstMeter meter;
  const std::uint64_t begin = BurstMeter::ticks();
  usleep(50'000);
  EXPECT_LT(meter.measure(begin), 10 * sim::millisecond);
}

} // namespace
} // namespace umwelt::engine
