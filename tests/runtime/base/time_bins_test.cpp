// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/time_bins.h"

#include <numeric>
#include <random>

#include <gmock/gmock.h>

namespace umwelt::sim
{
namespace
{

using testing::ElementsAre;
using testing::IsEmpty;

double sum(const std::vector<double>& bins)
{
  return std::accumulate(bins.begin(), bins.end(), 0.0);
}

TEST(TimeBins, AnAmountIsSpreadOverItsTime)
{
  TimeBins bins(8, 10);
  bins.add(0, 5, 25, 40);
  EXPECT_THAT(bins.row(0, 30), ElementsAre(10, 20, 10));
}

TEST(TimeBins, OfNoTimeIsInOneBin)
{
  TimeBins bins(4, 10);
  bins.add(0, 10, 10, 3);
  EXPECT_THAT(bins.row(0, 20), ElementsAre(0, 3));
}

TEST(TimeBins, ALongerRunMakesAllRowsCoarser)
{
  TimeBins bins(4, 10);
  bins.add(0, 0, 40, 40);
  bins.add(1, 0, 10, 1);
  EXPECT_EQ(bins.width(), 10);
  bins.add(1, 40, 50, 2);
  EXPECT_EQ(bins.width(), 20);
  EXPECT_THAT(bins.row(0, 50), ElementsAre(20, 20, 0));
  EXPECT_THAT(bins.row(1, 50), ElementsAre(1, 0, 2));
}

TEST(TimeBins, WhatGoesToTheSameBinCountsAtOnce)
{
  for (const SimTime width : {1, 10}) {
    TimeBins bins(4, width);
    for (int i = 0; i < 3; ++i) {
      bins.add(0, 2 * width, 2 * width, 1);
      bins.add(0, 2 * width, 3 * width - 1, 1);
      EXPECT_EQ(bins.row(0, 4 * width), (std::vector<double>{0, 0, 2.0 * i + 2, 0}));
    }
    bins.add(0, 3 * width, 3 * width, 5); // the next bin begins there
    bins.add(0, 7 * width, 7 * width, 7);
    EXPECT_EQ(bins.row(0, 8 * width), (std::vector<double>{0, 11, 0, 7}));
  }
}

TEST(TimeBins, RowsThatWereNotUsedAreEmpty)
{
  TimeBins bins(4, 10);
  bins.add(2, 0, 10, 1);
  EXPECT_EQ(bins.rows(), 3U);
  EXPECT_THAT(bins.row(0, 10), IsEmpty());
  EXPECT_THAT(bins.row(7, 10), IsEmpty());
}

TEST(TimeBins, NothingIsLost)
{
  std::mt19937_64 random(7);
  TimeBins bins(64, 3);
  double all = 0;
  SimTime end = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto from = static_cast<SimTime>(random() % 1'000'000);
    const SimTime until = from + static_cast<SimTime>(random() % 10'000);
    const auto amount = static_cast<double>(random() % 1000);
    bins.add(random() % 5, from, until, amount);
    all += amount;
    end = std::max(end, until);
  }
  double found = 0;
  for (std::size_t row = 0; row < bins.rows(); ++row)
    found += sum(bins.row(row, end));
  EXPECT_NEAR(found, all, 1e-6 * all);
}

} // namespace
} // namespace umwelt::sim
