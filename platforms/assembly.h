// SPDX-License-Identifier: LGPL-2.1-or-later
// From the shape of a network to a platform: nodes and cables of SimGrid, with the routes of the topology.
#pragma once

#include <memory>
#include <string>

#include "platforms/network.h"
#include "platforms/platform.h"

namespace umwelt::platform
{

// Parameters of the nodes; a network's own come before them.
struct Machine {
  // The nodes of the measured BXI cluster: two AMD EPYC 7763 of 64 cores.
  std::uint64_t cores = 128;
  std::uint64_t sockets = 2;
  std::uint64_t memory = 256UL << 30;
  std::uint64_t rails = 1;

  template <class Visitor> void visit_machine(Visitor& v)
  {
    v.count("cores", cores, "per node");
    v.count("sockets", sockets, "per node, each a NUMA node");
    v.size("memory", memory, "per node");
    v.count(
        "rails", rails,
        "cables of a node, each into a network of its own; the destination chooses one, the flow if routing=random");
  }
};

// Parameters of cables, between nodes and switches and between switches.
struct Cables {
  Cable node;
  Cable local;

  template <class Visitor> void visit_cables(Visitor& v)
  {
    v.bandwidth("bw", node.bandwidth, "of a cable between node and switch, per direction");
    v.time("lat", node.latency, "of a cable between node and switch, with its share of the switch");
    v.bandwidth("switch_bw", local.bandwidth, "of a cable between switches, per direction");
    v.time("switch_lat", local.latency, "of a cable between switches, with its share of them");
  }
};

// The machine's rails. Throws std::invalid_argument if there can be no such number.
std::uint32_t rails_of(const std::string& object, const Machine& machine);

// The request's cores go before the machine's. `nodes` of the network may be 0: all. Throws std::invalid_argument for
// cores, sockets or memory that cannot be.
std::unique_ptr<Platform> assemble(const Request& request, const std::string& name, Network network, Machine machine);

} // namespace umwelt::platform
