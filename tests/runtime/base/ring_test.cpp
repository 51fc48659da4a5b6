// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/ring.h"

#include <gtest/gtest.h>

namespace umwelt::sim
{
namespace
{

TEST(Ring, KeepsOrderWhileItGrowsAndWraps)
{
  Ring<int> ring;
  int in = 0;
  int out = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < round % 13; ++i)
      ring.push(in++);
    while (ring.size() > 5)
      EXPECT_EQ(ring.pop(), out++);
  }
  while (!ring.empty())
    EXPECT_EQ(ring.pop(), out++);
  EXPECT_EQ(in, out);
}

} // namespace
} // namespace umwelt::sim
