// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/size_classes.h"

#include <limits>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>

namespace umwelt::kernels
{
namespace
{

using testing::ElementsAre;
using testing::Key;

using Sizes = std::vector<double>;

TEST(SizeClassesTest, EqualSizesAreOneClass)
{
  SizeClasses classes;
  classes.add(Sizes{4, 5}, 1);
  classes.add(Sizes{4, 5}, 2);
  classes.add(Sizes{5, 4}, 4);
  EXPECT_THAT(classes.classes(), ElementsAre(Key(Sizes{4, 5}), Key(Sizes{5, 4})));
  EXPECT_EQ(classes.classes().at({4, 5}).calls, 2U);
  EXPECT_EQ(classes.classes().at({4, 5}).seconds, 3);
}

TEST(SizeClassesTest, ThoseOfSeveralProcessesAreAdded)
{
  SizeClasses one;
  one.add(Sizes{4}, 0.1);
  SizeClasses other;
  other.add(Sizes{4}, 0.25);
  other.add(Sizes{}, 3);
  ASSERT_EQ(other.texts().size(), 1U);
  std::istringstream text(other.texts().front() + "\n7 next");
  ASSERT_TRUE(one.read(text));
  EXPECT_EQ(one.classes().at({4}).calls, 2U);
  EXPECT_EQ(one.classes().at({4}).seconds, 0.1 + 0.25);
  EXPECT_EQ(one.classes().at({}).seconds, 3);
  int left = 0;
  EXPECT_TRUE(text >> left);
  EXPECT_EQ(left, 7);
}

TEST(SizeClassesTest, WhatIsNoSuchTextIsRefused)
{
  for (const char* text : {"", "x", "2 1 1 1 4", "1 1 1 65", "1 1 1"}) {
    std::istringstream from(text);
    EXPECT_FALSE(SizeClasses().read(from)) << text;
  }
}

TEST(SizeClassesTest, SizesThatNeverRepeatTakeNoMoreMemory)
{
  SizeClasses classes;
  for (int i = 1; i <= 200'000; ++i)
    classes.add(Sizes{static_cast<double>(i)}, 1);
  EXPECT_LT(classes.classes().size(), SizeClasses::most_exact + 8 * 18);
  double calls = 0;
  for (const auto& [sizes, one] : classes.classes())
    calls += static_cast<double>(one.calls);
  EXPECT_EQ(calls, 200'000);
}

TEST(SizeClassesTest, RangesAreOfCalls)
{
  SizeClasses classes;
  for (int i = 0; i < 5; ++i)
    classes.add(Sizes{10, 1}, 1);
  classes.add(Sizes{90, 2}, 1);
  classes.add(Sizes{1, 3}, 1);
  const auto ranges = classes.ranges();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].least, 1);
  EXPECT_EQ(ranges[0].median, 10);
  EXPECT_EQ(ranges[0].most, 90);
  EXPECT_EQ(ranges[1].median, 1);
}

TEST(SizeClassesTest, SizesThatAreNoNumbersAreOneClass)
{
  SizeClasses classes;
  classes.add(Sizes{1, std::numeric_limits<double>::quiet_NaN()}, 1);
  classes.add(Sizes{std::numeric_limits<double>::infinity(), 1}, 1);
  EXPECT_THAT(classes.classes(), ElementsAre(Key(Sizes{})));
  EXPECT_TRUE(classes.ranges().empty());
}

} // namespace
} // namespace umwelt::kernels
