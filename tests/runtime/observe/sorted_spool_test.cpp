// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/sorted_spool.h"

#include <vector>

#include <gmock/gmock.h>

namespace umwelt::observe
{
namespace
{

TEST(SortedSpool, SortsWithinMemoryAndBeyond)
{
  for (const std::size_t most : {1000, 100, 7}) {
    SortedSpool<int> spool(most);
    std::vector<int> expected, got;
    for (int i = 0; i < 500; ++i) {
      spool.add(i * 367 % 500);
      expected.push_back(i);
    }
    spool.read([&got](int one) { got.push_back(one); });
    EXPECT_EQ(got, expected) << most;
  }
}

TEST(SortedSpool, EmptyOneHasNothing)
{
  SortedSpool<int> spool;
  spool.read([](int) { FAIL(); });
}

} // namespace
} // namespace umwelt::observe
