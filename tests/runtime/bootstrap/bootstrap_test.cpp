// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include "runtime/bootstrap/fence.h"
#include "runtime/bootstrap/keys.h"
#include "runtime/bootstrap/spaces.h"

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

TEST(KeysTest, AKeyIsFoundWithoutKnowingItsRank)
{
  Keys keys(3);
  EXPECT_EQ(keys.get_of_any(0, 0, 3, "key"), nullptr);
  keys.put(2, "key", "of 2");
  EXPECT_EQ(keys.get_of_any(0, 0, 3, "key"), nullptr) << "not committed";
  EXPECT_EQ(*keys.get_of_any(2, 0, 3, "key"), "of 2");
  keys.commit(2);
  EXPECT_EQ(*keys.get_of_any(0, 0, 3, "key"), "of 2");
  keys.put(1, "key", "of 1");
  keys.commit(1);
  EXPECT_EQ(*keys.get_of_any(0, 0, 3, "key"), "of 1");
}

TEST(SpaceTest, TheFirstValueStaysUnlessItIsReplaced)
{
  Space space;
  EXPECT_TRUE(space.add("key", "first"));
  EXPECT_FALSE(space.add("key", "second"));
  EXPECT_EQ(*space.find("key"), "first");
  space.set("key", "third");
  EXPECT_EQ(*space.find("key"), "third");
  EXPECT_EQ(space.find("other"), nullptr);
}

TEST(SpaceTest, PairsAreListedInTheOrderOfTheirFirstValues)
{
  Space space;
  space.set("b", "1");
  space.set("a", "2");
  space.set("b", "3");
  ASSERT_NE(space.at(1), nullptr);
  EXPECT_EQ(space.at(0)->key, "b");
  EXPECT_EQ(space.at(0)->value, "3");
  EXPECT_EQ(space.at(1)->value, "2");
  EXPECT_EQ(space.at(2), nullptr);
  EXPECT_EQ(space.at(-1), nullptr);
}

TEST(SpaceTest, WhatIsLeftAfterARemovalIsFound)
{
  Space space;
  for (const char* key : {"a", "b", "c"})
    space.add(key, key);
  EXPECT_TRUE(space.remove("b"));
  EXPECT_FALSE(space.remove("b"));
  EXPECT_EQ(space.find("b"), nullptr);
  EXPECT_EQ(*space.find("c"), "c");
  EXPECT_EQ(space.at(1)->key, "c");
  EXPECT_TRUE(space.add("b", "again"));
  EXPECT_EQ(space.at(2)->value, "again");
}

TEST(SpacesTest, OthersSeeAPairAfterTheCommitOfItsSpace)
{
  Spaces spaces(2);
  spaces["one"].add("key", "old");
  spaces["two"];
  spaces.put(0, "one", "key", "new");
  spaces.put(0, "two", "key", "2");
  EXPECT_EQ(*spaces.get(0, "one", "key"), "new") << "the rank's own, at once";
  EXPECT_EQ(*spaces.get(1, "one", "key"), "old");
  spaces.commit(1, "one");
  EXPECT_EQ(*spaces.get(1, "one", "key"), "old") << "it was not this rank's";
  spaces.commit(0, "one");
  EXPECT_EQ(*spaces.get(1, "one", "key"), "new");
  EXPECT_EQ(spaces.get(1, "two", "key"), nullptr);
}

TEST(SpacesTest, ASpaceThatIsGoneTakesItsPairsAlong)
{
  Spaces spaces(1);
  EXPECT_EQ(spaces.find("one"), nullptr);
  spaces["one"].add("key", "value");
  spaces.put(0, "one", "late", "value");
  EXPECT_TRUE(spaces.remove("one"));
  EXPECT_FALSE(spaces.remove("one"));
  spaces.commit(0, "one");
  EXPECT_EQ(spaces.find("one"), nullptr);
  EXPECT_EQ(spaces.get(0, "one", "key"), nullptr);
  EXPECT_EQ(spaces.get(0, "one", "late"), nullptr);
}

TEST(FenceTest, TakesLongerThanAnyAcknowledgementAndGrowsWithTheTree)
{
  constexpr sim::SimTime hop = 500 * sim::microsecond;
  EXPECT_EQ(fence_time(1, hop), 2 * hop);
  EXPECT_EQ(fence_time(5, hop), 8 * hop);
  EXPECT_EQ(spawn_time(1, hop), 4 * hop);
  EXPECT_LT(fence_time(2, hop), fence_time(1024, hop));
}

} // namespace
} // namespace umwelt::bootstrap
