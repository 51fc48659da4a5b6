// SPDX-License-Identifier: LGPL-2.1-or-later
// What networks have in common in which every switch carries as many nodes: node n hangs on switch n / hosts. Their
// topologies say how a message gets from switch to switch on a shortest route; Valiant's way over a drawn switch (L.
// Valiant, "A scheme for fast parallel communication", 1982) is made of two such, the second in virtual channels of its
// own.
#pragma once

#include "platforms/topologies/routing.h"
#include "platforms/topologies/topology.h"

namespace umwelt::platform
{

class DirectTopology : public Topology
{
public:
  [[nodiscard]] Path route(Vertex from, Vertex to) const final;
  // Valiant's, over the switch or group that is drawn.
  bool detour(Vertex from, Vertex to, std::uint64_t draw, Path& path) const final;

protected:
  struct Choice {
    Routing routing = Routing::minimal;
    std::uint64_t seed = 0;
    std::uint32_t virtual_channels = 1; // that a shortest route may use
  };
  DirectTopology(Graph graph, std::uint32_t hosts, Choice choice)
      : Topology(std::move(graph)), hosts_(hosts), choice_(choice)
  {
  }

  // A graph whose nodes have their cables, and whose switches have none between them yet.
  static Graph with_nodes(std::uint32_t switches, std::uint32_t hosts);

  // Source and destination of a message: what random choices depend on.
  struct Flow {
    Vertex from = 0;
    Vertex to = 0;
  };
  // Appends a shortest route between two different switches; its virtual channels count from `base`.
  virtual void append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const = 0;
  // Appends Valiant's route between two different switches; `random` is one of 0 .. 2^32-1.
  virtual void append_valiant(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t random, Path& path) const;

  void append(SwitchIndex from, SwitchIndex to, std::uint32_t virtual_channel, Path& path,
              std::uint32_t parallel = 0) const;
  [[nodiscard]] Vertex vertex(SwitchIndex index) const { return graph().nodes() + index; }
  [[nodiscard]] std::uint32_t hosts() const { return hosts_; }
  [[nodiscard]] const Choice& choice() const { return choice_; }

private:
  std::uint32_t hosts_;
  Choice choice_;
};

} // namespace umwelt::platform
