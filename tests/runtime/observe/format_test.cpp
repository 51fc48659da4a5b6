// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/format.h"

#include <gtest/gtest.h>
#include <limits>

namespace umwelt::observe
{
namespace
{

TEST(ShowTime, PicksTheUnit)
{
  EXPECT_EQ(show_time(0), "0");
  EXPECT_EQ(show_time(999), "999 ps");
  EXPECT_EQ(show_time(1234), "1.234 ns");
  EXPECT_EQ(show_time(12'345'678), "12.35 us");
  EXPECT_EQ(show_time(123'456'789'000), "123.5 ms");
  EXPECT_EQ(show_time(1234 * sim::second), "1234 s");
}

TEST(ShowTime, RoundsIntoTheNextUnit)
{
  EXPECT_EQ(show_time(999'999), "1.000 us");
}

TEST(ShowSeconds, TurnsToHoursWhenItIsLong)
{
  EXPECT_EQ(show_seconds(0.5), "0.50 s");
  EXPECT_EQ(show_seconds(61.24), "61.2 s");
  EXPECT_EQ(show_seconds(3723.4), "1:02:03");
}

TEST(ShowBytes, CountsIn1024)
{
  EXPECT_EQ(show_bytes(1023), "1023 B");
  EXPECT_EQ(show_bytes(1536), "1.500 KiB");
  EXPECT_EQ(show_bytes(std::uint64_t{20} << 30), "20.00 GiB");
}

TEST(ShowCount, IsExactBelowAMillion)
{
  EXPECT_EQ(show_count(999'999), "999999");
  EXPECT_EQ(show_count(1'234'567), "1.235 M");
  EXPECT_EQ(show_count(std::numeric_limits<std::uint64_t>::max()), "18.45 E");
}

TEST(ShowRate, HasAUnit)
{
  EXPECT_EQ(show_rate(201'000), "201.0 k/s");
  EXPECT_EQ(show_rate(std::numeric_limits<double>::infinity()), "-");
}

} // namespace
} // namespace umwelt::observe
