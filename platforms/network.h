// SPDX-License-Identifier: LGPL-2.1-or-later
// The network of a platform that one of our builders made: its shape, its names, its cables.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "platforms/topologies/topology.h"
#include "runtime/base/time.h"

namespace simgrid::s4u
{
class Link;
}

namespace umwelt::platform
{

struct Cable {
  double bandwidth = 12.5e9; // 100 Gb/s, BXI's signalling rate; framing is the NIC model's affair
  // BXI switch about 130 ns port to port, plus cables; a link carries its share of the switches at its ends.
  sim::SimTime latency = 100 * sim::nanosecond;
};

struct Network {
  std::shared_ptr<const Topology> topology;
  std::string prefix = "node";      // node 3 is "node3"
  std::array<Cable, 3> cables = {}; // by CableKind
  std::uint32_t nodes = 0;          // those of the topology that are there, from the first on
  // What SimGrid is told as the next route, in place of the topology's (detour.h); empty: that one.
  std::shared_ptr<std::vector<simgrid::s4u::Link*>> detour = std::make_shared<std::vector<simgrid::s4u::Link*>>();

  [[nodiscard]] const Cable& cable(CableKind kind) const { return cables[static_cast<std::size_t>(kind)]; }
  // Whether a vertex is a node that is left out.
  [[nodiscard]] bool absent(Vertex vertex) const { return vertex >= nodes && vertex < topology->graph().nodes(); }
};

} // namespace umwelt::platform
