// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/fold/totals.h"

#include <gtest/gtest.h>

namespace umwelt::fold
{
namespace
{

TEST(FoldTotals, AsTextAndBack)
{
  const std::vector<Totals> sent{{1, 1'000'000'000'000, 3, true, ""}, {0, 0, 0, false, "solve.cold"}, {}};
  std::vector<Totals> got;
  add_totals(got, totals_text(sent));
  ASSERT_EQ(got.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(got[i].pieces, sent[i].pieces);
    EXPECT_EQ(got[i].bytes, sent[i].bytes);
    EXPECT_EQ(got[i].forgotten, sent[i].forgotten);
    EXPECT_EQ(got[i].exists, sent[i].exists);
    EXPECT_EQ(got[i].nearest, sent[i].nearest);
  }
}

TEST(FoldTotals, OfAnotherProgramOfTheRankAreAdded)
{
  std::vector<Totals> all{{1, 10, 0, false, ""}};
  add_totals(all, totals_text({{2, 20, 5, false, "near"}}));
  add_totals(all, totals_text({{0, 0, 1, true, "nearer"}, {7, 8, 9, true, ""}}));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].pieces, 3U);
  EXPECT_EQ(all[0].bytes, 30U);
  EXPECT_EQ(all[0].forgotten, 6U);
  EXPECT_TRUE(all[0].exists);
  EXPECT_EQ(all[0].nearest, "near");
  EXPECT_EQ(all[1].forgotten, 9U);
}

TEST(FoldTotals, WhatIsNoSuchTextSaysNothing)
{
  std::vector<Totals> all;
  add_totals(all, "");
  add_totals(all, "what is this");
  EXPECT_TRUE(all.empty());
}

} // namespace
} // namespace umwelt::fold
