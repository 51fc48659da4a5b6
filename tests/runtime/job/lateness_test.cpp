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
      lateness.came(began * microsecond, {});
    lateness.end(from * microsecond, until * microsecond);
  }
  [[nodiscard]] sim::SimTime total() const { return lateness.total() / microsecond; }

  Lateness lateness;
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
  lateness.came(5 * microsecond, {});
  lateness.came(3 * microsecond, {});
  lateness.end(0, 10 * microsecond);
  EXPECT_EQ(total(), 5);
}

TEST_F(LatenessTest, WhatCameBeforeIsNotWhatItWaitsFor)
{
  lateness.came(50 * microsecond, {});
  blocked(10, 12);
  blocked(12, 20, 15);
  EXPECT_EQ(total(), 2 + 3);
}

TEST_F(LatenessTest, WhoSendsPieceAfterPieceIsNotLateWithTheRest)
{
  Exchanges exchanges(4);
  const auto piece = [&](sim::SimTime from, sim::SimTime began, sim::SimTime until) {
    lateness.begin();
    lateness.came(began * microsecond, exchanges.replace(0, 3, began * microsecond, until * microsecond));
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
  Exchanges exchanges(4);
  exchanges.replace(3, 0, 0, 12 * microsecond);
  lateness.begin();
  lateness.came(40 * microsecond, exchanges.replace(0, 3, 40 * microsecond, 50 * microsecond));
  lateness.end(12 * microsecond, 50 * microsecond);
  EXPECT_EQ(total(), 0);
}

TEST(Exchanges, AreThoseOfAPairInEitherDirection)
{
  Exchanges exchanges(3);
  EXPECT_EQ(exchanges.replace(0, 1, 5, 10).last, -sim::never);
  EXPECT_EQ(exchanges.replace(0, 2, 5, 20).last, -sim::never);
  const auto before = exchanges.replace(1, 0, 12, 30);
  EXPECT_EQ(before.last, 10);
  EXPECT_EQ(before.transit, 5);
  EXPECT_EQ(exchanges.replace(0, 0, 30, 31).last, -sim::never) << "with itself is a pair of its own";
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
