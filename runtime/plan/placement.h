// SPDX-License-Identifier: LGPL-2.1-or-later
// Which rank runs on which cores of which simulated node.
//
// The rules are mpirun's (mapping, then ranking) with two differences that options.h explains: without hosts every rank
// has a node of its own, and ranks never share a core. --placement (node_order.h) says in which order nodes are taken.
//
// Names of --host and --hostfile are nodes of the platform. If the platform knows none of them (a host file copied from
// the real machine), the n-th host becomes the platform's n-th node and gives it its name. A mixture is an error.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/platform.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{

struct RankPlace {
  unsigned program = 0; // index in RunOptions::programs
  platform::NodeIndex node = 0;
  unsigned local_rank = 0; // among the ranks of all programs on the node, in rank order
  unsigned core = 0;       // first of the rank's cores
  unsigned cores = 1;      // how many it has
};

// How many ranks a node may take.
struct NodeSeats {
  platform::NodeIndex node = 0;
  unsigned limit = 0;    // by slots, -N and --map-by
  unsigned capacity = 0; // by its cores
};

struct Placement {
  std::vector<RankPlace> ranks;       // indexed by rank
  std::vector<std::string> hostnames; // by node: what gethostname() shows there
  std::vector<unsigned> local_sizes;  // by node: ranks on it
  std::vector<NodeSeats> seats;       // of the nodes that may take ranks, in the order in which they are filled
};

// How many nodes the platform should have, asked before it is made. Where this depends on the cores of a node (--map-by
// slot or node without hosts and -N) there is one for each rank; a file of --placement names the last one.
unsigned nodes_wanted(const RunOptions& run);

// For each rank the index of its program, as far as that can be said before the platform is made; empty where the slots
// of hosts decide how many ranks there are.
std::vector<unsigned> programs_before_placement(const RunOptions& run);

// Throws UsageError if the ranks do not fit or a host is unknown.
Placement place_ranks(const RunOptions& run, std::string_view platform_name, std::span<const platform::Node> nodes);

// One line per used node with its ranks and cores, for --display-map.
std::string placement_map(const Placement& placement);

} // namespace umwelt::plan
