// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/exit_codes.h"

#include <array>
#include <gtest/gtest.h>

namespace umwelt
{
namespace
{

TEST(ExitCode, IsZeroWhenEveryRankEndedWell)
{
  constexpr std::array<RankEnd, 2> ranks{};
  EXPECT_EQ(of_job(ranks), 0);
}

TEST(ExitCode, IsThatOfTheLowestRankThatEndedOtherwise)
{
  constexpr std::array<RankEnd, 3> ranks{{{0, 0}, {3, 0}, {7, 0}}};
  EXPECT_EQ(of_job(ranks), 3);
}

TEST(ExitCode, OfASignalIs128More)
{
  constexpr std::array<RankEnd, 2> ranks{{{0, 11}, {3, 0}}};
  EXPECT_EQ(of_job(ranks), 139);
}

TEST(ExitCode, KeepsTheLowEightBitsAsTheKernelDoes)
{
  constexpr std::array<RankEnd, 2> ranks{{{256, 0}, {-1, 0}}};
  EXPECT_EQ(of_job(ranks), 255);
}

} // namespace
} // namespace umwelt
