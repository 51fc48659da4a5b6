// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/topology.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace umwelt::platform
{

Topology::Position Topology::on_circle(std::uint32_t index, std::uint32_t count)
{
  const double angle = 2 * std::numbers::pi * index / std::max(count, 1U);
  return {0.5 + 0.5 * std::sin(angle), 0.5 - 0.5 * std::cos(angle)};
}

Topology::Position Topology::position(SwitchIndex index) const
{
  return on_circle(index, graph_.switches());
}

std::string Topology::vertex_name(Vertex vertex, const std::string& prefix) const
{
  return vertex < graph_.nodes() ? fmt::format("{}{}", prefix, vertex) : switch_name(vertex - graph_.nodes());
}

std::string Topology::channel_name(ChannelIndex channel, const std::string& prefix) const
{
  const Channel& one = graph_.channels()[channel];
  const Channel& forward = graph_.channels()[channel & ~1U]; // cables of nodes begin at the node
  std::string name;
  std::span<const ChannelIndex> same;
  if (one.kind == CableKind::node) {
    name = fmt::format("{}{} {}", prefix, forward.from, one.from == forward.from ? "up" : "down");
    same = graph_.leaving(forward.from); // a node may have cables to several switches
    channel &= ~1U;
  } else {
    name = fmt::format("{} to {}", vertex_name(one.from, prefix), vertex_name(one.to, prefix));
    same = graph_.between(one.from, one.to);
  }
  const auto number = std::find(same.begin(), same.end(), channel) - same.begin();
  return number == 0 ? name : fmt::format("{} #{}", name, number + 1);
}

} // namespace umwelt::platform
