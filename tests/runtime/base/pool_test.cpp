// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/pool.h"

#include <vector>

#include <gtest/gtest.h>

namespace umwelt::sim
{
namespace
{

TEST(Pool, CountsWhatIsInUse)
{
  Pool<int> pool;
  int& first = pool.acquire();
  pool.acquire();
  EXPECT_EQ(pool.in_use(), 2U);
  pool.release(first);
  EXPECT_EQ(pool.in_use(), 1U);
  EXPECT_EQ(&pool.acquire(), &first);
}

TEST(Pool, AddressesStayWhileItGrows)
{
  Pool<int> pool;
  std::vector<int*> objects;
  for (int i = 0; i < 1000; ++i) {
    objects.push_back(&pool.acquire());
    *objects.back() = i;
  }
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(*objects[static_cast<std::size_t>(i)], i);
}

} // namespace
} // namespace umwelt::sim
