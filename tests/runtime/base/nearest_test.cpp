// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/nearest.h"

#include <array>
#include <gtest/gtest.h>

namespace umwelt
{
namespace
{

TEST(EditDistance, OfEqualWordsIsZero)
{
  EXPECT_EQ(edit_distance("host", "host"), 0u);
}
TEST(EditDistance, OfAnEmptyWordIsTheOthersLength)
{
  EXPECT_EQ(edit_distance("", "host"), 4u);
}
TEST(EditDistance, CountsInsertionDeletionAndSubstitution)
{
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}
TEST(EditDistance, CountsASwapOfNeighboursOnce)
{
  EXPECT_EQ(edit_distance("hsot", "host"), 1u);
}

TEST(Nearest, FindsTheSmallestDistance)
{
  constexpr std::array<std::string_view, 3> known{"timeout", "platform", "model"};
  EXPECT_EQ(nearest("platfrom", known), "platform");
}

TEST(Nearest, TakesTheFirstOfSeveral)
{
  constexpr std::array<std::string_view, 2> known{"ab", "ac"};
  EXPECT_EQ(nearest("ad", known), "ab");
}

TEST(Nearest, IsEmptyWhenNothingIsKnown)
{
  EXPECT_EQ(nearest("word", {}), "");
}

} // namespace
} // namespace umwelt
