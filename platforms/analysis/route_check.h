// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether a platform can carry what a run asks of it: a route for every pair of nodes, and no deadlock. A network
// cannot deadlock if its channel dependency graph, which has an edge from each virtual channel to those in which a
// message may go on, has no cycle (W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
// interconnection networks", 1987).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platforms/platform.h"

namespace umwelt::platform
{

// A link on the way, and the virtual channel there (0 on platforms from files, which have none).
struct Step {
  std::uint32_t link = 0; // a channel of the network, or a LinkIndex of a platform from a file
  std::uint32_t virtual_channel = 0;
};
std::vector<Step> steps(const Platform& platform, NodeIndex from, NodeIndex to);
std::string link_name(const Platform& platform, std::uint32_t link);

struct RouteCheck {
  std::uint64_t nodes = 0;         // that were looked at: of very large platforms every n-th
  std::uint64_t routes = 0;        // between them, each direction counted
  std::vector<std::string> broken; // routes that do not lead from their source to their destination; the first few
  std::uint64_t longest = 0;       // links
  double average = 0;
  std::uint32_t virtual_channels = 0;
  std::vector<std::string> cycle; // links with virtual channels that wait for each other in a circle; empty: none
};

// `most`: how many nodes to look at.
RouteCheck check_routes(const Platform& platform, std::uint64_t most = 1024);

} // namespace umwelt::platform
