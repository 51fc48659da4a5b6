// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/statistics.h"

#include <gtest/gtest.h>

namespace umwelt::observe
{
namespace
{

TEST(SizeHistogram, ClassesArePowersOfTwo)
{
  EXPECT_EQ(SizeHistogram::class_of(0), 0u);
  EXPECT_EQ(SizeHistogram::class_of(1), 1u);
  EXPECT_EQ(SizeHistogram::class_of(7), 3u);
  EXPECT_EQ(SizeHistogram::class_of(8), 4u);
  EXPECT_EQ(SizeHistogram::class_of(~std::uint64_t{0}), 64u);
}

TEST(SizeHistogram, EverySizeLiesWithinItsClass)
{
  for (std::size_t i = 0; i < SizeHistogram::classes; ++i) {
    EXPECT_EQ(SizeHistogram::class_of(SizeHistogram::least(i)), i);
    EXPECT_EQ(SizeHistogram::class_of(SizeHistogram::most(i)), i);
  }
}

TEST(SizeHistogram, CountsAndAddsUp)
{
  SizeHistogram one;
  one.add(8);
  one.add(15);
  SizeHistogram sum;
  sum.add(one);
  sum.add(one);
  EXPECT_EQ(sum.count(4), 4u);
  EXPECT_EQ(sum.count(3), 0u);
}

} // namespace
} // namespace umwelt::observe
