// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/placement.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cli/support.h"

namespace umwelt::plan
{
namespace
{
namespace test = cli::test;

using testing::ElementsAre;

std::vector<platform::Node> cluster(unsigned nodes, unsigned cores)
{
  std::vector<platform::Node> result(nodes);
  for (unsigned i = 0; i < nodes; ++i) {
    result[i].name = std::string("n").append(std::to_string(i));
    result[i].cores = cores;
  }
  return result;
}

Placement place(const std::vector<std::string>& arguments, const std::vector<platform::Node>& nodes)
{
  return place_ranks(test::parse(arguments), "bxi", nodes);
}

std::string place_error(const std::vector<std::string>& arguments, const std::vector<platform::Node>& nodes)
{
  return test::error_of([&] { place(arguments, nodes); });
}

std::vector<unsigned> nodes_of(const Placement& placement)
{
  std::vector<unsigned> nodes;
  for (const RankPlace& rank : placement.ranks)
    nodes.push_back(rank.node);
  return nodes;
}

std::vector<unsigned> nodes_of(const std::vector<std::string>& arguments, const std::vector<platform::Node>& nodes)
{
  return nodes_of(place(arguments, nodes));
}

TEST(NodesWanted, AreAsManyAsRanks)
{
  EXPECT_EQ(nodes_wanted(test::parse({"-np", "8", "a"})), 8u);
}

TEST(Placement, ProgramsAreKnownBeforeThePlatformWhereHostsDoNotDecide)
{
  EXPECT_THAT(programs_before_placement(test::parse({"a"})), testing::ElementsAre(0u));
  EXPECT_THAT(programs_before_placement(test::parse({"-N", "2", "a"})), testing::ElementsAre(0u, 0u));
  EXPECT_THAT(programs_before_placement(test::parse({"-np", "2", "a", ":", "-np", "1", "b"})),
              testing::ElementsAre(0u, 0u, 1u));
  EXPECT_THAT(programs_before_placement(test::parse({"-np", "2", "-host", "bxi0:4", "a"})),
              testing::ElementsAre(0u, 0u));
  EXPECT_THAT(programs_before_placement(test::parse({"-host", "bxi0:4", "a"})), testing::IsEmpty());
}

TEST(NodesWanted, WithoutNpAreOne)
{
  EXPECT_EQ(nodes_wanted(test::parse({"a"})), 1u);
}
TEST(NodesWanted, WithRanksPerNodeAreFewer)
{
  EXPECT_EQ(nodes_wanted(test::parse({"-np", "9", "-N", "4", "a"})), 3u);
}
TEST(NodesWanted, AreTheHosts)
{
  EXPECT_EQ(nodes_wanted(test::parse({"-np", "8", "--host", "a:4,b:4", "a"})), 2u);
}
TEST(NodesWanted, CountAHostOfSeveralProgramsOnce)
{
  EXPECT_EQ(nodes_wanted(test::parse({"-np", "1", "-H", "a,b", "a", ":", "-np", "1", "-H", "b,c", "b"})), 3u);
}
TEST(NodesWanted, AreSummedOverPrograms)
{
  EXPECT_EQ(nodes_wanted(test::parse({"-np", "2", "a", ":", "-np", "3", "b"})), 5u);
}

TEST(Placement, GivesEachRankANodeOfItsOwn)
{
  EXPECT_THAT(nodes_of({"-np", "3", "a"}, cluster(4, 2)), ElementsAre(0, 1, 2));
}

TEST(Placement, WithoutNpHasOneRank)
{
  EXPECT_THAT(nodes_of({"a"}, cluster(4, 2)), ElementsAre(0));
}

TEST(Placement, PacksRanksPerNode)
{
  const Placement placement = place({"-np", "4", "-N", "2", "a"}, cluster(4, 2));
  EXPECT_THAT(nodes_of(placement), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(placement.ranks[1].local_rank, 1u);
  EXPECT_EQ(placement.ranks[1].core, 1u);
  EXPECT_THAT(placement.local_sizes, ElementsAre(2, 2, 0, 0));
}

TEST(Placement, WithRanksPerNodeAndWithoutNpFillsOneNode)
{
  EXPECT_THAT(nodes_of({"-N", "2", "a"}, cluster(4, 2)), ElementsAre(0, 0));
}

TEST(Placement, BySlotFillsTheCoresOfANode)
{
  EXPECT_THAT(nodes_of({"-np", "5", "--map-by", "core", "a"}, cluster(4, 2)), ElementsAre(0, 0, 1, 1, 2));
}

TEST(Placement, ByNodeGoesRoundRobin)
{
  EXPECT_THAT(nodes_of({"-np", "5", "--map-by", "node", "a"}, cluster(2, 4)), ElementsAre(0, 1, 0, 1, 0));
}

TEST(Placement, ByNodeSkipsFullNodes)
{
  EXPECT_THAT(nodes_of({"-np", "4", "--host", "n0:1,n1:3", "--map-by", "node", "a"}, cluster(2, 4)),
              ElementsAre(0, 1, 1, 1));
}

TEST(Placement, RanksMappedByNodeCanBeNumberedBySlot)
{
  EXPECT_THAT(nodes_of({"-np", "5", "--map-by", "node", "--rank-by", "slot", "a"}, cluster(2, 4)),
              ElementsAre(0, 0, 0, 1, 1));
}

TEST(Placement, RanksMappedBySlotCanBeNumberedByNode)
{
  EXPECT_THAT(nodes_of({"-np", "4", "-N", "2", "--rank-by", "node", "a"}, cluster(2, 4)), ElementsAre(0, 1, 0, 1));
}

TEST(Placement, RanksPerNodeByNodeAreNumberedRoundRobin)
{
  EXPECT_THAT(nodes_of({"-np", "4", "-N", "2", "--map-by", "node", "a"}, cluster(4, 4)), ElementsAre(0, 1, 0, 1));
}

TEST(Placement, GivesSeveralCoresToARank)
{
  const Placement placement = place({"-np", "3", "--map-by", "slot:PE=2", "a"}, cluster(2, 4));
  EXPECT_THAT(nodes_of(placement), ElementsAre(0, 0, 1));
  EXPECT_EQ(placement.ranks[1].core, 2u);
  EXPECT_EQ(placement.ranks[1].cores, 2u);
}

TEST(Placement, ProgramsFollowEachOther)
{
  const Placement placement = place({"-np", "1", "a", ":", "-np", "2", "b"}, cluster(4, 2));
  EXPECT_THAT(nodes_of(placement), ElementsAre(0, 1, 2));
  EXPECT_EQ(placement.ranks[0].program, 0u);
  EXPECT_EQ(placement.ranks[2].program, 1u);
}

TEST(Placement, ProgramsShareNodesAndCountLocalRanksTogether)
{
  const Placement placement = place({"-np", "1", "-H", "n0:2", "a", ":", "-np", "1", "-H", "n0:2", "b"}, cluster(1, 4));
  EXPECT_EQ(placement.ranks[1].local_rank, 1u);
  EXPECT_EQ(placement.ranks[1].core, 1u);
}

TEST(Placement, AProgramStaysOnItsOwnHosts)
{
  EXPECT_THAT(nodes_of({"-np", "1", "-H", "n3", "a", ":", "-np", "2", "-H", "n1:2", "b"}, cluster(4, 2)),
              ElementsAre(3, 1, 1));
}

TEST(Placement, AProgramWithoutHostsUsesTheOthers)
{
  EXPECT_THAT(nodes_of({"-np", "1", "-H", "n3:2,n1", "a", ":", "-np", "2", "b"}, cluster(4, 2)), ElementsAre(3, 3, 1));
}

TEST(Placement, HostsAreNodesOfThePlatform)
{
  EXPECT_THAT(nodes_of({"-np", "3", "--host", "n3:2,n1", "a"}, cluster(4, 2)), ElementsAre(3, 3, 1));
}

TEST(Placement, WithoutNpFillsTheSlotsOfTheHosts)
{
  EXPECT_THAT(nodes_of({"--host", "n3:2,n1", "a"}, cluster(4, 2)), ElementsAre(3, 3, 1));
}

TEST(Placement, SlotsOfAStarAreTheCores)
{
  EXPECT_THAT(nodes_of({"--host", "n0:*", "a"}, cluster(1, 3)), ElementsAre(0, 0, 0));
}

TEST(Placement, StrangeHostsNameTheNodesInOrder)
{
  const Placement placement = place({"--host", "real7,real9", "a"}, cluster(3, 2));
  EXPECT_THAT(nodes_of(placement), ElementsAre(0, 1));
  EXPECT_THAT(placement.hostnames, ElementsAre("real7", "real9", "n2"));
}

TEST(Placement, KnownHostsKeepTheirNames)
{
  EXPECT_THAT(place({"--host", "n1", "a"}, cluster(2, 2)).hostnames, ElementsAre("n0", "n1"));
}

TEST(Placement, AMixtureOfKnownAndStrangeHostsIsAnError)
{
  EXPECT_EQ(
      place_error({"--host", "n0,m1", "a"}, cluster(2, 2)),
      "--host: expected nodes of platform bxi (2 nodes, n0 to n1), got 'm1'\n"
      "  The nearest known name is n1. Names the platform does not have are only taken if all are such; they then "
      "name its nodes in order.");
}

TEST(Placement, MoreStrangeHostsThanNodesAreAnError)
{
  EXPECT_EQ(place_error({"--host", "x,y,z", "a"}, cluster(2, 2)),
            "platform bxi: expected 3 nodes, one for each host, got 2 nodes\n"
            "  Name fewer hosts or take a larger platform (`umwelt platforms`).");
}

TEST(Placement, TooFewNodesAreAnErrorThatTellsAboutRanksPerNode)
{
  EXPECT_EQ(place_error({"-np", "5", "a"}, cluster(2, 4)),
            "platform bxi for program 'a': expected slots for 5 ranks, got 2 free slots on 2 nodes of 4 cores\n"
            "  Put several ranks on a node with -N 3, or take a platform with more nodes.");
}

TEST(Placement, TooFewCoresAreAnError)
{
  EXPECT_EQ(
      place_error({"-np", "5", "--map-by", "slot", "a"}, cluster(2, 2)),
      "platform bxi for program 'a': expected slots for 5 ranks, got 4 free slots on 2 nodes of 2 cores\n"
      "  Take a platform with more nodes or cores (`umwelt platforms`), or fewer ranks: each has cores of its own.");
}

TEST(Placement, TooFewSlotsOfHostsAreAnError)
{
  EXPECT_EQ(place_error({"-np", "3", "--host", "n0,n1", "a"}, cluster(2, 4)),
            "platform bxi for program 'a': expected slots for 3 ranks, got 2 free slots on 2 nodes of 4 cores\n"
            "  Give the hosts more slots (--host NAME:N, slots=N), or pass --oversubscribe to use all their cores.");
}

TEST(Placement, RanksPerNodeDoNotExceedTheSlotsOfHosts)
{
  EXPECT_NE(place_error({"-N", "2", "--host", "n0", "a"}, cluster(2, 4)), "");
}

TEST(Placement, OversubscribeUsesAllCoresOfTheHosts)
{
  EXPECT_THAT(nodes_of({"-np", "3", "--oversubscribe", "--host", "n0,n1", "a"}, cluster(2, 2)), ElementsAre(0, 0, 1));
}

TEST(Placement, OversubscribeStopsAtMaxSlots)
{
  const test::TemporaryDirectory directory;
  const std::string file = directory.write("hosts", "n0 slots=1 max_slots=2\n");
  EXPECT_THAT(nodes_of({"-np", "2", "--oversubscribe", "--hostfile", file, "a"}, cluster(1, 4)), ElementsAre(0, 0));
  EXPECT_NE(place_error({"-np", "3", "--oversubscribe", "--hostfile", file, "a"}, cluster(1, 4)), "");
}

TEST(Placement, RanksNeverShareACore)
{
  EXPECT_NE(place_error({"-np", "3", "--oversubscribe", "--host", "n0:3", "a"}, cluster(1, 2)), "");
}

TEST(PlacementMap, ShowsRanksAndCoresOfUsedNodes)
{
  EXPECT_EQ(placement_map(place({"-np", "3", "-N", "2", "a"}, cluster(3, 2))), "n0: 0[0] 1[1]\nn1: 2[0]\n");
  EXPECT_EQ(placement_map(place({"-np", "1", "--cpus-per-rank", "2", "a"}, cluster(1, 2))), "n0: 0[0-1]\n");
}

// --placement

TEST(PlacementOrder, InOrderAndRoundRobinAreThoseOfMpirun)
{
  EXPECT_THAT(nodes_of({"-np", "4", "-N", "2", "--placement", "in_order", "a"}, cluster(2, 2)),
              ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(nodes_of({"-np", "4", "-N", "2", "--placement", "round_robin", "a"}, cluster(2, 2)),
              ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(nodes_of({"-np", "3", "--placement", "round_robin", "--map-by", "node", "a"}, cluster(2, 2)),
              ElementsAre(0, 1, 0));
}

TEST(PlacementOrder, RandomIsAPermutationByTheSeed)
{
  const auto placed = [](const std::vector<std::string>& options) {
    std::vector<std::string> all{"-np", "16"};
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("a");
    return nodes_of(all, cluster(16, 2));
  };
  const auto first = placed({"--placement", "random:1"});
  EXPECT_EQ(std::set<unsigned>(first.begin(), first.end()).size(), 16u);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(placed({"--placement", "random:1"}), first);
  EXPECT_EQ(placed({"--seed", "1", "--placement", "random"}), first);
  EXPECT_NE(placed({"--placement", "random:2"}), first);
}

TEST(PlacementOrder, RandomChoosesAmongAllNodesAndKeepsRanksOfANodeTogether)
{
  const auto nodes = nodes_of({"-np", "8", "-N", "2", "--placement", "random:3", "a"}, cluster(64, 4));
  for (std::size_t rank = 0; rank < 8; rank += 2)
    EXPECT_EQ(nodes[rank], nodes[rank + 1]);
  EXPECT_GT(*std::max_element(nodes.begin(), nodes.end()), 4u);
  const auto hosts =
      nodes_of({"--host", "n1:2,n3:2,n5:2", "--map-by", "node", "--placement", "random:3", "a"}, cluster(8, 4));
  EXPECT_EQ(std::set<unsigned>(hosts.begin(), hosts.end()), (std::set<unsigned>{1, 3, 5}));
  EXPECT_EQ(hosts[0], hosts[3]);
}

class PlacementFile : public testing::Test
{
protected:
  std::string write(const std::string& text)
  {
    // Tests run side by side, each in a process of its own.
    path_ = testing::TempDir() + "umwelt-placement-" + std::to_string(getpid());
    std::ofstream(path_) << text;
    return "@" + path_;
  }
  void TearDown() override { std::remove(path_.c_str()); }

private:
  std::string path_;
};

TEST_F(PlacementFile, HasANodeForEachRank)
{
  const std::string file = write("n3\n# nothing\n 0 # the first\nn3\n2\n");
  EXPECT_THAT(nodes_of({"--placement", file, "a"}, cluster(4, 2)), ElementsAre(3, 0, 3, 2));
  EXPECT_THAT(nodes_of({"-np", "2", "--placement", file, "a"}, cluster(4, 2)), ElementsAre(3, 0));
  EXPECT_THAT(nodes_of({"-np", "2", "--placement", file, "a", ":", "-np", "1", "b"}, cluster(4, 2)),
              ElementsAre(3, 0, 3));
  EXPECT_EQ(nodes_wanted(test::parse({"--placement", file, "a"})), 4u);
  EXPECT_THAT(place_error({"-np", "5", "--placement", file, "a"}, cluster(4, 2)),
              testing::HasSubstr("expected a node for each of 5 ranks, got 4"));
  EXPECT_THAT(place_error({"--placement", file, "a"}, cluster(4, 1)), testing::HasSubstr("at most 1 ranks on n3"));
  EXPECT_THAT(place_error({"--placement", file, "a"}, cluster(3, 2)),
              testing::HasSubstr("expected nodes of platform bxi, n0 to n2 or 0 to 2, got 'n3'"));
}

TEST_F(PlacementFile, MustBeThere)
{
  EXPECT_THAT(place_error({"--placement", "@/nonexistent", "a"}, cluster(1, 1)),
              testing::HasSubstr("--placement @/nonexistent: expected a file that can be read"));
  EXPECT_THAT(place_error({"--placement", write("# none\n"), "a"}, cluster(1, 1)),
              testing::HasSubstr("expected a node for each rank, one per line, got none"));
}

TEST_F(PlacementFile, ContradictionsAreRefused)
{
  const std::string file = write("0\n");
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"--map-by", "node"}, {"--rank-by", "slot"}, {"-N", "1"}, {"--host", "n0"}}) {
    std::vector<std::string> all{"--placement", file, "a"};
    all.insert(all.begin(), other.begin(), other.end());
    EXPECT_THAT(place_error(all, cluster(1, 1)), testing::HasSubstr("no option that places ranks otherwise, got "));
  }
  EXPECT_THAT(place_error({"--placement", "in_order", "--bynode", "a"}, cluster(1, 1)),
              testing::HasSubstr("got --map-by node"));
  EXPECT_THAT(place_error({"--placement", "round_robin", "--map-by", "core", "a"}, cluster(1, 1)),
              testing::HasSubstr("got --map-by slot, core or ppr"));
  EXPECT_THAT(place_error({"--placement", "randon", "a"}, cluster(1, 1)), testing::HasSubstr("'random'"));
  EXPECT_THAT(place_error({"--placement", "random:x", "a"}, cluster(1, 1)), testing::HasSubstr("SEED"));
  EXPECT_THAT(place_error({"--placement", "in_order:3", "a"}, cluster(1, 1)), testing::HasSubstr("got 'in_order:3'"));
}

} // namespace
} // namespace umwelt::plan
