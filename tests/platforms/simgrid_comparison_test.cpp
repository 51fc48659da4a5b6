// SPDX-License-Identifier: LGPL-2.1-or-later
// Our networks against SimGrid's own clusters of the same shape, which other people wrote: how many links lie between
// any two nodes.
#include <algorithm>

#include <gtest/gtest.h>

#include "platforms/platform.h"
#include "platforms/simgrid.h"
#include "tests/platforms/simgrid_zones.h"

namespace umwelt::platform
{
namespace
{

namespace s4u = simgrid::s4u;
using Counts = std::vector<std::size_t>; // links from each node to each other one

template <class Create> Counts counts_of(std::size_t nodes, Create create)
{
  std::vector<s4u::Host*> hosts(nodes);
  simgrid_engine();
  create([&](s4u::NetZone* zone, unsigned long id) {
    hosts[id] = versions::add_host(*zone, "host" + std::to_string(id), 1e9);
    return hosts[id];
  })->seal();
  simgrid_engine().seal_platform();
  Counts counts;
  for (const auto* from : hosts)
    for (const auto* to : hosts) {
      std::vector<s4u::Link*> links;
      if (from != to)
        from->route_to(to, links, nullptr);
      counts.push_back(links.size());
    }
  release_simgrid();
  return counts;
}

Counts counts_of(const std::string& spec, std::size_t without = 0)
{
  const auto platform = make_platform({.spec = spec});
  Counts counts;
  for (NodeIndex from = 0; from < platform->node_count(); ++from)
    for (NodeIndex to = 0; to < platform->node_count(); ++to)
      counts.push_back(from == to ? 0 : platform->route(from, to).links.size() - without);
  return counts;
}

TEST(SimGrid, FatTreeHasAsManyHops)
{
  const auto theirs = counts_of(48, [](const versions::HostMaker& make) {
    return versions::add_fat_tree({4, 3, 4}, {1, 2, 3}, make);
  });
  EXPECT_EQ(counts_of("fat_tree:down=4x3x4,up=1x2x3"), theirs);
}

TEST(SimGrid, TorusHasAsManyHops)
{
  const auto theirs = counts_of(60, [](const versions::HostMaker& make) {
    return versions::add_torus({5, 4, 3}, make);
  });
  EXPECT_EQ(counts_of("torus:dims=5x4x3", 2), theirs); // there nodes are the switches
}

// Its global cables lie otherwise, so that single routes differ; those within a group and the longest do not.
TEST(SimGrid, DragonflyHasTheSameDiameter)
{
  const auto theirs = counts_of(32, [](const versions::HostMaker& make) {
    return versions::add_dragonfly({{4, 1}, {1, 1}, {4, 1}, 2}, make);
  });
  const auto ours = counts_of("dragonfly:groups=4,routers=4,global=1,hosts=2");
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t from = 0; from < 32; ++from)
    for (std::size_t to = 0; to < 32; ++to)
      if (from / 8 == to / 8) {
        EXPECT_EQ(ours[from * 32 + to], theirs[from * 32 + to]) << from << " to " << to;
      }
  EXPECT_EQ(*std::max_element(ours.begin(), ours.end()), *std::max_element(theirs.begin(), theirs.end()));
}

} // namespace
} // namespace umwelt::platform
