// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/analysis/bisection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "platforms/network.h"

namespace umwelt::platform
{

namespace
{

// Flow from the first half of the nodes to the second. The two channels of a cable are each other's way back.
class MaximumFlow
{
public:
  explicit MaximumFlow(const Network& network) : network_(network), graph_(network.topology->graph())
  {
    left_.reserve(graph_.channels().size());
    for (const Channel& channel : graph_.channels())
      left_.push_back(std::llround(network.cable(channel.kind).bandwidth)); // bytes per second
  }

  // By vertex: whether it is on the side of the first half when no more flows.
  std::vector<char> cut()
  {
    while (find_levels())
      fill();
    std::vector<char> first(graph_.vertices());
    std::transform(level_.begin(), level_.end(), first.begin(), [](std::uint32_t level) { return level != unknown; });
    return first;
  }

private:
  static constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool is_source(Vertex vertex) const { return vertex < network_.nodes / 2; }
  [[nodiscard]] bool is_sink(Vertex vertex) const { return vertex >= network_.nodes / 2 && vertex < network_.nodes; }

  bool find_levels()
  {
    level_.assign(graph_.vertices(), unknown);
    std::vector<Vertex> queue;
    for (Vertex source = 0; is_source(source); ++source) {
      level_[source] = 0;
      queue.push_back(source);
    }
    bool reached = false;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const ChannelIndex channel : graph_.leaving(queue[i])) {
        const Vertex to = graph_.channels()[channel].to;
        if (left_[channel] == 0 || level_[to] != unknown || network_.absent(to))
          continue;
        level_[to] = level_[queue[i]] + 1;
        reached = reached || is_sink(to);
        queue.push_back(to);
      }
    return reached;
  }

  // One way after the other along rising levels; a channel that led nowhere is not tried again.
  void fill()
  {
    std::vector<std::size_t> tried(graph_.vertices());
    std::vector<ChannelIndex> way;
    for (Vertex source = 0; is_source(source);) {
      const Vertex at = way.empty() ? source : graph_.channels()[way.back()].to;
      if (is_sink(at)) {
        push(way);
        way.clear();
        continue;
      }
      const auto leaving = graph_.leaving(at);
      bool went = false;
      for (; tried[at] < leaving.size() && !went; tried[at] += went ? 0 : 1) {
        const ChannelIndex channel = leaving[tried[at]];
        if (left_[channel] > 0 && level_[graph_.channels()[channel].to] == level_[at] + 1) {
          way.push_back(channel);
          went = true;
        }
      }
      if (went)
        continue;
      if (way.empty()) {
        ++source;
      } else {
        ++tried[graph_.channels()[way.back()].from];
        way.pop_back();
      }
    }
  }

  void push(const std::vector<ChannelIndex>& way)
  {
    std::int64_t amount = std::numeric_limits<std::int64_t>::max();
    for (const ChannelIndex channel : way)
      amount = std::min(amount, left_[channel]);
    for (const ChannelIndex channel : way) {
      left_[channel] -= amount;
      left_[channel ^ 1U] += amount;
    }
  }

  const Network& network_;
  const Graph& graph_;
  std::vector<std::int64_t> left_; // by channel
  std::vector<std::uint32_t> level_;
};

const Network& network_of(const Platform& platform)
{
  if (platform.network() == nullptr)
    throw std::invalid_argument(
        fmt::format("platform {}: expected one of `umwelt platforms`, got a file, of which only the routes are known, "
                    "not the shape. Leave out --bisection and --draw.",
                    platform.name()));
  if (platform.node_count() < 2)
    throw std::invalid_argument(fmt::format(
        "platform {}: expected two nodes at least to part, got one. Ask for more with --nodes.", platform.name()));
  return *platform.network();
}

} // namespace

BisectionReport cut_between_halves(const Platform& platform)
{
  const Network& network = network_of(platform);
  const std::vector<char> first = MaximumFlow(network).cut();
  BisectionReport report;
  for (const Channel& channel : network.topology->graph().channels())
    if (first[channel.from] != 0 && first[channel.to] == 0 && !network.absent(channel.to)) {
      ++report.cables[static_cast<std::size_t>(channel.kind)];
      report.bandwidth += network.cable(channel.kind).bandwidth;
    }
  return report;
}

BisectionReport bisection(const Platform& platform)
{
  const Network& network = network_of(platform);
  const auto known = network.topology->known_bisection();
  // The formulas are for cables of one bandwidth and all nodes.
  const bool equal = network.cable(CableKind::node).bandwidth == network.cable(CableKind::local).bandwidth;
  if (!known || !equal || network.nodes != network.topology->graph().nodes())
    return cut_between_halves(platform);
  BisectionReport report;
  report.known = true;
  report.source = known->source;
  for (std::size_t kind = 0; kind < report.cables.size(); ++kind) {
    report.cables[kind] = known->cables[kind];
    report.bandwidth += static_cast<double>(known->cables[kind]) * network.cables[kind].bandwidth;
  }
  return report;
}

} // namespace umwelt::platform
