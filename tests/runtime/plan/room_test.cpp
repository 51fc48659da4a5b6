// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cli/support.h"

namespace umwelt::plan
{
namespace
{
namespace test = cli::test;

using testing::ElementsAre;
using testing::HasSubstr;

class RoomTest : public testing::Test
{
protected:
  // On as many nodes of four cores as the run wants, or more.
  Room& make(const std::vector<std::string>& arguments, unsigned least = 0)
  {
    run_ = test::parse(arguments);
    std::vector<platform::Node> nodes(std::max(nodes_wanted(run_), least));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].name = std::string("n").append(std::to_string(i));
      nodes[i].cores = 4;
    }
    placement_ = place_ranks(run_, "bxi", nodes);
    return room_.emplace(run_, placement_);
  }
  static std::vector<unsigned> nodes_of(const std::vector<RankPlace>& places)
  {
    std::vector<unsigned> nodes;
    for (const RankPlace& place : places)
      nodes.push_back(place.node);
    return nodes;
  }
  static std::vector<RankPlace> take(Room& room, unsigned ranks, const std::string& hosts = "", bool by_node = false)
  {
    Room::Wish wish{ranks, 0, {}, by_node, std::nullopt};
    if (!hosts.empty())
      wish.hosts = parse_host_list("host", hosts);
    return room.take({&wish, 1});
  }

private:
  RunOptions run_;
  Placement placement_;
  std::optional<Room> room_;
};

TEST_F(RoomTest, FreeNodesComeFirstThenThoseWithFewestRanks)
{
  Room& room = make({"-np", "2", "a"}, 3);
  const auto places = take(room, 4);
  EXPECT_THAT(nodes_of(places), ElementsAre(2, 0, 1, 2));
  EXPECT_EQ(places[1].core, 1u);
  EXPECT_EQ(places[3].local_rank, 1u) << "of the ranks of its job";
  EXPECT_EQ(room.universe(), 2u);
}

TEST_F(RoomTest, EndsWithTheCores)
{
  Room& room = make({"-np", "1", "a"});
  EXPECT_THAT(nodes_of(take(room, 3)), ElementsAre(0, 0, 0));
  EXPECT_THAT(test::error_of([&] { take(room, 1); }), HasSubstr("umwelt run --universe 5"));
}

TEST_F(RoomTest, WhatIsGivenBackIsTakenAgain)
{
  Room& room = make({"-np", "1", "--cpus-per-rank", "2", "a"});
  const auto places = take(room, 1);
  EXPECT_EQ(places[0].core, 2u);
  EXPECT_NE(test::error_of([&] { take(room, 1); }), "");
  room.give(places[0]);
  EXPECT_EQ(take(room, 1)[0].core, 2u);
}

TEST_F(RoomTest, TheUniverseMakesNodesAndIsTheLimit)
{
  Room& room = make({"-np", "1", "--universe", "3", "a"});
  EXPECT_EQ(room.universe(), 3u);
  EXPECT_THAT(test::error_of([&] { take(room, 3); }), HasSubstr("got 2, with 1 rank on 3 nodes"));
  EXPECT_THAT(nodes_of(take(room, 2)), ElementsAre(1, 2));
  EXPECT_NE(test::error_of([&] { take(room, 1); }), "");
}

TEST_F(RoomTest, SlotsOfHostsAreTheLimit)
{
  Room& room = make({"-np", "2", "--host", "a:3,b:2", "app"});
  EXPECT_EQ(room.universe(), 5u);
  EXPECT_THAT(test::error_of([&] { take(room, 4); }), HasSubstr("--oversubscribe"));
  EXPECT_THAT(nodes_of(take(room, 1, "b")), ElementsAre(1));
  EXPECT_THAT(nodes_of(take(room, 2, "", true)), ElementsAre(0, 1));
}

TEST_F(RoomTest, HostsOfASpawnAreThoseOfTheRun)
{
  Room& room = make({"-np", "1", "--host", "a:3,b:2", "app"});
  EXPECT_THAT(test::error_of([&] { take(room, 1, "c"); }), HasSubstr("host c"));
  EXPECT_THAT(test::error_of([&] { take(room, 2, "b:1"); }), HasSubstr("info key"));
  EXPECT_THAT(nodes_of(take(room, 1)), ElementsAre(0)) << "what failed has taken nothing";
}

TEST_F(RoomTest, SeveralProgramsAreTakenTogether)
{
  Room& room = make({"-np", "1", "--universe", "4", "a"});
  const std::vector<Room::Wish> wishes{{1, 0, {}, false, std::nullopt}, {2, 1, {}, false, std::nullopt}};
  const auto places = room.take(wishes);
  EXPECT_THAT(nodes_of(places), ElementsAre(1, 2, 3));
  EXPECT_EQ(places[2].program, 1u);
}

TEST(UniverseTest, IsRefusedWhereItMakesNoSense)
{
  EXPECT_THAT(test::error_of([] {
                test::parse({"-np", "4", "--universe", "3", "a"});
              }),
              HasSubstr("at least the 4 ranks"));
  EXPECT_THAT(test::error_of([] { test::parse({"--host", "a:2", "--universe", "3", "a"}); }), HasSubstr("--host"));
  EXPECT_EQ(nodes_wanted(test::parse({"-np", "1", "--universe", "9", "-N", "4", "a"})), 3u);
}

} // namespace
} // namespace umwelt::plan
