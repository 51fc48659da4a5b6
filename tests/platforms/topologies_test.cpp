// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts, hops and diameters of the networks against their closed forms, and what they refuse.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/analysis/route_check.h"
#include "platforms/network.h"
#include "platforms/platform.h"
#include "platforms/topologies/galois_field.h"
#include "tests/platforms/scratch.h"

namespace umwelt::platform
{
namespace
{

std::string message(const std::string& spec)
{
  try {
    make_platform({.spec = spec});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> names(const Platform& platform, NodeIndex from, NodeIndex to)
{
  std::vector<std::string> result;
  for (const LinkIndex link : platform.route(from, to).links)
    result.push_back(platform.link(link).name);
  return result;
}

std::uint64_t cables(const Platform& platform, CableKind kind)
{
  const auto channels = platform.network()->topology->graph().channels();
  return static_cast<std::uint64_t>(std::count_if(channels.begin(), channels.end(),
                                                  [kind](const Channel& channel) { return channel.kind == kind; })) /
         2;
}

std::uint32_t switches(const Platform& platform)
{
  return platform.network()->topology->graph().switches();
}

// Links between switches on the way.
std::size_t hops(const Platform& platform, NodeIndex from, NodeIndex to)
{
  return platform.route(from, to).links.size() - 2;
}

std::size_t most_hops(const Platform& platform)
{
  std::size_t most = 0;
  for (NodeIndex from = 0; from < platform.node_count(); ++from)
    for (NodeIndex to = 0; to < platform.node_count(); ++to)
      if (from != to)
        most = std::max(most, hops(platform, from, to));
  return most;
}

// Whatever the topology and the routing: every pair is connected, nothing can deadlock, and a second platform has the
// same routes.
class EveryRouting : public testing::TestWithParam<const char*>
{
};

TEST_P(EveryRouting, ConnectsAllAndCannotDeadlock)
{
  std::vector<std::vector<std::string>> routes;
  {
    const auto platform = make_platform({.spec = GetParam(), .nodes = 60});
    const RouteCheck check = check_routes(*platform);
    EXPECT_THAT(check.broken, testing::IsEmpty());
    EXPECT_THAT(check.cycle, testing::IsEmpty());
    EXPECT_EQ(check.routes, platform->node_count() * (platform->node_count() - 1));
    for (NodeIndex to = 1; to < platform->node_count(); ++to)
      routes.push_back(names(*platform, 0, to));
  }
  const auto again = make_platform({.spec = GetParam(), .nodes = 60});
  for (NodeIndex to = static_cast<NodeIndex>(again->node_count()) - 1; to > 0; --to) // whoever asks first
    EXPECT_EQ(names(*again, 0, to), routes[to - 1]);
}

INSTANTIATE_TEST_SUITE_P(
    Platforms, EveryRouting,
    testing::Values("bxi:leaf=8,spines=4", "bxi:leaf=8,spines=3,routing=s_mod_k", "bxi:leaf=8,spines=4,routing=random",
                    "fat_tree:down=4x4x4,up=1x2x2", "fat_tree:down=4x3x2,up=2x3x2,cables=1x2x3,routing=s_mod_k",
                    "fat_tree:down=4x3x2,up=2x3x2,cables=1x2x3,routing=random,seed=7", "torus:dims=5x4x3",
                    "torus:dims=5x4x3,routing=valiant", "torus:dims=5x4x3,routing=random", "torus:dims=9",
                    "torus:dims=2x2x2x2,hosts=3,routing=valiant", "mesh:dims=5x4x3", "mesh:dims=8x8,routing=valiant",
                    "mesh:dims=8x8,routing=random", "hyperx:dims=4x3x3,hosts=2",
                    "hyperx:dims=4x3x3,hosts=2,links=2,routing=valiant", "hyperx:dims=4x3x3,hosts=2,routing=random",
                    "dragonfly", "dragonfly:routing=valiant", "dragonfly:routing=random,arrangement=random,seed=3",
                    "dragonfly:groups=4,arrangement=random,routing=random", "dragonfly:groups=2,routing=valiant",
                    "dragonfly:groups=1,global=0", "slimfly:hosts=1", "slimfly:hosts=1,routing=valiant",
                    "slimfly:q=4,hosts=2,routing=random", "crossbar", "ethernet"));

TEST(FatTree, CountsSwitchesAndCables)
{
  const auto tree = make_platform({.spec = "fat_tree:down=4x3x2,up=1x2x5,cables=1x2x1"});
  EXPECT_EQ(tree->node_count(), 24U);
  EXPECT_EQ(switches(*tree), 6U + 2U * 2U + 10U); // level l: d_(l+1) .. d_h times u_1 .. u_l
  EXPECT_EQ(cables(*tree, CableKind::node), 24U);
  EXPECT_EQ(cables(*tree, CableKind::local), 6U * 2U * 2U + 4U * 5U);
}

TEST(FatTree, HopsAreTwiceTheLevelInCommon)
{
  const auto tree = make_platform({.spec = "fat_tree:down=4x3x2,up=1x2x5"});
  EXPECT_EQ(hops(*tree, 0, 3), 0U);
  EXPECT_EQ(hops(*tree, 0, 11), 2U);
  EXPECT_EQ(hops(*tree, 0, 12), 4U);
  EXPECT_EQ(most_hops(*tree), 4U);
}

TEST(FatTree, IsTheSameAsBxi)
{
  std::vector<std::vector<std::string>> routes;
  {
    const auto bxi = make_platform({.spec = "bxi:leaf=4,spines=3", .nodes = 12});
    for (NodeIndex to = 1; to < 12; ++to)
      routes.push_back(names(*bxi, 0, to));
  }
  const auto tree = make_platform({.spec = "fat_tree:down=4x3,up=1x3"});
  for (NodeIndex to = 1; to < 12; ++to) {
    auto expected = routes[to - 1];
    for (std::string& name : expected)
      if (name.starts_with("bxi"))
        name.replace(0, 3, "node");
    EXPECT_EQ(names(*tree, 0, to), expected);
  }
}

TEST(FatTree, TheSourceChoosesWithSModK)
{
  const auto tree = make_platform({.spec = "fat_tree:down=4x3,up=1x4,routing=s_mod_k"});
  EXPECT_THAT(names(*tree, 2, 4), testing::ElementsAre("node2 up", "leaf0 to spine2", "spine2 to leaf1", "node4 down"));
  EXPECT_THAT(names(*tree, 2, 9), testing::ElementsAre("node2 up", "leaf0 to spine2", "spine2 to leaf2", "node9 down"));
}

TEST(FatTree, ParallelCablesAndSeveralRailsHaveNames)
{
  const auto tree = make_platform({.spec = "fat_tree:down=2x2,up=2x1,cables=1x2"});
  EXPECT_THAT(names(*tree, 0, 3),
              testing::ElementsAre("node0 up #2", "leaf1 to spine1 #2", "spine1 to leaf3 #2", "node3 down #2"));
}

TEST(FatTree, RandomRoutesUseAllSpines)
{
  const auto tree = make_platform({.spec = "fat_tree:down=8x8,up=1x8,routing=random"});
  std::set<std::string> used;
  for (NodeIndex to = 8; to < 64; ++to)
    used.insert(names(*tree, 0, to)[1]);
  EXPECT_EQ(used.size(), 8U);
}

TEST(FatTree, BadFormsAreRefused)
{
  EXPECT_EQ(message("fat_tree:down=4x4x4,up=1x2"), "platform fat_tree: parameter up: expected a number for each of the "
                                                   "3 levels of down=4x4x4, got 1x2. Correct one of them.");
  EXPECT_EQ(message("fat_tree:down=4x0"), "platform fat_tree: parameter down: expected numbers from 1 on with an x "
                                          "between them (4x4x8), got '4x0'. Correct the value.");
  EXPECT_EQ(message("fat_tree:routing=valiant"),
            "platform fat_tree: parameter routing: expected one of d_mod_k, s_mod_k, random, got 'valiant', which this "
            "topology cannot do. Choose one of these.");
  EXPECT_EQ(message("fat_tree:routing=dmodk"), "platform fat_tree: parameter routing: expected one of d_mod_k, "
                                               "s_mod_k, random, got 'dmodk'. Did you mean 'd_mod_k'?");
  EXPECT_EQ(message("fat_tree:dwon=4x4"),
            "--platform: platform fat_tree has no parameter 'dwon'. Did you mean 'down'?");
  EXPECT_THAT(message("fat_tree:down=4000x4000x4000,up=1x1x1"), testing::HasSubstr("expected at most 16777214 nodes"));
  EXPECT_THAT(message("fat_tree:down=100000,up=1"), testing::HasSubstr("at most 4096 ports"));
  EXPECT_THAT(message("bxi:routing=minimal"), testing::HasSubstr("which this topology cannot do"));
}

TEST(Torus, HopsAreTheDistanceRoundTheRings)
{
  const std::vector<std::uint32_t> sizes{5, 4, 3};
  const auto torus = make_platform({.spec = "torus:dims=5x4x3"});
  const auto mesh_hops = [&](NodeIndex a, NodeIndex b, bool wraps) {
    std::size_t sum = 0;
    for (const std::uint32_t size : sizes) {
      const std::size_t apart = a % size > b % size ? a % size - b % size : b % size - a % size;
      sum += wraps ? std::min(apart, size - apart) : apart;
      a /= size;
      b /= size;
    }
    return sum;
  };
  for (NodeIndex to = 1; to < 60; ++to)
    EXPECT_EQ(hops(*torus, 7, to == 7 ? 0 : to), mesh_hops(7, to == 7 ? 0 : to, true));
  EXPECT_EQ(most_hops(*torus), 2U + 2U + 1U);
  EXPECT_EQ(switches(*torus), 60U);
  EXPECT_EQ(cables(*torus, CableKind::local), 3U * 60U);
}

TEST(Torus, RandomRoutesAreShortest)
{
  EXPECT_EQ(most_hops(*make_platform({.spec = "torus:dims=5x4x3,routing=random"})), 5U);
}

TEST(Mesh, HopsAreTheDistance)
{
  const auto mesh = make_platform({.spec = "mesh:dims=5x4x3"});
  EXPECT_EQ(most_hops(*mesh), 4U + 3U + 2U);
  EXPECT_EQ(cables(*mesh, CableKind::local), 4U * 12U + 3U * 15U + 2U * 20U);
}

TEST(Torus, GoesThroughTheFirstDimensionFirst)
{
  const auto torus = make_platform({.spec = "torus:dims=4x4"});
  EXPECT_THAT(names(*torus, 0, 7),
              testing::ElementsAre("node0 up", "switch0.0 to switch3.0", "switch3.0 to switch3.1", "node7 down"));
}

TEST(Torus, TwoInARowHaveOneCable)
{
  EXPECT_EQ(cables(*make_platform({.spec = "torus:dims=2x2x2"}), CableKind::local), 12U);
}

TEST(Torus, ValiantIsLongerAndMinimalIsRefused)
{
  const auto torus = make_platform({.spec = "torus:dims=8x8,routing=valiant"});
  EXPECT_GT(most_hops(*torus), 8U);
  EXPECT_LE(most_hops(*torus), 16U);
  EXPECT_THAT(message("torus:routing=d_mod_k"),
              testing::HasSubstr("expected one of dimension_order, valiant, random, got 'd_mod_k', which this"));
  EXPECT_THAT(message("mesh:hosts=0"), testing::HasSubstr("parameter hosts: expected 1 to 4096, got 0"));
  EXPECT_THAT(message("torus:dims=4000x4000x4000"), testing::HasSubstr("expected at most 16777214 nodes"));
  EXPECT_THAT(message("torus:dims=3000x3000"), testing::HasSubstr("expected at most 4000000 cables"));
  EXPECT_THAT(message("torus:dims="), testing::HasSubstr("parameter dims: expected numbers from 1 on"));
}

TEST(HyperX, OneHopPerDimensionThatDiffers)
{
  const auto hyperx = make_platform({.spec = "hyperx:dims=4x3x2,hosts=2,links=3"});
  EXPECT_EQ(hyperx->node_count(), 48U);
  EXPECT_EQ(cables(*hyperx, CableKind::local), 3U * (6U * 6U + 3U * 8U + 1U * 12U)); // S(S-1)/2 in each row
  EXPECT_EQ(most_hops(*hyperx), 3U);
  EXPECT_EQ(hops(*hyperx, 0, 7), 1U);
}

TEST(Dragonfly, IsBalancedByDefault)
{
  const auto dragonfly = make_platform({.spec = "dragonfly"}); // a = 4, h = 2, g = a h + 1 = 9
  EXPECT_EQ(dragonfly->node_count(), 72U);
  EXPECT_EQ(switches(*dragonfly), 36U);
  EXPECT_EQ(cables(*dragonfly, CableKind::local), 9U * 6U);
  EXPECT_EQ(cables(*dragonfly, CableKind::global), 36U); // one between any two groups
  EXPECT_EQ(most_hops(*dragonfly), 3U);
}

// Palm tree: port j = r h + k of group i leads to group i - 1 - j.
TEST(Dragonfly, PortsLieAsInAPalmTree)
{
  const auto dragonfly = make_platform({.spec = "dragonfly"});
  const Topology& topology = *dragonfly->network()->topology;
  const Graph& graph = topology.graph();
  for (const Channel& channel : graph.channels()) {
    if (channel.kind != CableKind::global)
      continue;
    const std::uint32_t from = channel.from - graph.nodes();
    const std::uint32_t to = channel.to - graph.nodes();
    const std::uint32_t port = (from / 4 + 9 - to / 4) % 9 - 1;
    EXPECT_EQ(from % 4, port / 2);
  }
}

TEST(Dragonfly, EveryRouterHasItsPortsAndEveryPairOfGroupsItsCables)
{
  for (const char* spec : {"dragonfly:groups=5,routers=4,global=2", "dragonfly:groups=5,arrangement=random,seed=9"}) {
    const auto dragonfly = make_platform({.spec = spec});
    const Graph& graph = dragonfly->network()->topology->graph();
    std::map<std::uint32_t, unsigned> ports;
    std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> pairs;
    for (const Channel& channel : graph.channels())
      if (channel.kind == CableKind::global) {
        ++ports[channel.from];
        ++pairs[{(channel.from - graph.nodes()) / 4, (channel.to - graph.nodes()) / 4}];
      }
    EXPECT_EQ(ports.size(), 20U);
    for (const auto& [router, count] : ports)
      EXPECT_EQ(count, 2U);
    EXPECT_EQ(pairs.size(), 20U);
    for (const auto& [pair, count] : pairs)
      EXPECT_EQ(count, 2U);
  }
}

TEST(Dragonfly, ValiantTakesTwoGlobalCables)
{
  const auto dragonfly = make_platform({.spec = "dragonfly:routing=valiant"});
  const auto route = names(*dragonfly, 0, 71);
  EXPECT_EQ(std::count_if(route.begin(), route.end(),
                          [](const std::string& name) {
                            return name.starts_with("router") &&
                                   name.substr(6, name.find('.') - 6) !=
                                       name.substr(name.rfind("router") + 6,
                                                   name.rfind('.') - name.rfind("router") - 6);
                          }),
            2);
  EXPECT_LE(most_hops(*dragonfly), 5U);
}

TEST(Dragonfly, SeedsChangeTheArrangement)
{
  const auto routes = [](const char* spec) {
    const auto platform = make_platform({.spec = spec});
    std::vector<std::vector<std::string>> all;
    for (NodeIndex to = 1; to < platform->node_count(); ++to)
      all.push_back(names(*platform, 0, to));
    return all;
  };
  EXPECT_NE(routes("dragonfly:arrangement=random,seed=1"), routes("dragonfly:arrangement=random,seed=2"));
  EXPECT_EQ(routes("dragonfly:arrangement=random,seed=1"), routes("dragonfly:arrangement=random,seed=1"));
}

TEST(Dragonfly, BadShapesAreRefused)
{
  EXPECT_EQ(message("dragonfly:groups=10"),
            "platform dragonfly: parameter groups: expected at most routers * global + 1 = 9, since each group has a "
            "cable to each other one, got 10. Take fewer groups, or more routers or global cables.");
  EXPECT_THAT(message("dragonfly:arrangement=circulant"), testing::HasSubstr("expected palm_tree or random"));
}

// q = 3 (d = -1), 4 and 8 (d = 0, powers of a prime), 5 (d = 1: the Hoffman-Singleton graph), 7, 9.
TEST(SlimFly, AnyTwoRoutersAreTwoHopsApart)
{
  const std::map<std::uint32_t, std::uint32_t> degrees{{3, 5}, {4, 6}, {5, 7}, {7, 11}, {8, 12}, {9, 13}};
  for (const auto& [q, degree] : degrees) {
    const auto slimfly = make_platform({.spec = "slimfly:hosts=1,q=" + std::to_string(q)});
    EXPECT_EQ(slimfly->node_count(), 2U * q * q);
    const Graph& graph = slimfly->network()->topology->graph();
    for (Vertex router = graph.nodes(); router < graph.vertices(); ++router)
      EXPECT_EQ(graph.leaving(router).size(), degree + 1U) << "q = " << q;
    EXPECT_EQ(most_hops(*slimfly), 2U) << "q = " << q;
  }
}

TEST(SlimFly, NeedsAPowerOfAPrime)
{
  EXPECT_EQ(message("slimfly:q=6"),
            "platform slimfly: parameter q: expected a power of a prime from 3 to 251, got 6. The nearest one is 5.");
  EXPECT_THAT(message("slimfly:q=2"), testing::HasSubstr("parameter q: expected 3 to 4096, got 2"));
  EXPECT_THAT(message("slimfly:q=251"), testing::HasSubstr("expected at most 4000000 cables"));
}

TEST(GaloisField, HasInversesAndDistributes)
{
  for (const std::uint32_t q : {2U, 4U, 5U, 8U, 9U, 25U, 27U}) {
    const auto field = GaloisField::of(q);
    ASSERT_TRUE(field);
    for (std::uint32_t a = 1; a < q; ++a) {
      std::set<std::uint32_t> products;
      for (std::uint32_t b = 0; b < q; ++b) {
        products.insert(field->times(a, b));
        EXPECT_EQ(field->times(a, field->add(b, 1)), field->add(field->times(a, b), a));
      }
      EXPECT_EQ(products.size(), q);
    }
  }
  EXPECT_FALSE(GaloisField::of(6));
  EXPECT_FALSE(GaloisField::of(1));
}

// Three nodes on a ring of one direction without virtual channels, from a file: each route of two links waits for the
// next.
TEST(RouteCheck, FindsACircleOfWaiting)
{
  const Scratch scratch;
  const std::string path = scratch.path / "ring.xml";
  {
    std::ofstream file(path);
    file << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\"><zone id=\"ring\" routing=\"Full\">";
    for (const char* host : {"a", "b", "c"})
      file << "<host id=\"" << host << "\" speed=\"1Gf\"/>";
    for (const char* link : {"ab", "bc", "ca"})
      file << "<link id=\"" << link << "\" bandwidth=\"1GBps\" latency=\"1us\"/>";
    const auto route = [&](char from, char to, const std::vector<std::string>& links) {
      file << "<route src=\"" << from << "\" dst=\"" << to << "\" symmetrical=\"NO\">";
      for (const std::string& link : links)
        file << "<link_ctn id=\"" << link << "\"/>";
      file << "</route>";
    };
    route('a', 'b', {"ab"});
    route('b', 'c', {"bc"});
    route('c', 'a', {"ca"});
    route('a', 'c', {"ab", "bc"});
    route('b', 'a', {"bc", "ca"});
    route('c', 'b', {"ca", "ab"});
    file << "</zone></platform>\n";
  }
  EXPECT_THAT(check_routes(*make_platform({.spec = path})).cycle,
              testing::UnorderedElementsAre("ab [0]", "bc [0]", "ca [0]"));
  EXPECT_EQ(check_routes(*make_platform({.spec = "torus:dims=6"})).virtual_channels, 2U); // what keeps this one apart
}

} // namespace
} // namespace umwelt::platform
