// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/collective_times.h"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::mpi
{
namespace
{

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr SimTime takes = 100;

class CollectiveTimesTest : public testing::Test
{
protected:
  std::vector<std::pair<std::uint32_t, SimTime>> comes(std::uint32_t member, SimTime time)
  {
    std::vector<std::pair<std::uint32_t, SimTime>> due;
    for (const CollectiveTimes::Due& one : times.arrive(member, time, [this] {
           ++asked;
           return takes;
         }))
      due.emplace_back(one.member, one.time);
    return due;
  }

  CollectiveTimes times;
  unsigned asked = 0;
};

TEST_F(CollectiveTimesTest, AllWaitForTheLast)
{
  times.begin(shape_of(UMW_COLLECTIVE_Allreduce), 3, 0);
  EXPECT_THAT(comes(1, 5), IsEmpty());
  EXPECT_THAT(comes(2, 7), IsEmpty());
  EXPECT_EQ(asked, 0U);
  EXPECT_THAT(comes(0, 9), ElementsAre(Pair(0, 109), Pair(1, 109), Pair(2, 109)));
  EXPECT_TRUE(times.complete());
  EXPECT_EQ(times.came_at(2), 7);
}

TEST_F(CollectiveTimesTest, TheRootOfABroadcastGoesOnAtOnce)
{
  times.begin(shape_of(UMW_COLLECTIVE_Bcast), 4, 2);
  EXPECT_THAT(comes(0, 5), IsEmpty());
  EXPECT_THAT(comes(2, 10), ElementsAre(Pair(0, 110), Pair(2, 10)));
  EXPECT_THAT(comes(1, 50), ElementsAre(Pair(1, 110)));
  EXPECT_THAT(comes(3, 300), ElementsAre(Pair(3, 300)));
}

TEST_F(CollectiveTimesTest, TheRootOfAReductionWaitsForAll)
{
  times.begin(shape_of(UMW_COLLECTIVE_Reduce), 3, 1);
  EXPECT_THAT(comes(1, 5), IsEmpty());
  EXPECT_THAT(comes(2, 6), ElementsAre(Pair(2, 6)));
  EXPECT_THAT(comes(0, 8), ElementsAre(Pair(0, 8), Pair(1, 108)));
  times.begin(shape_of(UMW_COLLECTIVE_Gather), 2, 0);
  EXPECT_THAT(comes(1, 3), ElementsAre(Pair(1, 3)));
  EXPECT_THAT(comes(0, 4), ElementsAre(Pair(0, 104)));
}

TEST_F(CollectiveTimesTest, AScanWaitsForLowerRanks)
{
  times.begin(shape_of(UMW_COLLECTIVE_Exscan), 4, 0);
  EXPECT_THAT(comes(2, 5), IsEmpty());
  EXPECT_THAT(comes(0, 10), ElementsAre(Pair(0, 10)));
  EXPECT_THAT(comes(1, 20), ElementsAre(Pair(1, 120), Pair(2, 120)));
  EXPECT_THAT(comes(3, 500), ElementsAre(Pair(3, 600)));
}

} // namespace
} // namespace umwelt::mpi
