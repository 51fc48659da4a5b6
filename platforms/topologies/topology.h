// SPDX-License-Identifier: LGPL-2.1-or-later
// The shape of a network, without times: its graph, the names of its parts and the route between any two nodes in
// closed form. A route is the same in every run: what is random comes from the seed, the source and the destination.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platforms/topologies/graph.h"

namespace umwelt::platform
{

using SwitchIndex = std::uint32_t;

// A channel on the way, and in which virtual channel of it: a buffer of its own, so that messages that hold buffers and
// wait for others never wait in a circle (W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
// interconnection networks", 1987). Models that know no buffers look at the channel only.
struct Hop {
  ChannelIndex channel = 0;
  std::uint32_t virtual_channel = 0;
};
using Path = std::vector<Hop>;

// Cables that are cut when the nodes are parted into two halves, as few as can be.
struct Bisection {
  std::array<std::uint64_t, 3> cables = {}; // by CableKind
  std::string source;                       // where the formula comes from
};

class Topology
{
public:
  explicit Topology(Graph graph) : graph_(std::move(graph)) {}
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  [[nodiscard]] const Graph& graph() const { return graph_; }
  // The channels from a node to another one, in travel order.
  [[nodiscard]] virtual Path route(Vertex from, Vertex to) const = 0;
  // Another way between the same two, for switches that choose as they see how busy their cables are: over a place that
  // `draw` (any number) stands for, in virtual channels in which it and route() together cannot wait in a circle. It
  // may be route() itself. Appended to `path`. False, and nothing appended, if the routing has no such ways, which is
  // the same for all pairs: it draws for itself.
  virtual bool detour(Vertex from, Vertex to, std::uint64_t draw, Path& path) const
  {
    (void)from, (void)to, (void)draw, (void)path;
    return false;
  }
  // Another of the routes of which route() is one, where the routing draws them: for switches that draw for each packet
  // (ECMP by packet). It leaves by the same cable of the node. Appended to `path`. False, and nothing appended, if the
  // routing does not draw, which is the same for all pairs.
  virtual bool redraw(Vertex from, Vertex to, std::uint64_t draw, Path& path) const
  {
    (void)from, (void)to, (void)draw, (void)path;
    return false;
  }
  [[nodiscard]] virtual std::string switch_name(SwitchIndex index) const = 0;
  // In a closed form, if there is one for this shape.
  [[nodiscard]] virtual std::optional<Bisection> known_bisection() const { return std::nullopt; }

  // For drawings: where a switch is, each coordinate from 0 to 1, and which part of the network it belongs to.
  struct Position {
    double x = 0;
    double y = 0;
  };
  [[nodiscard]] virtual Position position(SwitchIndex index) const;
  [[nodiscard]] virtual std::string part(SwitchIndex index) const = 0;

  // "bxi3" for node 3 if `prefix` is "bxi".
  [[nodiscard]] std::string vertex_name(Vertex vertex, const std::string& prefix) const;
  // "bxi3 up", "bxi3 down", "leaf0 to spine1"; of parallel cables the second is "leaf0 to spine1 #2".
  [[nodiscard]] std::string channel_name(ChannelIndex channel, const std::string& prefix) const;

protected:
  // A place on a circle, of `count`.
  static Position on_circle(std::uint32_t index, std::uint32_t count);

private:
  Graph graph_;
};

} // namespace umwelt::platform
