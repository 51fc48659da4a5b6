// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/cpu.h"

#include <gtest/gtest.h>

namespace umwelt::rank_host
{
namespace
{

using Kind = engine::CpuPolicy::Kind;
using sim::microsecond;
using sim::nanosecond;

constexpr sim::SimTime threshold = 2 * microsecond;
constexpr sim::SimTime first_touch = 100 * nanosecond;

Cpu cpu(Kind kind)
{
  engine::CpuPolicy policy;
  policy.kind = kind;
  policy.fixed = 7 * microsecond;
  policy.scale = 3;
  return {policy, threshold, first_touch, 25 * nanosecond};
}

TEST(Cpu, MeasuredBurstsCountForWhatTheyAreFromTheThresholdOn)
{
  const Cpu measured = cpu(Kind::measured);
  EXPECT_TRUE(measured.measured());
  EXPECT_EQ(measured.charge({5 * microsecond}, false), 5 * microsecond);
  EXPECT_EQ(measured.charge({1 * microsecond}, false), 0);
  EXPECT_EQ(measured.charge({1 * microsecond}, true), 1 * microsecond) << "the program has seen that time";
}

TEST(Cpu, ScaledBurstsCountForAMultiple)
{
  const Cpu scaled = cpu(Kind::scaled);
  EXPECT_TRUE(scaled.measured());
  EXPECT_EQ(scaled.charge({5 * microsecond}, false), 15 * microsecond);
  EXPECT_EQ(scaled.charge({1 * microsecond}, false), 0) << "the threshold is of real time";
}

TEST(Cpu, UnmeasuredBurstsCountForNothingOrForTheSame)
{
  EXPECT_FALSE(cpu(Kind::none).measured());
  EXPECT_EQ(cpu(Kind::none).charge({5 * microsecond}, true), 0);
  EXPECT_FALSE(cpu(Kind::fixed).measured());
  EXPECT_EQ(cpu(Kind::fixed).charge({0}, false), 7 * microsecond);
}

// Time goes on meanwhile as far as this says, so it must not be more than the burst turns out to be.
TEST(Cpu, ABurstThatGoesOnCountsForAtLeastWhatItHasUsed)
{
  for (const Kind kind : {Kind::measured, Kind::scaled}) {
    const Cpu some = cpu(kind);
    for (sim::SimTime used = 0; used <= 2 * threshold; used += threshold / 4) {
      EXPECT_LE(some.least_charge(used), some.charge({used}, false)) << used;
      if (used > threshold) {
        EXPECT_GE(some.least_charge(used), used);
      }
    }
  }
}

TEST(Cpu, OnlyMeasuredBurstsLackTheirFirstTouch)
{
  EXPECT_EQ(cpu(Kind::measured).first_touch(), first_touch);
  EXPECT_EQ(cpu(Kind::none).first_touch(), 0);
}

TEST(Cpu, TheClockOfARankKnowsWhetherBurstsAreMeasured)
{
  umw_clock clock{};
  cpu(Kind::measured).set_up(clock);
  EXPECT_GT(clock.ps_per_tick, 0);
  EXPECT_EQ(clock.read_cost_ps, 0);
  const double measured = clock.ps_per_tick;
  cpu(Kind::scaled).set_up(clock);
  EXPECT_NEAR(clock.ps_per_tick, 3 * measured, 0.1 * measured);
  cpu(Kind::none).set_up(clock);
  EXPECT_EQ(clock.ps_per_tick, 0);
  EXPECT_GT(clock.read_cost_ps, 0) << "it would stand still";
}

TEST(Cpu, UnmeasuredRunsBeginAtTheSameTime)
{
  umw_clock one{};
  umw_clock other{};
  cpu(Kind::none).set_up(one);
  cpu(Kind::fixed).set_up(other);
  EXPECT_EQ(one.realtime_origin_ns, other.realtime_origin_ns);
  EXPECT_EQ(one.uptime_origin_ns, other.uptime_origin_ns);
}

} // namespace
} // namespace umwelt::rank_host
