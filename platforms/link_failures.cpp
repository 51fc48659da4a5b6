// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/link_failures.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <simgrid/s4u/Link.hpp>

#include "platforms/link_classes.h"
#include "platforms/network.h"
#include "platforms/profiles.h"

namespace umwelt::platform
{

namespace
{

// Puts periods in order and makes one of those that touch.
void merge(LinkFailures::Periods& periods)
{
  std::sort(periods.begin(), periods.end());
  LinkFailures::Periods merged;
  for (const auto& period : periods) {
    if (!merged.empty() && period.first <= merged.back().second)
      merged.back().second = std::max(merged.back().second, period.second);
    else
      merged.push_back(period);
  }
  periods = std::move(merged);
}

sim::SimTime end_of(const LinkFailure& failure)
{
  return failure.length >= sim::never - failure.at ? sim::never : failure.at + failure.length;
}

} // namespace

LinkFailures::LinkFailures(const Platform& platform, std::span<const LinkFailure> failures) : platform_(platform)
{
  for (const LinkFailure& failure : failures) {
    const std::vector<simgrid::s4u::Link*> links = find_links(platform, failure.links, failure.text);
    for (const simgrid::s4u::Link* link : links)
      periods_[link].emplace_back(failure.at, end_of(failure));
    given_.push_back({failure, links.size(), end_of(failure) == sim::never});
  }
  add_outages();
  for (auto& [link, periods] : periods_) {
    merge(periods);
    for (const auto& [from, to] : periods) {
      changes_.push_back(from);
      if (to != sim::never)
        changes_.push_back(to);
    }
  }
  std::sort(changes_.begin(), changes_.end());
  changes_.erase(std::unique(changes_.begin(), changes_.end()), changes_.end());
  const Network* const network = platform.network();
  if (network == nullptr)
    return;
  const auto channels = network->topology->graph().channels();
  for (ChannelIndex index = 0; index < channels.size(); ++index)
    by_channel_.push_back(simgrid::s4u::Link::by_name_or_null(network->topology->channel_name(index, network->prefix)));
}

// Of each link one entry in given_, of the first time.
void LinkFailures::add_outages()
{
  const simgrid::s4u::Link* last = nullptr;
  for (const Outage& outage : platform_.outages()) {
    periods_[outage.link].emplace_back(outage.from, outage.to);
    const SimTime length = outage.to == sim::never ? sim::never : outage.to - outage.from;
    if (outage.link == last) {
      ++given_.back().failure.times;
      given_.back().for_good = length == sim::never;
    } else {
      const std::string& name = outage.link->get_name();
      given_.push_back(
          {{name, outage.from, length, fmt::format("platform {}, profile of link '{}'", platform_.name(), name)},
           1,
           length == sim::never});
    }
    last = outage.link;
  }
}

void LinkFailures::check(std::span<const NodeIndex> nodes)
{
  const auto lasts = std::find_if(given_.begin(), given_.end(), [](const Given& one) { return one.for_good; });
  if (lasts == given_.end())
    return;
  const auto refuse_if_cut = [&](NodeIndex from, NodeIndex to) {
    if (find(from, to, changes_.back()).from == sim::never)
      throw std::invalid_argument(fmt::format(
          "{}: expected failures that end, or that leave a way between the nodes of the run, got none from "
          "{} to {} from {} s on. Give it an end (:for=TIME; in a profile a later line with 1), or let fewer links "
          "fail.",
          lasts->failure.text, platform_.node(from).name, platform_.node(to).name, sim::to_seconds(changes_.back())));
  };
  const std::size_t compared = nodes.size() > most_compared ? 1 : nodes.size();
  for (std::size_t i = 0; i < compared; ++i)
    for (const NodeIndex other : nodes) {
      refuse_if_cut(nodes[i], other);
      refuse_if_cut(other, nodes[i]);
    }
}

LinkFailures::Way LinkFailures::find(NodeIndex from, NodeIndex to, SimTime when)
{
  if (when >= platform_.outages_known_until())
    throw std::runtime_error(fmt::format(
        "platform {}: expected a run that ends before {} s of simulated time, got one that goes on. Its profiles are "
        "read up to {} changes of links; let links fail less often, or say it with --fault.",
        platform_.name(), sim::to_seconds(platform_.outages_known_until()), most_changes));
  const Route& usual = platform_.route(from, to);
  auto change = std::upper_bound(changes_.begin(), changes_.end(), when);
  for (SimTime at = when;; at = *change++) {
    const bool now = at == when;
    if (whole(usual, at))
      return {now ? &usual : nullptr, false, at};
    if (const Route* other = detour(from, to, static_cast<std::size_t>(change - changes_.begin())); other != nullptr)
      return {now ? other : nullptr, now, at};
    if (change == changes_.end())
      return {nullptr, false, sim::never};
  }
}

LinkFailures::SimTime LinkFailures::first_failure(const Route& route, SimTime from, SimTime until) const
{
  SimTime first = sim::never;
  for (const LinkIndex link : route.links)
    if (const Periods* const all = periods(link); all != nullptr)
      if (const auto next = first_after(*all, from); next != all->end() && next->first < until)
        first = std::min(first, std::max(next->first, from));
  return first;
}

const LinkFailures::Periods* LinkFailures::periods(LinkIndex link) const
{
  const auto found = periods_.find(platform_.link(link).link);
  return found == periods_.end() ? nullptr : &found->second;
}

bool LinkFailures::down(const simgrid::s4u::Link* link, SimTime when) const
{
  const auto found = periods_.find(link);
  if (found == periods_.end())
    return false;
  const auto next = first_after(found->second, when);
  return next != found->second.end() && when >= next->first;
}

// Between changes nothing changes: a way is looked for once.
const Route* LinkFailures::detour(NodeIndex from, NodeIndex to, std::size_t epoch)
{
  if (by_channel_.empty() || epoch == 0)
    return nullptr;
  const auto [known, fresh] = detours_.try_emplace({epoch, static_cast<std::uint64_t>(from) << 32 | to});
  if (fresh)
    known->second = platform_.route_over(search(from, to, changes_[epoch - 1]));
  return known->second.links.empty() ? nullptr : &known->second;
}

// One of the shortest ways over links that are there (breadth first). Pairs begin to look at different neighbours, so
// that the messages of a link that fails do not all take the same other one. Nodes hand nothing on.
std::vector<simgrid::s4u::Link*> LinkFailures::search(NodeIndex from, NodeIndex to, SimTime when)
{
  const Graph& graph = platform_.network()->topology->graph();
  constexpr ChannelIndex none = ~ChannelIndex{0};
  std::vector<ChannelIndex> came_by(graph.vertices(), none);
  std::vector<Vertex> next{from};
  for (std::size_t i = 0; i < next.size() && came_by[to] == none; ++i) {
    const auto leaving = graph.leaving(next[i]);
    for (std::size_t k = 0; k < leaving.size(); ++k) {
      const ChannelIndex channel = leaving[(k + from + to) % leaving.size()];
      const Vertex there = graph.channels()[channel].to;
      const bool passable = there == to || there >= graph.nodes();
      if (!passable || there == from || came_by[there] != none || by_channel_[channel] == nullptr ||
          down(by_channel_[channel], when))
        continue;
      came_by[there] = channel;
      next.push_back(there);
    }
  }
  std::vector<simgrid::s4u::Link*> links;
  if (came_by[to] == none)
    return links;
  for (Vertex at = to; at != from; at = graph.channels()[came_by[at]].from)
    links.push_back(by_channel_[came_by[at]]);
  std::reverse(links.begin(), links.end());
  return links;
}

} // namespace umwelt::platform
