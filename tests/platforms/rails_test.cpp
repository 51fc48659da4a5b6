// SPDX-License-Identifier: LGPL-2.1-or-later
// Several rails per node: as many networks beside each other, of which a message takes one.
#include <algorithm>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/analysis/bisection.h"
#include "platforms/analysis/drawing.h"
#include "platforms/analysis/route_check.h"
#include "platforms/link_failures.h"
#include "platforms/network.h"
#include "tests/platforms/simgrid_answer.h"

namespace umwelt::platform
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

class EveryNetwork : public testing::TestWithParam<const char*>
{
protected:
  static std::unique_ptr<Platform> make(const std::string& more)
  {
    const std::string spec = GetParam();
    return make_platform({.spec = spec + (spec.find(':') == std::string::npos ? ":" : ",") + more, .nodes = 12});
  }
  // Which cable of its node a message leaves by, and by which it comes.
  static std::pair<std::size_t, std::size_t> rails(const Platform& platform, NodeIndex from, NodeIndex to)
  {
    const Topology& topology = *platform.network()->topology;
    const Path path = topology.route(from, to);
    const auto rail = [&](Vertex node, ChannelIndex channel) {
      const auto cables = topology.graph().leaving(node);
      return static_cast<std::size_t>(std::find(cables.begin(), cables.end(), channel) - cables.begin());
    };
    return {rail(from, path.front().channel), rail(to, path.back().channel ^ 1U)};
  }
};

TEST_P(EveryNetwork, TheDestinationChoosesTheRail)
{
  const auto platform = make("rails=3");
  ASSERT_GE(platform->node_count(), 6U);
  for (NodeIndex from = 0; from < platform->node_count(); ++from) {
    EXPECT_EQ(platform->network()->topology->graph().leaving(from).size(), 3U);
    for (NodeIndex to = 0; to < platform->node_count(); ++to)
      if (from != to) {
        EXPECT_EQ(rails(*platform, from, to), std::pair(std::size_t{to % 3}, std::size_t{to % 3}));
      }
  }
}

TEST_P(EveryNetwork, ConnectsAndCannotDeadlock)
{
  for (const char* more : {"rails=2", "rails=3"}) {
    const auto platform = make(more);
    const RouteCheck check = check_routes(*platform);
    EXPECT_TRUE(check.broken.empty());
    EXPECT_TRUE(check.cycle.empty());
    std::set<std::string> names;
    const auto channels = platform->network()->topology->graph().channels();
    for (ChannelIndex i = 0; i < channels.size(); ++i)
      EXPECT_TRUE(names.insert(platform->network()->topology->channel_name(i, "n")).second);
  }
}

TEST_P(EveryNetwork, ARouteIsThatOfOneRailOtherwise)
{
  auto one = make("rails=1");
  std::vector<std::size_t> hops;
  for (NodeIndex to = 1; to < one->node_count(); ++to)
    hops.push_back(one->route(0, to).links.size());
  const std::size_t nodes = one->node_count();
  const std::size_t channels = one->network()->topology->graph().channels().size();
  const BisectionReport cut = cut_between_halves(*one);
  one.reset(); // SimGrid has one platform at a time
  const auto two = make("rails=2");
  ASSERT_EQ(two->node_count(), nodes);
  EXPECT_EQ(two->network()->topology->graph().channels().size(), 2 * channels);
  for (NodeIndex to = 1; to < two->node_count(); ++to)
    EXPECT_EQ(two->route(0, to).links.size(), hops[to - 1]);
  EXPECT_DOUBLE_EQ(cut_between_halves(*two).bandwidth, 2 * cut.bandwidth);
}

INSTANTIATE_TEST_SUITE_P(Platforms, EveryNetwork,
                         testing::Values("bxi", "bxi:leaf=4,spines=3", "crossbar", "ethernet",
                                         "fat_tree:down=3x4,up=1x2", "fat_tree:(3;2,2,3;1,2,2;1,1,2)", "torus:dims=4x3",
                                         "mesh:dims=2x3x2", "hyperx:dims=3x4,links=2,hosts=1",
                                         "dragonfly:groups=4,routers=3,global=2,hosts=1", "slimfly:q=3,hosts=1"));

TEST(Rails, WithRandomRoutesTheFlowChooses)
{
  for (const char* spec :
       {"bxi:rails=2,routing=random,leaf=4,spines=4", "torus:rails=2,routing=random", "hyperx:rails=2,routing=random",
        "dragonfly:rails=2,routing=random", "slimfly:rails=2,routing=random"}) {
    const auto platform = make_platform({.spec = spec, .nodes = 60});
    unsigned second = 0;
    for (NodeIndex from = 0; from < 59; ++from) {
      const ChannelIndex first = platform->network()->topology->route(from, 59).front().channel;
      second += first == platform->network()->topology->graph().leaving(from)[1] ? 1 : 0;
    }
    EXPECT_GT(second, 15U) << spec; // of 59
    EXPECT_LT(second, 44U) << spec;
  }
}

TEST(Rails, SourcesChooseWithTheirModulo)
{
  const auto platform = make_platform({.spec = "fat_tree:down=4x4,up=1x4,rails=2,routing=s_mod_k"});
  const Topology& topology = *platform->network()->topology;
  for (NodeIndex from = 0; from < 15; ++from)
    EXPECT_EQ(topology.route(from, 15).front().channel, topology.graph().leaving(from)[from % 2]);
}

// Parallel cables and rails are both chosen by the destination; together all are used.
TEST(Rails, ParallelCablesOfAllPlanesAreUsed)
{
  const auto platform = make_platform({.spec = "hyperx:dims=2,links=2,hosts=4,rails=2"});
  std::set<ChannelIndex> used;
  for (NodeIndex to = 4; to < 8; ++to)
    used.insert(platform->network()->topology->route(0, to)[1].channel);
  EXPECT_EQ(used.size(), 4U);
}

TEST(Rails, HaveNames)
{
  const auto platform = make_platform({.spec = "torus:dims=3x3,rails=2"});
  std::vector<std::string> names;
  for (const LinkIndex link : platform->route(0, 1).links)
    names.push_back(platform->link(link).name);
  EXPECT_THAT(names, ElementsAre("node0 up #2", "rail1.switch0.0 to rail1.switch1.0", "node1 down #2"));
  EXPECT_THAT(drawing(*platform), HasSubstr("rail1.switch2.2"));
}

TEST(Rails, OneThatFailsIsReplacedByAnother)
{
  const auto platform = make_platform({.spec = "torus:dims=4x4,rails=2"});
  const std::vector<LinkFailure> faults{{"node5 down #2", 0, sim::never, "--fault"}};
  LinkFailures failures(*platform, faults);
  const LinkFailures::Way way = failures.find(0, 5, 0);
  ASSERT_NE(way.route, nullptr);
  EXPECT_TRUE(way.detour);
  EXPECT_EQ(platform->link(way.route->links.front()).name, "node0 up");
  EXPECT_EQ(platform->link(way.route->links.back()).name, "node5 down");
}

TEST(Rails, TheClosedFormOfTheBisectionCountsThem)
{
  for (const char* spec : {"torus:dims=4x4,rails=3", "mesh:dims=4x4,rails=2", "hyperx:dims=4x4,rails=2",
                           "hyperx:dims=8,hosts=1,rails=2", "fat_tree:down=4x4,up=1x4,rails=2"}) {
    const auto platform = make_platform({.spec = spec});
    EXPECT_TRUE(bisection(*platform).known) << spec;
    EXPECT_DOUBLE_EQ(bisection(*platform).bandwidth, cut_between_halves(*platform).bandwidth) << spec;
  }
}

TEST(Rails, ThatCannotBe)
{
  EXPECT_EQ(refusal("torus:rails=0"), "platform torus: parameter rails: expected 1 to 64, got 0. Correct the value.");
  EXPECT_THAT(refusal("crossbar:rails=65"), HasSubstr("parameter rails: expected 1 to 64, got 65"));
  EXPECT_THAT(refusal("fat_tree:up=2x16,rails=2"), HasSubstr("parameter rails: expected u1 = 1"));
  EXPECT_THAT(refusal("torus:dims=100x100x100,rails=2"), HasSubstr("cables"));
}

TEST(FormalNotation, IsThatOfTheLists)
{
  const auto links = [](const std::string& spec) { return our_answers(spec); };
  const std::string lists = links("fat_tree:down=4x3x4,up=1x2x3,cables=1x1x2,routing=s_mod_k");
  EXPECT_EQ(std::count(lists.begin(), lists.end(), '\n'), 48 * 47);
  EXPECT_EQ(links("fat_tree:(3; 4,3,4; 1,2,3; 1,1,2),routing=s_mod_k"), lists);
  EXPECT_EQ(links("fat_tree:pgft=3;4x3x4;1x2x3;1x1x2,routing=s_mod_k"), lists);
}

TEST(FormalNotation, ThatIsNone)
{
  EXPECT_THAT(refusal("fat_tree:(2;4,4;1,4)"), HasSubstr("expected h;d1xd2x..;u1xu2x..;p1xp2x.. as pgft"));
  EXPECT_THAT(refusal("fat_tree:(x;4,4;1,4;1,1)"), HasSubstr("expected h;d1xd2x..;u1xu2x..;p1xp2x.. as pgft"));
  EXPECT_THAT(refusal("fat_tree:(3;4,4;1,4;1,1)"), HasSubstr("expected h numbers in each list, 3, got 2 in 4x4"));
  EXPECT_THAT(refusal("fat_tree:(2;4,4;1,4;1)"),
              HasSubstr("parameter cables: expected a number for each of the 2 levels"));
  EXPECT_THAT(refusal("fat_tree:(2;4,0;1,4;1,1)"), HasSubstr("parameter pgft (d): expected numbers from 1 on"));
  EXPECT_THAT(refusal("fat_tree:(2;4,4;1,4;1,1"), HasSubstr("expected a shape in parentheses"));
  EXPECT_THAT(refusal("fat_tree:(2;4,4;1,4;1,1)routing=random"), HasSubstr("expected a shape in parentheses"));
  EXPECT_THAT(refusal("fat_tree:(2;4,4;1,4;1,1),down=4x4"), HasSubstr("got both pgft and down"));
}

} // namespace
} // namespace umwelt::platform
