// SPDX-License-Identifier: LGPL-2.1-or-later
// Nodes and switches with the cables between them. A cable is two channels, one per direction, that share nothing;
// channel c and c ^ 1 are the two directions of one cable.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace umwelt::platform
{

using Vertex = std::uint32_t; // nodes first (their NodeIndex), then switches
using ChannelIndex = std::uint32_t;

// Cables of one kind have one bandwidth and one latency.
enum class CableKind : std::uint8_t { node, local, global };
inline constexpr std::array<const char*, 3> cable_kind_names = {"node", "local", "global"}; // by CableKind

struct Channel {
  Vertex from = 0;
  Vertex to = 0;
  CableKind kind = CableKind::node;
};

class Graph
{
public:
  Graph(std::uint32_t nodes, std::uint32_t switches) : nodes_(nodes), switches_(switches) {}

  void connect(Vertex a, Vertex b, CableKind kind);
  // Sorts the channels for the questions below; after the last connect().
  void finish();

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint32_t switches() const { return switches_; }
  [[nodiscard]] std::uint32_t vertices() const { return nodes_ + switches_; }
  [[nodiscard]] std::span<const Channel> channels() const { return channels_; }
  // Those that leave a vertex, by the vertex they lead to; parallel ones in the order in which they were connected.
  [[nodiscard]] std::span<const ChannelIndex> leaving(Vertex from) const;
  // All from one vertex to another: several if cables are parallel, none if the two are no neighbours.
  [[nodiscard]] std::span<const ChannelIndex> between(Vertex from, Vertex to) const;

private:
  std::uint32_t nodes_;
  std::uint32_t switches_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> first_; // by vertex: where its channels begin in leaving_
  std::vector<ChannelIndex> leaving_;
};

} // namespace umwelt::platform
