// SPDX-License-Identifier: LGPL-2.1-or-later
#include "preload/abi/time_units.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace
{

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t second = UMW_PS_PER_SECOND;

std::int64_t of(timespec t)
{
  return umw_ps_of_timespec(&t);
}

std::int64_t of_microseconds(timeval t)
{
  return umw_ps_of_timeval(&t);
}

std::int64_t between(timespec from, timespec to)
{
  return umw_ps_between(&from, &to);
}

bool is_time(timespec t)
{
  return umw_is_time(&t);
}

TEST(TimeUnits, WhatFitsIsExact)
{
  EXPECT_EQ(of({0, 0}), 0);
  EXPECT_EQ(of({1, 1}), second + 1000);
  EXPECT_EQ(of({-1, 999999999}), -1000);
  EXPECT_EQ(of({9223372, 36854775}), most - 807);
  EXPECT_EQ(of_microseconds({2, 3}), 2 * second + 3000000);
}

TEST(TimeUnits, WhatDoesNotFitIsTheLastThatDoes)
{
  EXPECT_EQ(of({9223372, 36854776}), UMW_PS_NEVER);
  EXPECT_EQ(of({9223373, 0}), UMW_PS_NEVER);
  EXPECT_EQ(of({most, 999999999}), UMW_PS_NEVER);
  EXPECT_EQ(of({-9223373, 0}), least);
  EXPECT_EQ(of({least, 0}), least);
  EXPECT_EQ(of_microseconds({most, 999999}), UMW_PS_NEVER);
}

TEST(TimeUnits, DifferencesOfTimes)
{
  const timespec now{1700000000, 500000000};
  EXPECT_EQ(between(now, now), 0);
  EXPECT_EQ(between(now, {1700000001, 0}), second / 2);
  EXPECT_EQ(between(now, {1699999999, 0}), -(second + second / 2));
  EXPECT_EQ(between(now, {0, 0}), least);
  EXPECT_EQ(between(now, {-1, 0}), least);
  EXPECT_EQ(between(now, {least, 0}), least);
  EXPECT_EQ(between(now, {most, 999999999}), UMW_PS_NEVER);
  EXPECT_EQ(between({-1, 0}, {most, 0}), UMW_PS_NEVER);
}

TEST(TimeUnits, WhatTheKernelTakes)
{
  EXPECT_TRUE(is_time({0, 0}));
  EXPECT_TRUE(is_time({most, 999999999}));
  EXPECT_FALSE(is_time({-1, 0}));
  EXPECT_FALSE(is_time({0, -1}));
  EXPECT_FALSE(is_time({0, 1000000000}));
}

TEST(TimeUnits, BackAgain)
{
  const timespec t = umw_timespec_of(3 * second + 4999);
  EXPECT_EQ(t.tv_sec, 3);
  EXPECT_EQ(t.tv_nsec, 4);
}

TEST(TimeUnits, TimesTooFarAwayDoNotCome)
{
  EXPECT_EQ(umw_time_after(5, 7), 12);
  EXPECT_EQ(umw_time_after(0, UMW_LAST_DATE_PS), UMW_LAST_DATE_PS);
  EXPECT_EQ(umw_time_after(1, UMW_LAST_DATE_PS), UMW_PS_NEVER);
  EXPECT_EQ(umw_time_after(most, most), UMW_PS_NEVER);
}

TEST(TimeUnits, WhatIsLeftOfATimeout)
{
  EXPECT_EQ(umw_ps_left(10, 5, 12), 3);
  EXPECT_EQ(umw_ps_left(10, 5, 15), 0);
  EXPECT_EQ(umw_ps_left(10, 5, 99), 0);
  EXPECT_EQ(umw_ps_left(10, UMW_PS_NEVER, 99), UMW_PS_NEVER);
}

} // namespace
