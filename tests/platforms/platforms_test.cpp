// SPDX-License-Identifier: LGPL-2.1-or-later
#include <csignal>
#include <limits>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/platform.h"
#include "platforms/simgrid.h"

namespace umwelt::platform
{
namespace
{

using sim::nanosecond;

std::vector<std::string> names(const Platform& platform, const Route& route)
{
  std::vector<std::string> result;
  for (const LinkIndex index : route.links)
    result.push_back(platform.link(index).name);
  return result;
}

std::string message(const Request& request)
{
  try {
    make_platform(request);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Bxi, HasTheNodesAskedFor)
{
  const auto platform = make_platform({.spec = "bxi", .nodes = 30});
  ASSERT_EQ(platform->node_count(), 30U);
  EXPECT_EQ(platform->node(0).name, "bxi0");
  EXPECT_EQ(platform->node(29).name, "bxi29");
  EXPECT_EQ(platform->node(7).cores, 128U);
  EXPECT_EQ(platform->name(), "bxi");
}

TEST(Bxi, KnowsPropertiesOfItsNics)
{
  const auto platform = make_platform({.spec = "bxi:leaf=8,nic:issue=99ns", .nodes = 2});
  EXPECT_THAT(platform->nic_properties(), testing::ElementsAre(testing::Pair("issue", "99ns")));
}

TEST(Bxi, OneLeafNeedsNoSpine)
{
  const auto platform = make_platform({.spec = "bxi", .nodes = 2});
  const Route& route = platform->route(0, 1);
  EXPECT_THAT(names(*platform, route), testing::ElementsAre("bxi0 up", "bxi1 down"));
  EXPECT_EQ(route.latency, 200 * nanosecond);
  EXPECT_DOUBLE_EQ(route.bandwidth, 12.5e9);
}

TEST(Bxi, TheSpineIsChosenByTheDestination)
{
  const auto platform = make_platform({.spec = "bxi:leaf=4,spines=2", .nodes = 12});
  EXPECT_THAT(names(*platform, platform->route(0, 4)),
              testing::ElementsAre("bxi0 up", "leaf0 to spine0", "spine0 to leaf1", "bxi4 down"));
  EXPECT_THAT(names(*platform, platform->route(0, 5)),
              testing::ElementsAre("bxi0 up", "leaf0 to spine1", "spine1 to leaf1", "bxi5 down"));
  EXPECT_THAT(names(*platform, platform->route(9, 5)),
              testing::ElementsAre("bxi9 up", "leaf2 to spine1", "spine1 to leaf1", "bxi5 down"));
  EXPECT_THAT(names(*platform, platform->route(0, 3)), testing::ElementsAre("bxi0 up", "bxi3 down"));
}

TEST(Bxi, ShiftPermutationsDoNotCollide)
{
  // As many spines as nodes per leaf: D-mod-K gives every flow of a shift its own links.
  const auto platform = make_platform({.spec = "bxi:leaf=4,spines=4", .nodes = 16});
  for (NodeIndex shift = 1; shift < 16; ++shift) {
    std::set<LinkIndex> used;
    for (NodeIndex from = 0; from < 16; ++from)
      for (const LinkIndex link : platform->route(from, (from + shift) % 16).links)
        EXPECT_TRUE(used.insert(link).second) << platform->link(link).name << " twice at shift " << shift;
  }
}

TEST(Bxi, DirectionsAreLinksOfTheirOwn)
{
  const auto platform = make_platform({.spec = "bxi:leaf=2,spines=2", .nodes = 4});
  std::set<LinkIndex> there(platform->route(0, 3).links.begin(), platform->route(0, 3).links.end());
  for (const LinkIndex link : platform->route(3, 0).links)
    EXPECT_EQ(there.count(link), 0U);
}

TEST(Bxi, CablesHaveTheirOwnRates)
{
  const auto platform =
      make_platform({.spec = "bxi:leaf=2,bw=10GB/s,lat=50ns,spine_bw=25GB/s,spine_lat=150ns", .nodes = 4});
  const Route& far = platform->route(0, 2);
  EXPECT_EQ(far.latency, 400 * nanosecond);
  EXPECT_DOUBLE_EQ(far.bandwidth, 10e9);
  EXPECT_DOUBLE_EQ(platform->link(far.links[1]).bandwidth, 25e9);
}

TEST(Bxi, CoresOfTheRequestWin)
{
  EXPECT_EQ(make_platform({.spec = "bxi:cores=64"})->node(0).cores, 64U);
  EXPECT_EQ(make_platform({.spec = "bxi:cores=64", .nodes = 1, .cores = 3})->node(0).cores, 3U);
}

TEST(Bxi, HasSocketsAndMemory)
{
  EXPECT_EQ(make_platform({.spec = "bxi"})->node(0).sockets, 2U);
  EXPECT_EQ(make_platform({.spec = "bxi"})->node(0).memory, 256UL << 30);
  EXPECT_EQ(make_platform({.spec = "bxi:sockets=4,memory=1GiB"})->node(0).sockets, 4U);
  EXPECT_EQ(make_platform({.spec = "bxi:sockets=4,memory=1GiB"})->node(0).memory, 1UL << 30);
  EXPECT_EQ(make_platform({.spec = "crossbar:cores=3,sockets=4"})->node(0).sockets, 3U); // none is without a core
  EXPECT_EQ(make_platform({.spec = "ethernet"})->node(0).sockets, 1U);
  EXPECT_THROW(make_platform({.spec = "bxi:sockets=0"}), std::invalid_argument);
  EXPECT_THROW(make_platform({.spec = "crossbar:memory=1kB"}), std::invalid_argument);
}

TEST(Bxi, RoutesAreKept)
{
  const auto platform = make_platform({.spec = "bxi:leaf=2", .nodes = 6});
  const Route* first = &platform->route(0, 5);
  for (NodeIndex from = 0; from < 6; ++from)
    for (NodeIndex to = 0; to < 6; ++to)
      EXPECT_EQ(platform->route(from, to).links.empty(), from == to);
  EXPECT_EQ(&platform->route(0, 5), first);
}

TEST(Bxi, WithinANodeThereIsNoLink)
{
  const auto platform = make_platform({.spec = "bxi", .nodes = 2});
  const Route& route = platform->route(1, 1);
  EXPECT_TRUE(route.links.empty());
  EXPECT_EQ(route.latency, 0);
  EXPECT_EQ(route.bandwidth, std::numeric_limits<double>::infinity());
}

TEST(Bxi, AThousandNodes)
{
  const auto platform = make_platform({.spec = "bxi", .nodes = 1000});
  EXPECT_EQ(platform->node_count(), 1000U);
  EXPECT_EQ(platform->route(0, 999).links.size(), 4U);
}

TEST(Bxi, BadShapesAreRefused)
{
  EXPECT_EQ(message({.spec = "bxi:leaf=0"}),
            "platform bxi: parameter leaf: expected 1 to 4096, got 0. Correct the value.");
  EXPECT_EQ(message({.spec = "bxi:leafs=4"}),
            "--platform: platform bxi has no parameter 'leafs'. Did you mean 'leaf'?");
  EXPECT_THAT(message({.spec = "bxi:bw=12"}), testing::HasSubstr("a bandwidth with unit"));
  EXPECT_THAT(message({.spec = "bxi:leaf"}), testing::HasSubstr("expected key=value, got 'leaf'"));
}

TEST(Crossbar, OnlyCablesOfTheNodes)
{
  const auto platform = make_platform({.spec = "crossbar", .nodes = 3});
  EXPECT_THAT(names(*platform, platform->route(2, 0)), testing::ElementsAre("bxi2 up", "bxi0 down"));
}

TEST(Ethernet, IsSlower)
{
  const auto platform = make_platform({.spec = "ethernet", .nodes = 2});
  EXPECT_EQ(platform->node(1).name, "node1");
  EXPECT_DOUBLE_EQ(platform->route(0, 1).bandwidth, 3.125e9);
}

TEST(Catalogue, ListsWhatCanBeMade)
{
  ASSERT_FALSE(catalogue().empty());
  EXPECT_EQ(catalogue().front().name, "bxi");
  EXPECT_THAT(catalogue().front().parameters, testing::HasSubstr("leaf=24 spines=24 bw=12.5GB/s lat=100ns"));
  for (const CatalogueEntry& entry : catalogue())
    EXPECT_GE(make_platform({.spec = entry.name, .nodes = 2})->node_count(), 2U);
}

TEST(Catalogue, UnknownNamesGetAProposal)
{
  EXPECT_EQ(
      message({.spec = "bix"}),
      "platform 'bix': expected one of bxi, fat_tree, torus, mesh, dragonfly, hyperx, slimfly, crossbar, ethernet or "
      "the path of a SimGrid platform (with a '/', or ending in .xml or .so). Did you mean 'bxi'? `umwelt platforms` "
      "describes "
      "them.");
}

// Ctrl-C while a run starts ends it as Ctrl-C does.
TEST(Simgrid, TakesNoSignals)
{
  const auto handler = [](int signal) {
    struct sigaction action {
    };
    sigaction(signal, nullptr, &action);
    return action.sa_handler;
  };
  const auto fault = handler(SIGSEGV);
  simgrid_engine();
  EXPECT_EQ(handler(SIGINT), SIG_DFL);
  EXPECT_EQ(handler(SIGSEGV), fault);
}

} // namespace
} // namespace umwelt::platform
