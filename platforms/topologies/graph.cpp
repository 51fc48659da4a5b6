// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/graph.h"

#include <algorithm>
#include <utility>

namespace umwelt::platform
{

void Graph::connect(Vertex a, Vertex b, CableKind kind)
{
  channels_.push_back({a, b, kind});
  channels_.push_back({b, a, kind});
}

void Graph::finish()
{
  first_.assign(vertices() + std::size_t{1}, 0);
  for (const Channel& channel : channels_)
    ++first_[channel.from + std::size_t{1}];
  for (std::size_t vertex = 1; vertex < first_.size(); ++vertex)
    first_[vertex] += first_[vertex - 1];
  leaving_.resize(channels_.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end());
  for (ChannelIndex channel = 0; channel < channels_.size(); ++channel)
    leaving_[next[channels_[channel].from]++] = channel;
  for (Vertex vertex = 0; vertex < vertices(); ++vertex)
    std::sort(leaving_.begin() + first_[vertex], leaving_.begin() + first_[vertex + 1],
              [this](ChannelIndex a, ChannelIndex b) {
                return std::pair(channels_[a].to, a) < std::pair(channels_[b].to, b);
              });
}

std::span<const ChannelIndex> Graph::leaving(Vertex from) const
{
  return std::span(leaving_).subspan(first_[from], first_[from + 1] - first_[from]);
}

std::span<const ChannelIndex> Graph::between(Vertex from, Vertex to) const
{
  const std::span<const ChannelIndex> all = leaving(from);
  const auto before = [this](ChannelIndex channel, Vertex vertex) { return channels_[channel].to < vertex; };
  const auto begin = std::lower_bound(all.begin(), all.end(), to, before);
  const auto end = std::lower_bound(begin, all.end(), to + 1, before);
  return {begin, end};
}

} // namespace umwelt::platform
