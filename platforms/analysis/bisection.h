// SPDX-License-Identifier: LGPL-2.1-or-later
// What the network carries between two halves of its nodes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "platforms/platform.h"

namespace umwelt::platform
{

struct BisectionReport {
  std::array<std::uint64_t, 3> cables = {}; // that are cut, by CableKind
  double bandwidth = 0;                     // of these, bytes per second and direction
  bool known = false;                       // in closed form; else the cut between the first half of the nodes and the
                                            // second, which other halves may undercut
  std::string source;                       // of the closed form
};

// Throws std::invalid_argument if the platform comes from a file or has a single node.
BisectionReport bisection(const Platform& platform);

// The cables with the least bandwidth whose removal parts the first half of the nodes from the second: a minimum cut by
// E. Dinic's maximum flow, 1970.
BisectionReport cut_between_halves(const Platform& platform);

} // namespace umwelt::platform
