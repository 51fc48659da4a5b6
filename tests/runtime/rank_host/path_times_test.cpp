// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/path_times.h"

#include <gtest/gtest.h>

namespace umwelt::rank_host
{
namespace
{

using sim::microsecond;
using sim::SimTime;

constexpr SimTime per_instruction = 100; // ps
constexpr PathEnd from = 17;
constexpr PathEnd to = 23;

Count counted(std::uint64_t instructions)
{
  return {static_cast<SimTime>(instructions) * per_instruction, instructions};
}

// Bursts pay for what is counted.
PathTimes after_many_bursts()
{
  PathTimes times;
  for (unsigned i = 0; i < 5000; ++i)
    (void)times.charge(from + 1, to, 2 * PathTimes::longest);
  return times;
}

// Of a path that takes so long here: until it wants to be counted, then so many instructions.
void learn(PathTimes& times, SimTime measured, std::uint64_t instructions, PathEnd end = to,
           unsigned bursts = 10 * PathTimes::first_seen)
{
  for (unsigned i = 0; i < bursts; ++i) {
    if (times.wants_count(from)) {
      (void)times.charge_counted(from, end, counted(instructions));
      return;
    }
    (void)times.charge(from, end, measured);
  }
  FAIL() << "never wanted to be counted";
}

TEST(PathTimes, ChargesWhatWasMeasuredUntilThePathHasBeenCounted)
{
  PathTimes times = after_many_bursts();
  for (unsigned i = 0; i < PathTimes::first_seen; ++i) {
    EXPECT_FALSE(times.wants_count(from));
    const Burst burst = times.charge(from, to, 3 * microsecond);
    EXPECT_EQ(burst.time, 3 * microsecond);
    EXPECT_EQ(burst.learned, 0);
  }
  EXPECT_TRUE(times.wants_count(from));
}

TEST(PathTimes, ChargesInstructionsWhateverItTakesHere)
{
  PathTimes times = after_many_bursts();
  learn(times, 3 * microsecond, 1000);
  for (const SimTime measured : {3 * microsecond, 2 * microsecond, 9 * microsecond}) {
    const Burst burst = times.charge(from, to, measured);
    EXPECT_EQ(burst.time, 1000 * 100);
    EXPECT_EQ(burst.learned, burst.time);
    EXPECT_EQ(burst.doubt, 0);
  }
}

TEST(PathTimes, ABurstThatIsCountedTakesItsInstructions)
{
  PathTimes times = after_many_bursts();
  const Burst burst = times.charge_counted(from, to, counted(700));
  EXPECT_EQ(burst.time, 700 * 100);
  EXPECT_EQ(burst.learned, burst.time);
}

TEST(PathTimes, WhatABurstDoesBesidesIsAdded)
{
  PathTimes times = after_many_bursts();
  learn(times, 2 * microsecond, 1000);
  const Burst burst = times.charge(from, to, 500 * microsecond);
  EXPECT_GT(burst.time, 490 * microsecond);
  EXPECT_LT(burst.time, 500 * microsecond);
  EXPECT_EQ(burst.learned, 1000 * 100);
}

TEST(PathTimes, WhatDisturbsRarelyIsTheHosts)
{
  PathTimes times = after_many_bursts();
  learn(times, 2 * microsecond, 1000);
  for (unsigned i = 1; i <= 10'000; ++i) {
    const bool disturbed = i % 1000 == 0;
    const Burst burst = times.charge(from, to, disturbed ? 42 * microsecond : 2 * microsecond);
    if (burst.learned == burst.time) { // else it is being counted again
      EXPECT_EQ(burst.time, 1000 * 100);
      EXPECT_EQ(burst.left_out > 0, disturbed);
    }
  }
}

TEST(PathTimes, WhatComesAgainAndAgainIsThePrograms)
{
  PathTimes times = after_many_bursts();
  learn(times, 2 * microsecond, 1000);
  SimTime charged = 0;
  SimTime left_out = 0;
  constexpr unsigned bursts = 2000;
  for (unsigned i = 1; i <= bursts; ++i) {
    const Burst burst = times.charge(from, to, i % 20 == 0 ? 202 * microsecond : 2 * microsecond);
    charged += burst.time;
    left_out += burst.left_out;
  }
  constexpr double expected = bursts / 20.0 * 200e6;
  EXPECT_NEAR(static_cast<double>(charged), expected, 0.05 * expected);
  EXPECT_LE(left_out, 202 * microsecond) << "what was left out at first has been added since";
}

// Sixteen ranks take turns on a core.
TEST(PathTimes, ColdCachesAreNothingElse)
{
  PathTimes times = after_many_bursts();
  learn(times, microsecond, 1000);
  EXPECT_EQ(times.charge(from, to, 15 * microsecond).time, 1000 * 100);
}

// A path to compare others with: it takes 5 us more here than its instructions.
void learn_that_caches_are_cold(PathTimes& times)
{
  constexpr PathEnd other = 33;
  for (unsigned i = 0; i < 100 && !times.wants_count(other); ++i)
    (void)times.charge(other, to, 5 * microsecond);
  (void)times.charge_counted(other, to, counted(1000));
  for (unsigned i = 0; i < 2000; ++i)
    (void)times.charge(other, to, 5 * microsecond);
}

TEST(PathTimes, WhereCachesAreColdAShortPathMayTakeLong)
{
  PathTimes times = after_many_bursts();
  learn_that_caches_are_cold(times);
  learn(times, 30 * microsecond, 2000);
  for (unsigned i = 0; i < 200; ++i)
    EXPECT_EQ(times.charge(from, to, 30 * microsecond).time, 2000 * 100) << i;
}

TEST(PathTimes, WhereCachesAreColdAComputationBetweenLooksIsNot)
{
  PathTimes times = after_many_bursts();
  learn_that_caches_are_cold(times);
  constexpr PathEnd look = 16 | a_look;
  EXPECT_EQ(times.charge(look, look, 2 * microsecond).time, 2 * microsecond);
  EXPECT_LT(times.charge(from, look, 2 * microsecond).time, microsecond);
  EXPECT_LT(times.charge(look, to & ~a_look, 2 * microsecond).time, microsecond);
}

TEST(PathTimes, WhereCachesAreColdALongPathIsALongOne)
{
  PathTimes times = after_many_bursts();
  learn_that_caches_are_cold(times);
  for (unsigned i = 0; i < 200; ++i) {
    EXPECT_EQ(times.charge(from, to, 200 * microsecond).time, 200 * microsecond);
    EXPECT_FALSE(times.wants_count(from));
  }
}

// Ticks of the host's kernel, 25 us each, take some twentieth of all paths' time.
TEST(PathTimes, WhatDisturbsAllPathsAlikeIsTheHosts)
{
  constexpr unsigned paths = 8;
  PathTimes times = after_many_bursts();
  for (PathEnd each = 0; each < paths; ++each)
    learn(times, 2 * microsecond, 1000, to + each);
  SimTime charged = 0;
  constexpr unsigned bursts = 40'000;
  for (unsigned i = 0; i < bursts; ++i)
    charged += times.charge(from, to + i % paths, i % 250 == i / 250 % paths ? 27 * microsecond : 2 * microsecond).time;
  EXPECT_NEAR(static_cast<double>(charged), bursts * 1000.0 * 100, 0.2 * bursts * 1000.0 * 100);
}

TEST(PathTimes, WhatOnePathDoesBesidesIsThePrograms)
{
  constexpr unsigned paths = 8;
  PathTimes times = after_many_bursts();
  for (PathEnd each = 0; each < paths; ++each)
    learn(times, 2 * microsecond, 1000, to + each);
  SimTime besides = 0;
  for (unsigned i = 0; i < 40'000; ++i) { // one burst in 50 of one of them
    const Burst burst = times.charge(from, to + i % paths, i % 400 == 0 ? 62 * microsecond : 2 * microsecond);
    besides += burst.time - burst.learned;
  }
  constexpr double expected = 40'000 / 400.0 * 60e6;
  EXPECT_NEAR(static_cast<double>(besides), expected, 0.1 * expected);
}

TEST(PathTimes, OneBurstThatCannotBeCountedIsNotItsWholePath)
{
  PathTimes times = after_many_bursts();
  times.cannot_count(from, to, PathTimes::most_steps);
  learn(times, microsecond, 1000);
  EXPECT_EQ(times.charge(from, to, microsecond).time, 1000 * 100);
  times.cannot_count(from, to, PathTimes::most_steps);
  EXPECT_EQ(times.charge(from, to, microsecond).time, microsecond);
}

TEST(PathTimes, AsColdAsCachesMayBeTheInstructionsCount)
{
  PathTimes times = after_many_bursts();
  learn(times, 8 * microsecond, 5000);
  for (unsigned i = 0; i < 60; ++i)
    EXPECT_EQ(times.charge(from, to, 13 * microsecond).learned, 5000 * 100) << i;
}

TEST(PathTimes, APathThatBecomesALongOneIsMeasured)
{
  PathTimes times = after_many_bursts();
  learn(times, 1 * microsecond, 9000); // as long as here: its like is not to be taken for cold caches
  unsigned last = 0;
  for (unsigned i = 1; i <= 100; ++i)
    if (times.charge(from, to, 100 * microsecond).learned > 0)
      last = i;
  EXPECT_LT(last, 30U);
}

TEST(PathTimes, LongBurstsAreMeasured)
{
  PathTimes times = after_many_bursts();
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_EQ(times.charge(from, to, 2 * PathTimes::longest).learned, 0);
    EXPECT_FALSE(times.wants_count(from));
  }
}

TEST(PathTimes, WhatCannotBeCountedIsMeasured)
{
  PathTimes times = after_many_bursts();
  for (unsigned i = 0; i < 2; ++i)
    times.cannot_count(from, to, 100);
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_EQ(times.charge(from, to, 3 * microsecond).time, 3 * microsecond);
    EXPECT_FALSE(times.wants_count(from));
  }
}

TEST(PathTimes, AnEndThatNobodyKnowsIsMeasured)
{
  PathTimes times = after_many_bursts();
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_EQ(times.charge(0, to, 3 * microsecond).learned, 0);
    EXPECT_EQ(times.charge(from, 0, 3 * microsecond).learned, 0);
    EXPECT_FALSE(times.wants_count(from));
    EXPECT_FALSE(times.wants_count(0));
  }
}

TEST(PathTimes, PathsThatVaryTakeTheirMeanAndSayByHowMuch)
{
  PathTimes times = after_many_bursts();
  learn(times, 2 * microsecond, 800);
  learn(times, 2 * microsecond, 1200);
  const Burst burst = times.charge(from, to, 2 * microsecond);
  EXPECT_EQ(burst.time, 1000 * 100);
  EXPECT_GT(burst.doubt, 100 * 100);
  EXPECT_LT(burst.doubt, 300 * 100);
}

TEST(PathTimes, APathThatBeginsToTakeAnotherTimeIsCountedAgain)
{
  PathTimes times = after_many_bursts();
  for (int i = 0; i < 2; ++i)
    learn(times, 1 * microsecond, 1000);
  learn(times, 4 * microsecond, 3000);
  EXPECT_GT(times.charge(from, to, 4 * microsecond).time, 1900 * 100);
}

TEST(PathTimes, ASteadyPathIsCountedAgainAfterALongTime)
{
  PathTimes times = after_many_bursts();
  learn(times, microsecond, 1000);
  learn(times, microsecond, 1000);
  for (unsigned i = 0; i < 10 * PathTimes::first_seen; ++i) {
    EXPECT_FALSE(times.wants_count(from));
    (void)times.charge(from, to, i < 40 ? microsecond : 2 * microsecond); // caches are full of others
  }
}

TEST(PathTimes, NoFurtherTryOnceItHasBeenCounted)
{
  PathTimes times = after_many_bursts();
  learn(times, microsecond, 1000);
  EXPECT_FALSE(times.wants_count(from));
}

TEST(PathTimes, BurstsPayForWhatIsCounted)
{
  PathTimes times;
  for (unsigned i = 0; i < PathTimes::first_seen; ++i)
    (void)times.charge(from, to, 2 * microsecond);
  EXPECT_FALSE(times.wants_count(from)) << "thousands of steps, after few bursts";
  for (unsigned i = 0; i < 1000; ++i)
    (void)times.charge(from, to, 2 * microsecond);
  EXPECT_TRUE(times.wants_count(from));
}

TEST(PathTimes, APathThatTakesMuchOfTheTimeIsCountedWhateverOthersHaveTaken)
{
  PathTimes times = after_many_bursts();
  for (unsigned i = 0; i < 200; ++i)
    times.cannot_count(from + 2, to, PathTimes::most_steps);
  learn(times, 3 * microsecond, 1000, to, 100'000);
  EXPECT_EQ(times.charge(from, to, 3 * microsecond).time, 1000 * 100);
}

TEST(PathTimes, TriesToCountEndIfThePathEndsElsewhere)
{
  PathTimes times = after_many_bursts();
  for (unsigned i = 0; i < PathTimes::first_seen; ++i)
    (void)times.charge(from, to, microsecond);
  unsigned tries = 0;
  while (times.wants_count(from)) {
    ASSERT_LT(++tries, 10U);
    (void)times.charge_counted(from, to + 2, counted(500));
  }
  EXPECT_GT(tries, 0U);
}

TEST(PathTimes, CountingHasItsPriceEvenInVain)
{
  for (const bool in_vain : {false, true}) {
    PathTimes times = after_many_bursts();
    for (unsigned i = 0; i < 200; ++i)
      if (in_vain)
        times.cannot_count(from, to + 2, PathTimes::most_steps);
      else
        (void)times.charge_counted(from, to + 2, counted(PathTimes::most_steps));
    for (unsigned i = 0; i < PathTimes::first_seen; ++i)
      (void)times.charge(from, to, microsecond);
    EXPECT_FALSE(times.wants_count(from)) << "too much has been spent on it";
  }
}

} // namespace
} // namespace umwelt::rank_host
