// SPDX-License-Identifier: LGPL-2.1-or-later
// Closed forms of the bisection against the minimum cut.
#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/analysis/bisection.h"
#include "platforms/network.h"

namespace umwelt::platform
{
namespace
{

// Shapes whose first half of the nodes is one side of the narrowest cut.
class KnownBisection : public testing::TestWithParam<std::pair<const char*, std::uint64_t>>
{
};

TEST_P(KnownBisection, IsTheMinimumCut)
{
  const auto platform = make_platform({.spec = GetParam().first});
  const BisectionReport known = bisection(*platform);
  const BisectionReport cut = cut_between_halves(*platform);
  EXPECT_TRUE(known.known);
  EXPECT_FALSE(cut.known);
  EXPECT_EQ(known.cables[0] + known.cables[1], GetParam().second);
  EXPECT_DOUBLE_EQ(known.bandwidth, cut.bandwidth);
}

INSTANTIATE_TEST_SUITE_P(Platforms, KnownBisection,
                         testing::Values(std::pair("torus:dims=4x4x8", 2U * 16U), std::pair("torus:dims=2x2x2", 4U),
                                         std::pair("mesh:dims=4x4x8,hosts=2", 16U),
                                         std::pair("hyperx:dims=6x4,hosts=4", 24U),
                                         std::pair("hyperx:dims=8,hosts=1", 4U),
                                         std::pair("fat_tree:down=4x4,up=1x4", 8U),
                                         std::pair("fat_tree:down=4x4,up=1x2", 4U),
                                         std::pair("fat_tree:down=2x2x2,up=1x2x1,cables=1x1x2", 4U)));

// Over all halves of the nodes and all sides of the switches.
double least_cut(const Platform& platform)
{
  const Network& network = *platform.network();
  const Graph& graph = network.topology->graph();
  const std::uint32_t vertices = graph.vertices();
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t side = 0; side < (1U << (vertices - 1)); ++side) { // the last vertex is on one of two equal sides
    if (std::popcount(side & ((1U << graph.nodes()) - 1)) != static_cast<int>(graph.nodes() / 2))
      continue;
    double cut = 0;
    for (const Channel& channel : graph.channels())
      if ((side >> channel.from & 1U) == 1 && (side >> channel.to & 1U) == 0)
        cut += network.cable(channel.kind).bandwidth;
    least = std::min(least, cut);
  }
  return least;
}

class SmallMachine : public testing::TestWithParam<const char*>
{
};

TEST_P(SmallMachine, HasNoNarrowerHalves)
{
  const auto platform = make_platform({.spec = GetParam()});
  EXPECT_TRUE(bisection(*platform).known);
  EXPECT_DOUBLE_EQ(bisection(*platform).bandwidth, least_cut(*platform));
}

INSTANTIATE_TEST_SUITE_P(Platforms, SmallMachine,
                         testing::Values("torus:dims=4x2", "torus:dims=8", "torus:dims=2x2x2", "torus:dims=4,hosts=2",
                                         "torus:dims=4,rails=2", "mesh:dims=4x2", "mesh:dims=2x2x2", "mesh:dims=8",
                                         "hyperx:dims=4x2,hosts=1", "hyperx:dims=4,hosts=2", "hyperx:dims=2,hosts=4",
                                         "hyperx:dims=2,hosts=4,links=3", "fat_tree:down=2x4,up=1x2",
                                         "fat_tree:down=4x2,up=1x2", "fat_tree:down=2x2x2,up=1x2x1,cables=1x1x2",
                                         "fat_tree:down=4x2,up=1x1,rails=2"));

TEST(Bisection, OfTheFirstHalfIsNeverNarrowerThanTheLeast)
{
  for (const char* spec : {"dragonfly:groups=4,routers=2,global=2,hosts=1", "mesh:dims=2x3", "hyperx:dims=3x2,hosts=1",
                           "torus:dims=3x2", "fat_tree:down=3x2,up=1x2"}) {
    const auto platform = make_platform({.spec = spec});
    EXPECT_GE(cut_between_halves(*platform).bandwidth, least_cut(*platform)) << spec;
  }
}

TEST(Bisection, IsACutWhereNoFormulaFits)
{
  const BisectionReport odd = bisection(*make_platform({.spec = "mesh:dims=2x5"}));
  EXPECT_FALSE(odd.known);
  EXPECT_EQ(odd.cables[0] + odd.cables[1], 3U); // the first five nodes: two rows and a half
  const BisectionReport dragonfly = bisection(*make_platform({.spec = "dragonfly:groups=4,routers=4,global=1"}));
  EXPECT_EQ(dragonfly.cables[2], 4U); // each of two groups with each of two others
  const BisectionReport thick = bisection(*make_platform({.spec = "mesh:dims=8,switch_bw=25GB/s"}));
  EXPECT_FALSE(thick.known);
  EXPECT_DOUBLE_EQ(thick.bandwidth, 25e9);
}

TEST(Bisection, LeavesOutNodesThatAreNotThere)
{
  const BisectionReport cut = bisection(*make_platform({.spec = "bxi:leaf=4,spines=4", .nodes = 6}));
  EXPECT_FALSE(cut.known);
  EXPECT_EQ(cut.cables[0] + cut.cables[1], 3U); // one of the first leaf's four is in the other half
}

} // namespace
} // namespace umwelt::platform
