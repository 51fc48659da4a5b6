// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/timer_ticks.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace umwelt::engine
{
namespace
{

constexpr double us = 1e6; // ps
constexpr double period = 4000 * us;

// Ticks that begin 17 us into each period and take 20 us or a little more.
std::vector<Gap> ticks(int from, int to)
{
  std::vector<Gap> gaps;
  for (int i = from; i < to; ++i) {
    const double begin = i * period + 17 * us;
    gaps.push_back({begin, begin + (20 + i % 3) * us});
  }
  return gaps;
}

TEST(TimerTicks, AreFoundByTheirPhase)
{
  const TimerTicks found = ticks_among(ticks(100, 107), period, 7 * period);
  EXPECT_EQ(found.period, period);
  EXPECT_NEAR(found.phase, 17 * us, 1);
  EXPECT_NEAR(found.cost, 21 * us, 1);
}

TEST(TimerTicks, AreFoundWhereTheirPhaseIsAboutNothing)
{
  std::vector<Gap> gaps;
  for (int i = 10; i < 16; ++i)
    gaps.push_back({i * period + (i % 2 == 0 ? -1 : 1) * us, i * period + 30 * us});
  const TimerTicks found = ticks_among(gaps, period, 6 * period);
  EXPECT_EQ(found.period, period);
  EXPECT_TRUE(found.phase < 2 * us || found.phase > period - 2 * us) << found.phase;
}

TEST(TimerTicks, AreFoundAmongOtherInterrupts)
{
  std::mt19937_64 random(1); // NOLINT(cert-msc51-cpp): the same every time
  std::uniform_real_distribution<double> anywhere(0, 8 * period);
  std::vector<Gap> gaps = ticks(0, 8);
  for (int i = 0; i < 20; ++i) {
    const double begin = anywhere(random);
    gaps.push_back({begin, begin + 90 * us});
  }
  const TimerTicks found = ticks_among(gaps, period, 8 * period);
  EXPECT_NEAR(found.phase, 17 * us, 10 * us);
  EXPECT_NEAR(found.cost, 21 * us, 2 * us);
}

TEST(TimerTicks, AreNoneWhereInterruptsComeAnyTime)
{
  std::vector<Gap> gaps;
  for (int i = 0; i < 8; ++i)
    gaps.push_back({i * period * 1.13, i * period * 1.13 + 20 * us});
  EXPECT_EQ(ticks_among(gaps, period, 9 * period).period, 0);
  EXPECT_EQ(ticks_among({}, period, 9 * period).period, 0);
  EXPECT_EQ(TimerTicks{}.between(0, 100 * period), 0);
}

TEST(TimerTicks, CostWhatLiesWithin)
{
  const TimerTicks ticks{period, 100 * us, 20 * us};
  EXPECT_EQ(ticks.between(0, 90 * us), 0);
  EXPECT_EQ(ticks.between(110 * us, 4000 * us), 0);
  EXPECT_NEAR(ticks.between(50 * us, 200 * us), 20 * us, 1);
  EXPECT_NEAR(ticks.between(50 * us, 107 * us), 7 * us, 1); // no more than since it began
  EXPECT_NEAR(ticks.between(50 * us, 8200 * us), 60 * us, 1);
}

TEST(TimerTicks, OfThisMachineCostAtMostAPeriod)
{
  const TimerTicks found = find_timer_ticks();
  EXPECT_GE(found.cost, 0);
  EXPECT_LE(found.cost, 200 * us);
  EXPECT_LE(found.phase, found.period);
}

} // namespace
} // namespace umwelt::engine
