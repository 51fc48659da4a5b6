// SPDX-License-Identifier: LGPL-2.1-or-later
// Several jobs in a run: their names, ranks that meet, what they publish, how they are asked for.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/bootstrap/keys.h"
#include "runtime/bootstrap/meetings.h"
#include "runtime/bootstrap/namespaces.h"
#include "runtime/bootstrap/published.h"
#include "runtime/bootstrap/spawn_request.h"

namespace umwelt::bootstrap
{
namespace
{

using namespace std::string_literals;

TEST(NamespacesTest, RanksOfTheRunBelongToOneJobEach)
{
  Namespaces jobs;
  const Namespace& first = jobs.add("umwelt", 3);
  const Namespace& second = jobs.add("umwelt.2", 2);
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(second.first, 3u);
  EXPECT_EQ(jobs.find("umwelt.2"), &second);
  EXPECT_EQ(jobs.find("umwelt.3"), nullptr);
  EXPECT_EQ(&jobs.of(2), &first);
  EXPECT_EQ(&jobs.of(3), &second);
  EXPECT_EQ(jobs.ranks(), 5u);
}

TEST(KeysTest, GrowWithTheJobs)
{
  Keys keys(1);
  keys.grow(3);
  keys.put(2, "key", "of 2");
  keys.commit(2);
  EXPECT_EQ(*keys.get(0, 2, "key"), "of 2");
  EXPECT_EQ(keys.get_of_any(0, 0, 2, "key"), nullptr) << "of another job";
  EXPECT_EQ(*keys.get_of_any(0, 2, 1, "key"), "of 2");
}

TEST(MeetingsTest, EndWhenTheLastOneHasCome)
{
  Meetings meetings;
  const auto first = meetings.arrive(1, {1, 4});
  EXPECT_FALSE(Meetings::complete(*first));
  EXPECT_EQ(meetings.arrive(4, {1, 4}), first);
  EXPECT_TRUE(Meetings::complete(*first));
  EXPECT_NE(meetings.arrive(1, {1, 4}), first) << "the next one";
}

TEST(MeetingsTest, AreOfTheSameRanks)
{
  Meetings meetings;
  const auto pair = meetings.arrive(1, {1, 4});
  const auto all = meetings.arrive(1, {1, 2, 4});
  EXPECT_NE(pair, all);
  meetings.arrive(4, {1, 2, 4});
  EXPECT_FALSE(Meetings::complete(*pair));
  meetings.arrive(2, {1, 2, 4});
  EXPECT_TRUE(Meetings::complete(*all));
}

TEST(MeetingsTest, TakeTheirTurnForOneWhoIsThereTwice)
{
  Meetings meetings;
  const auto first = meetings.arrive(0, {0, 1});
  const auto second = meetings.arrive(0, {0, 1}); // another thread of it
  EXPECT_NE(first, second);
  EXPECT_EQ(meetings.arrive(1, {0, 1}), first);
  EXPECT_EQ(meetings.arrive(1, {0, 1}), second);
}

TEST(MeetingsTest, DoNotWaitForWhoIsGone)
{
  Meetings meetings;
  const auto before = meetings.arrive(1, {1, 4, 5});
  const auto other = meetings.arrive(1, {1, 5});
  EXPECT_TRUE(meetings.leave(4).empty());
  EXPECT_TRUE(before->bereft);
  EXPECT_FALSE(other->bereft);
  meetings.arrive(5, {1, 4, 5});
  EXPECT_TRUE(Meetings::complete(*before));
  const auto after = meetings.arrive(1, {1, 4, 5});
  EXPECT_FALSE(Meetings::complete(*after));
  EXPECT_EQ(meetings.leave(5), (std::vector{after, other}));
  EXPECT_TRUE(after->bereft);
  EXPECT_FALSE(meetings.arrive(1, {1, 4, 5})->bereft) << "both were gone before it began";
}

TEST(MeetingsTest, EndWithoutWhoHasComeAndIsGone)
{
  Meetings meetings;
  const auto all = meetings.arrive(2, {1, 2});
  EXPECT_TRUE(meetings.leave(2).empty());
  meetings.arrive(1, {1, 2});
  EXPECT_TRUE(Meetings::complete(*all));
  EXPECT_TRUE(all->bereft);
}

TEST(PublishedTest, TheFirstCountsAndWhatIsReadOnceIsGone)
{
  Published published;
  published.add({"name", "a", 0, 1, false, false});
  published.add({"name", "b", 1, 1, false, false});
  published.add({"once", "c", 0, 1, true, false});
  EXPECT_EQ(published.find("name", 1)->value, "a");
  published.read(*published.find("name", 1));
  EXPECT_EQ(published.find("name", 2)->value, "a");
  published.read(*published.find("once", 1));
  EXPECT_EQ(published.find("once", 1), nullptr);
}

TEST(PublishedTest, OnlyItsOwnerTakesItBack)
{
  Published published;
  published.add({"name", "a", 0, 1, false, false});
  published.remove("name", 1, false);
  ASSERT_NE(published.find("name", 1), nullptr);
  published.remove("name", 0, true);
  ASSERT_NE(published.find("name", 1), nullptr) << "of another range";
  published.remove("name", 0, false);
  EXPECT_EQ(published.find("name", 1), nullptr);
}

TEST(PublishedTest, WhatIsOfAJobIsFoundThereOnly)
{
  Published published;
  published.add({"name", "a", 0, 1, false, true});
  EXPECT_EQ(published.find("name", 2), nullptr);
  EXPECT_NE(published.find("name", 1), nullptr);
}

TEST(SpawnRequestTest, IsReadAsItWasWritten)
{
  const SpawnRequest request =
      read_spawn_request("Jmap=node\0N2\0Capp\0Aapp\0Aone two\0A\0EA=b=c\0Iwdir=/\0N1\0Cother\0"s);
  ASSERT_EQ(request.programs.size(), 2u);
  EXPECT_EQ(*find_attribute(request.attributes, "map"), "node");
  const SpawnProgram& program = request.programs[0];
  EXPECT_EQ(program.ranks, 2);
  EXPECT_EQ(program.name, "app");
  EXPECT_EQ(program.argv, (std::vector{"app"s, "one two"s, ""s}));
  EXPECT_EQ(program.environment, std::vector{"A=b=c"s});
  EXPECT_EQ(*find_attribute(program.attributes, "wdir"), "/");
  EXPECT_EQ(find_attribute(program.attributes, "map"), nullptr);
  EXPECT_TRUE(request.programs[1].argv.empty());
}

TEST(SpawnRequestTest, IsRefusedIfItIsNone)
{
  for (const std::string& text :
       {""s, "Jmap=node\0"s, "Capp\0"s, "N2"s, "Nmany\0"s, "N1\0Xapp\0"s, "N1\0Inothing\0"s, "N1\0\0"s})
    EXPECT_THROW(static_cast<void>(read_spawn_request(text)), std::invalid_argument) << text;
}

} // namespace
} // namespace umwelt::bootstrap
