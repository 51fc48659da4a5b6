// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include "runtime/bootstrap/fence.h"
#include "runtime/bootstrap/keys.h"

namespace umwelt::bootstrap
{
namespace
{

TEST(KeysTest, OthersSeeAValueAfterTheCommit)
{
  Keys keys(2);
  keys.put(0, "key", "value");
  EXPECT_EQ(keys.get(1, 0, "key"), nullptr);
  keys.commit(0);
  ASSERT_NE(keys.get(1, 0, "key"), nullptr);
  EXPECT_EQ(*keys.get(1, 0, "key"), "value");
}

TEST(KeysTest, ARankSeesItsOwnPutAtOnce)
{
  Keys keys(1);
  keys.put(0, "key", "old");
  keys.commit(0);
  keys.put(0, "key", "new");
  EXPECT_EQ(*keys.get(0, 0, "key"), "new");
}

TEST(KeysTest, RanksDoNotShareKeys)
{
  Keys keys(2);
  keys.put(0, "key", "of 0");
  keys.commit(0);
  EXPECT_EQ(keys.get(0, 1, "key"), nullptr);
  EXPECT_EQ(keys.get(0, 7, "key"), nullptr);
}

TEST(KeysTest, WhatTheRuntimeTellsIsNoCommitOfTheRank)
{
  Keys keys(1);
  keys.tell(0, "umwelt.host", "bxi0");
  EXPECT_FALSE(keys.committed(0));
  EXPECT_EQ(*keys.get(0, 0, "umwelt.host"), "bxi0");
}

TEST(KeysTest, WhatIsPublishedIsThereForEverybodyOnce)
{
  Keys keys(2);
  EXPECT_TRUE(keys.publish("key", "first"));
  EXPECT_FALSE(keys.publish("key", "second"));
  ASSERT_NE(keys.find("key"), nullptr);
  EXPECT_EQ(*keys.find("key"), "first");
  EXPECT_EQ(keys.find("other"), nullptr);
  EXPECT_EQ(keys.get(0, 0, "key"), nullptr) << "it belongs to no rank";
}

TEST(KeysTest, WhatIsPublishedIsListedInOrder)
{
  Keys keys(1);
  keys.publish("b", "1");
  keys.publish("a", "2");
  ASSERT_NE(keys.published(1), nullptr);
  EXPECT_EQ(keys.published(0)->key, "b");
  EXPECT_EQ(keys.published(1)->value, "2");
  EXPECT_EQ(keys.published(2), nullptr);
  EXPECT_EQ(keys.published(-1), nullptr);
}

TEST(FenceTest, TheLastOneCompletesTheRound)
{
  Fence fence(3);
  EXPECT_FALSE(fence.arrive());
  EXPECT_FALSE(fence.arrive());
  EXPECT_TRUE(fence.arrive());
  EXPECT_FALSE(fence.arrive());
}

TEST(FenceTest, TakesLongerThanAnyAcknowledgementAndGrowsWithTheTree)
{
  EXPECT_GT(fence_time(1), 100 * sim::microsecond);
  EXPECT_LT(fence_time(2), fence_time(1024));
}

} // namespace
} // namespace umwelt::bootstrap
