// SPDX-License-Identifier: LGPL-2.1-or-later
// What networks have in common in which every switch carries as many nodes: node n hangs on switch n / hosts. Their
// topologies say how a message gets from switch to switch on a shortest route; Valiant's way over a drawn switch (L.
// Valiant, "A scheme for fast parallel communication", 1982) is made of two such, the second in virtual channels of its
// own.
//
// With several rails there are as many such networks beside each other (planes), and each node has a cable into each of
// them. A message stays in the plane in which it leaves its node: that of its destination, with random routing a drawn
// one.
#pragma once

#include <span>

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
  bool redraw(Vertex from, Vertex to, std::uint64_t draw, Path& path) const final;
  [[nodiscard]] std::string switch_name(SwitchIndex index) const final; // of several planes: "rail1.switch0.2"
  [[nodiscard]] std::optional<Bisection> known_bisection() const final;
  [[nodiscard]] Position position(SwitchIndex index) const final;
  [[nodiscard]] std::string part(SwitchIndex index) const final;

protected:
  struct Choice {
    Routing routing = Routing::minimal;
    std::uint64_t seed = 0;
    std::uint32_t virtual_channels = 1; // that a shortest route may use
    std::uint32_t rails = 1;            // planes
  };
  // `plane`: the first one.
  DirectTopology(const Graph& plane, std::uint32_t hosts, Choice choice);

  // A graph whose nodes have their cables, and whose switches have none between them yet.
  static Graph with_nodes(std::uint32_t switches, std::uint32_t hosts);

  // Source and destination of a message: what random choices depend on.
  struct Flow {
    Vertex from = 0;
    Vertex to = 0;
  };
  // Switches and routes of derived classes are those of the first plane; so are their names, places and parts.
  virtual std::string name_in_plane(SwitchIndex index) const = 0;
  virtual std::string part_of_plane(SwitchIndex index) const = 0;
  [[nodiscard]] virtual Position place_in_plane(SwitchIndex index) const { return on_circle(index, switches_); }
  [[nodiscard]] virtual std::optional<Bisection> bisection_of_plane() const { return std::nullopt; }
  // Appends a shortest route between two different switches; its virtual channels count from `base`.
  virtual void append_minimal(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t base, Path& path) const = 0;
  // Appends Valiant's route between two different switches; `random` is one of 0 .. 2^32-1.
  virtual void append_valiant(SwitchIndex from, SwitchIndex to, Flow flow, std::uint32_t random, Path& path) const;

  void append(SwitchIndex from, SwitchIndex to, std::uint32_t virtual_channel, Path& path,
              std::uint32_t parallel = 0) const;
  [[nodiscard]] Vertex vertex(SwitchIndex index) const { return graph().nodes() + index; }
  [[nodiscard]] std::uint32_t hosts() const { return hosts_; }
  [[nodiscard]] std::uint32_t switches() const { return switches_; } // of a plane
  // The number by which a destination chooses among equal cables, so that those of a plane share them evenly.
  [[nodiscard]] std::uint32_t chooser(SwitchIndex to, Flow flow) const
  {
    return choice_.rails == 1 ? to : flow.to / choice_.rails;
  }
  [[nodiscard]] const Choice& choice() const { return choice_; }

private:
  static Graph planes(const Graph& plane, std::uint32_t rails);
  template <class Between> void append_route(Flow flow, Between between, Path& path) const;
  // Moves a path of the first plane into that of the flow.
  void into_plane(Flow flow, std::span<Hop> path) const;

  std::uint32_t hosts_;
  std::uint32_t switches_;
  std::uint32_t channels_; // of a plane
  Choice choice_;
};

} // namespace umwelt::platform
