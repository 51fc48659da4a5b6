// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/lateness.h"

#include <gtest/gtest.h>

namespace umwelt::job
{
namespace
{

using sim::microsecond;

class LatenessTest : public testing::Test
{
protected:
  // Blocked from then on, until something that was begun at `began` came; below 0: nothing came.
  void blocked(sim::SimTime from, sim::SimTime until, sim::SimTime began = -1)
  {
    lateness.begin();
    if (began >= 0)
      lateness.came(began * microsecond, ++source, until * microsecond);
    lateness.end(from * microsecond, until * microsecond);
  }
  [[nodiscard]] sim::SimTime total() const { return lateness.total() / microsecond; }

  Lateness lateness;
  std::size_t source = 0; // each time another one
};

TEST_F(LatenessTest, UntilItWasBegunTheOtherWasLate)
{
  blocked(10, 20, 17);
  EXPECT_EQ(total(), 7);
}

TEST_F(LatenessTest, WhatWasOnItsWayAlreadyWasNotLate)
{
  blocked(10, 20, 3);
  EXPECT_EQ(total(), 0);
}

TEST_F(LatenessTest, LooksInBetweenArePartOfTheSameWait)
{
  blocked(10, 12);
  blocked(12, 15);
  blocked(16, 20, 14);
  EXPECT_EQ(total(), 2 + 2);
  blocked(20, 30, 25);
  EXPECT_EQ(total(), 4 + 5) << "each time counts once";
}

TEST_F(LatenessTest, ManyLooksKeepTheirLength)
{
  for (int i = 0; i < 100; ++i)
    blocked(2 * i, 2 * i + 1);
  blocked(200, 210, 205);
  EXPECT_EQ(total(), 100 + 5);
}

TEST_F(LatenessTest, BeforeItComputedItWaitedForSomethingElse)
{
  blocked(0, 10);
  blocked(100, 110, 105);
  EXPECT_EQ(total(), 5);
}

TEST_F(LatenessTest, TheLatestOfWhatCameCounts)
{
  lateness.begin();
  lateness.came(5 * microsecond, 1, 10 * microsecond);
  lateness.came(3 * microsecond, 2, 10 * microsecond);
  lateness.end(0, 10 * microsecond);
  EXPECT_EQ(total(), 5);
}

TEST_F(LatenessTest, WhatCameBeforeIsNotWhatItWaitsFor)
{
  lateness.came(50 * microsecond, 7, 60 * microsecond);
  blocked(10, 12);
  blocked(12, 20, 15);
  EXPECT_EQ(total(), 2 + 3);
}

TEST_F(LatenessTest, WhoSendsPieceAfterPieceIsNotLateWithTheRest)
{
  const auto piece = [this](sim::SimTime from, sim::SimTime began, sim::SimTime until) {
    lateness.begin();
    lateness.came(began * microsecond, 3, until * microsecond);
    lateness.end(from * microsecond, until * microsecond);
  };
  piece(0, 100, 110);
  EXPECT_EQ(total(), 100);
  piece(110, 135, 145);
  piece(145, 150, 160);
  EXPECT_EQ(total(), 100);
  piece(160, 191, 200); // it has done something else
  EXPECT_EQ(total(), 131);
}

TEST_F(LatenessTest, NorIsWhoHasJustGotWhatItAnswersTo)
{
  lateness.exchanged(0, 3, 12 * microsecond);
  lateness.begin();
  lateness.came(40 * microsecond, 3, 50 * microsecond);
  lateness.end(12 * microsecond, 50 * microsecond);
  EXPECT_EQ(total(), 0);
}

TEST_F(LatenessTest, WhatTheRankDoesItselfIsNobodysLateness)
{
  lateness.begin();
  lateness.progress();
  lateness.end(0, 10 * microsecond);
  blocked(10, 20, 15);
  EXPECT_EQ(total(), 5);
}

} // namespace
} // namespace umwelt::job
