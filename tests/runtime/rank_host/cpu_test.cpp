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

engine::CpuPolicy policy(Kind kind)
{
  engine::CpuPolicy policy;
  policy.kind = kind;
  policy.fixed = 7 * microsecond;
  policy.scale = 3;
  return policy;
}

// Of a run with that policy, and the clock of one of its ranks.
struct Metered {
  explicit Metered(Kind kind) : cpu(policy(kind).measures(), threshold, first_touch, 25 * nanosecond)
  {
    cpu.set_up(clock);
    cpu.use(clock, policy(kind), 1);
  }
  sim::SimTime charge(sim::SimTime burst, bool looked) const { return cpu.charge(clock, {burst}, looked); }

  Cpu cpu;
  umw_clock clock{};
};

TEST(Cpu, MeasuredBurstsCountForWhatTheyAreFromTheThresholdOn)
{
  const Metered measured(Kind::measured);
  EXPECT_TRUE(measured.cpu.measured());
  EXPECT_EQ(measured.charge(5 * microsecond, false), 5 * microsecond);
  EXPECT_EQ(measured.charge(1 * microsecond, false), 0);
  EXPECT_EQ(measured.charge(1 * microsecond, true), 1 * microsecond) << "the program has seen that time";
}

TEST(Cpu, ScaledBurstsCountForAMultiple)
{
  const Metered scaled(Kind::scaled);
  EXPECT_TRUE(scaled.cpu.measured());
  EXPECT_EQ(scaled.charge(5 * microsecond, false), 15 * microsecond);
  EXPECT_EQ(scaled.charge(1 * microsecond, false), 0) << "the threshold is of real time";
}

TEST(Cpu, WhatWasLearnedIsOfTheSimulatedNodeAlready)
{
  const Metered scaled(Kind::scaled);
  EXPECT_EQ(scaled.cpu.charge(scaled.clock, {5 * microsecond, 2 * microsecond}, false), (2 + 3 * 3) * microsecond);
}

TEST(Cpu, UnmeasuredBurstsCountForNothingOrForTheSame)
{
  EXPECT_FALSE(Metered(Kind::none).cpu.measured());
  EXPECT_EQ(Metered(Kind::none).charge(5 * microsecond, true), 0);
  EXPECT_FALSE(Metered(Kind::fixed).cpu.measured());
  EXPECT_EQ(Metered(Kind::fixed).charge(0, false), 7 * microsecond);
}

// Time goes on meanwhile as far as this says, so it must not be more than the burst turns out to be.
TEST(Cpu, ABurstThatGoesOnCountsForAtLeastWhatItHasUsed)
{
  for (const Kind kind : {Kind::measured, Kind::scaled}) {
    const Metered some(kind);
    for (sim::SimTime used = 0; used <= 2 * threshold; used += threshold / 4) {
      EXPECT_LE(some.cpu.least_charge(some.clock, used), some.charge(used, false)) << used;
      if (used > threshold) {
        EXPECT_GE(some.cpu.least_charge(some.clock, used), used);
      }
    }
  }
}

TEST(Cpu, OnlyMeasuredBurstsLackTheirFirstTouch)
{
  const Metered measured(Kind::measured);
  EXPECT_EQ(measured.cpu.first_touch(measured.clock), first_touch);
  const Metered none(Kind::none);
  EXPECT_EQ(none.cpu.first_touch(none.clock), 0);
}

TEST(Cpu, TheClockOfARankKnowsWhetherBurstsAreMeasured)
{
  Metered run(Kind::measured);
  EXPECT_TRUE(Cpu::measures(run.clock));
  EXPECT_EQ(run.clock.read_cost_ps, 0);
  const double measured = run.clock.ps_per_tick;
  run.cpu.use(run.clock, policy(Kind::scaled), 1);
  EXPECT_NEAR(run.clock.ps_per_tick, 3 * measured, 0.1 * measured);
  run.cpu.use(run.clock, policy(Kind::scaled), 2); // on cores that are twice as fast
  EXPECT_NEAR(run.clock.ps_per_tick, 1.5 * measured, 0.1 * measured);
  const Metered none(Kind::none);
  EXPECT_FALSE(Cpu::measures(none.clock));
  EXPECT_GT(none.clock.read_cost_ps, 0) << "it would stand still";
}

TEST(Cpu, ARankMayHaveAnotherPolicyFromSomeTimeOn)
{
  Metered run(Kind::measured);
  run.cpu.use(run.clock, policy(Kind::none), 1);
  EXPECT_TRUE(run.cpu.measured()) << "others are";
  EXPECT_FALSE(Cpu::measures(run.clock));
  EXPECT_EQ(run.charge(5 * microsecond, true), 0);
  EXPECT_GT(run.clock.read_cost_ps, 0);
  run.cpu.use(run.clock, policy(Kind::fixed), 1);
  EXPECT_EQ(run.charge(5 * microsecond, true), 7 * microsecond);
  run.cpu.use(run.clock, policy(Kind::measured), 1);
  EXPECT_EQ(run.charge(5 * microsecond, true), 5 * microsecond);
  EXPECT_EQ(run.clock.read_cost_ps, 0);
}

TEST(Cpu, UnmeasuredRunsBeginAtTheSameTime)
{
  const Metered one(Kind::none);
  const Metered other(Kind::fixed);
  EXPECT_EQ(one.clock.realtime_origin_ns, other.clock.realtime_origin_ns);
  EXPECT_EQ(one.clock.uptime_origin_ns, other.clock.uptime_origin_ns);
}

} // namespace
} // namespace umwelt::rank_host
