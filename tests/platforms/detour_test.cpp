// SPDX-License-Identifier: LGPL-2.1-or-later
// Other ways than the routes, for switches that choose: they connect, and together with the routes cannot deadlock.
#include <map>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "platforms/network.h"
#include "platforms/platform.h"

namespace umwelt::platform
{
namespace
{

using Buffer = std::pair<ChannelIndex, std::uint32_t>; // a virtual channel of a channel

// Takes out what nothing leads to, again and again; a circle stays.
bool has_circle(const std::map<Buffer, std::set<Buffer>>& next)
{
  std::map<Buffer, std::size_t> before;
  for (const auto& [from, all] : next) {
    before.try_emplace(from, 0);
    for (const Buffer& to : all)
      ++before[to];
  }
  std::vector<Buffer> free;
  for (const auto& [buffer, count] : before)
    if (count == 0)
      free.push_back(buffer);
  std::size_t taken = 0;
  while (!free.empty()) {
    const Buffer buffer = free.back();
    free.pop_back();
    ++taken;
    if (const auto found = next.find(buffer); found != next.end())
      for (const Buffer& to : found->second)
        if (--before[to] == 0)
          free.push_back(to);
  }
  return taken != before.size();
}

void add(std::map<Buffer, std::set<Buffer>>& next, const Path& path)
{
  for (std::size_t i = 1; i < path.size(); ++i)
    next[{path[i - 1].channel, path[i - 1].virtual_channel}].insert({path[i].channel, path[i].virtual_channel});
}

TEST(HasCircle, SeesOneAndNone)
{
  std::map<Buffer, std::set<Buffer>> next{{{0, 0}, {{1, 0}}}, {{1, 0}, {{2, 0}}}};
  EXPECT_FALSE(has_circle(next));
  next[{2, 0}].insert({0, 1});
  EXPECT_FALSE(has_circle(next));
  next[{0, 1}].insert({1, 0});
  EXPECT_TRUE(has_circle(next));
}

class EveryDetour : public testing::TestWithParam<const char*>
{
};

// Ways that switches draw: over a place between, or others of the routes that the platform draws for flows.
bool drawn(const Topology& topology, Vertex from, Vertex to, std::uint64_t draw, Path& path)
{
  return topology.detour(from, to, draw, path) || topology.redraw(from, to, draw, path);
}

TEST_P(EveryDetour, ConnectsAndCannotDeadlockWithTheRoutes)
{
  const bool redrawn = std::string(GetParam()).find("random") != std::string::npos;
  const auto platform = make_platform({.spec = GetParam(), .nodes = 16});
  const Topology& topology = *platform->network()->topology;
  const auto channels = topology.graph().channels();
  std::map<Buffer, std::set<Buffer>> next;
  std::uint64_t other = 0;
  for (Vertex from = 0; from < platform->node_count(); ++from)
    for (Vertex to = 0; to < platform->node_count(); ++to) {
      if (from == to)
        continue;
      const Path route = topology.route(from, to);
      add(next, route);
      for (std::uint64_t draw = 0; draw < 20; ++draw) {
        Path path;
        ASSERT_TRUE(drawn(topology, from, to, draw, path));
        ASSERT_GE(path.size(), 2U);
        if (redrawn) {
          EXPECT_EQ(path.size(), route.size());
        }
        EXPECT_EQ(path.front().channel, route.front().channel); // the NIC has chosen it before a switch can choose
        EXPECT_EQ(channels[path.front().channel].from, from);
        EXPECT_EQ(channels[path.back().channel].to, to);
        for (std::size_t i = 1; i < path.size(); ++i)
          EXPECT_EQ(channels[path[i - 1].channel].to, channels[path[i].channel].from);
        Path again;
        drawn(topology, from, to, draw, again);
        ASSERT_EQ(again.size(), path.size());
        bool same = path.size() == route.size();
        for (std::size_t i = 0; i < path.size(); ++i) {
          EXPECT_EQ(again[i].channel, path[i].channel);
          same = same && path[i].channel == route[i].channel;
        }
        other += same ? 0 : 1;
        add(next, path);
      }
    }
  EXPECT_GT(other, platform->node_count() * platform->node_count()); // of twenty times as many
  EXPECT_FALSE(has_circle(next));
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryDetour,
                         testing::Values("bxi:leaf=4,spines=4", "fat_tree:down=2x2x4,up=2x2x2,cables=1x2x1",
                                         "torus:dims=4x4", "torus:dims=7", "mesh:dims=3x4", "hyperx:dims=3x4,hosts=1",
                                         "dragonfly:groups=5,routers=4,global=1,hosts=1",
                                         "dragonfly:groups=3,routers=2,global=4,hosts=2", "slimfly:q=3,hosts=1",
                                         "torus:dims=4x4,rails=2", "hyperx:dims=3x4,hosts=1,rails=3",
                                         "bxi:leaf=4,spines=4,rails=2", "bxi:leaf=4,spines=4,routing=random",
                                         "torus:dims=4x4,routing=random", "hyperx:dims=3x4,hosts=1,routing=random",
                                         "torus:dims=4x4,rails=2,routing=random"));

TEST(Detour, IsNoneWhereThePlatformDraws)
{
  for (const char* spec : {"torus:dims=4x4,routing=valiant", "torus:dims=4x4,routing=random",
                           "dragonfly:routing=valiant", "bxi:routing=random"}) {
    const auto platform = make_platform({.spec = spec, .nodes = 16});
    Path path;
    EXPECT_FALSE(platform->network()->topology->detour(0, 5, 1, path)) << spec;
    EXPECT_TRUE(path.empty());
  }
}

TEST(Redraw, IsNoneWhereThePlatformDoesNotDraw)
{
  for (const char* spec : {"torus:dims=4x4", "torus:dims=4x4,routing=valiant", "dragonfly", "bxi", "slimfly:q=3"}) {
    const auto platform = make_platform({.spec = spec, .nodes = 16});
    Path path;
    EXPECT_FALSE(platform->network()->topology->redraw(0, 5, 1, path)) << spec;
    EXPECT_TRUE(path.empty());
  }
}

TEST(LinkNamed, IsThatOfRoutes)
{
  const auto platform = make_platform({.spec = "bxi:leaf=2,spines=2", .nodes = 4});
  const LinkIndex before = platform->link_named("bxi3 down"); // no route has asked for it
  EXPECT_EQ(platform->link(before).name, "bxi3 down");
  EXPECT_EQ(platform->route(0, 3).links.back(), before);
  EXPECT_THROW((void)platform->link_named("bxi4 down"), std::invalid_argument);
}

} // namespace
} // namespace umwelt::platform
