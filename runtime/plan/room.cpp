// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/room.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "runtime/base/usage_error.h"

namespace umwelt::plan
{

Room::Room(const RunOptions& run, const Placement& placement)
    : run_(run), placement_(placement), hosts_(std::any_of(run.programs.begin(), run.programs.end(),
                                                           [](const AppContext& app) { return !app.hosts.empty(); })),
      beyond_(!hosts_ && !run.universe), taken_(static_cast<unsigned>(placement.ranks.size()))
{
  for (const NodeSeats& seats : placement.seats)
    nodes_.push_back({seats, {}});
  for (const RankPlace& place : placement.ranks)
    for (Node& node : nodes_)
      if (node.seats.node == place.node)
        node.cores.push_back(place.core);
  const unsigned slots = std::accumulate(placement.seats.begin(), placement.seats.end(), 0U,
                                         [](unsigned sum, const NodeSeats& seats) { return sum + seats.limit; });
  universe_ = run.universe.value_or(hosts_ ? std::max(slots, taken_) : taken_);
}

unsigned Room::free_core(const Node& node) const
{
  unsigned core = 0;
  while (std::find(node.cores.begin(), node.cores.end(), core) != node.cores.end())
    core += run_.cores_per_rank;
  return core;
}

std::vector<std::size_t> Room::nodes_of(const Wish& wish) const
{
  std::vector<std::size_t> nodes;
  if (wish.hosts.empty()) {
    nodes.resize(nodes_.size());
    std::iota(nodes.begin(), nodes.end(), std::size_t{0});
  }
  for (const Host& host : wish.hosts) {
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
      return placement_.hostnames[node.seats.node] == host.name;
    });
    if (found == nodes_.end())
      throw UsageError("host " + host.name, "one of the nodes of this run", "none of them has that name",
                       hosts_ ? "Name it in --host or --hostfile." : "See the names with --display-map.");
    nodes.push_back(static_cast<std::size_t>(found - nodes_.begin()));
  }
  return nodes;
}

void Room::no_room(unsigned wanted, unsigned found, bool named) const
{
  const unsigned all = taken_ + wanted;
  std::string next;
  if (named)
    next = "Name more hosts in the info key, or leave it out.";
  else if (hosts_)
    next = "Give the hosts more slots (--host NAME:N, slots=N), or pass --oversubscribe to use all their cores.";
  else
    next = fmt::format("umwelt run --universe {}, which makes a machine for so many.", all);
  const auto plural = [](std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  throw UsageError(fmt::format("room for {}", plural(wanted, "rank")), "as many free slots",
                   fmt::format("{}, with {} on {}", found, plural(taken_, "rank"), plural(nodes_.size(), "node")),
                   next);
}

void Room::place(const Wish& wish, Nodes& nodes, std::vector<RankPlace>& places) const
{
  const std::vector<std::size_t> candidates = nodes_of(wish);
  std::map<std::size_t, unsigned> here; // of this wish
  unsigned left = wish.ranks;
  const auto most_here = [&](std::size_t index) {
    unsigned most = wish.per_node.value_or(~0U);
    for (const Host& host : wish.hosts)
      if (host.slots != 0 && placement_.hostnames[nodes[index].seats.node] == host.name)
        most = std::min(most, host.slots);
    return most;
  };
  const auto add = [&](std::size_t index) {
    Node& node = nodes[index];
    const unsigned core = free_core(node);
    node.cores.push_back(core);
    ++here[index];
    --left;
    places.push_back({wish.program, node.seats.node, 0, core, run_.cores_per_rank});
  };
  const auto full = [&](std::size_t index, unsigned limit) {
    return nodes[index].cores.size() >= limit || here[index] >= most_here(index);
  };
  for (bool any = true; any && left > 0;) {
    any = false;
    for (const std::size_t index : candidates)
      while (left > 0 && !full(index, nodes[index].seats.limit)) {
        add(index);
        any = true;
        if (wish.by_node)
          break;
      }
  }
  const bool named = !wish.hosts.empty() || wish.per_node.has_value();
  while (beyond_ && left > 0) {
    std::size_t best = nodes.size();
    for (const std::size_t index : candidates)
      if (!full(index, nodes[index].seats.capacity) &&
          (best == nodes.size() || nodes[index].cores.size() < nodes[best].cores.size()))
        best = index;
    if (best == nodes.size())
      break;
    add(best);
  }
  if (left > 0)
    no_room(wish.ranks, wish.ranks - left, named);
}

std::vector<RankPlace> Room::take(std::span<const Wish> wishes)
{
  const unsigned wanted = std::accumulate(wishes.begin(), wishes.end(), 0U,
                                          [](unsigned sum, const Wish& wish) { return sum + wish.ranks; });
  if (run_.universe && taken_ + wanted > *run_.universe)
    no_room(wanted, *run_.universe - taken_, false);
  Nodes nodes = nodes_;
  std::vector<RankPlace> places;
  for (const Wish& wish : wishes)
    place(wish, nodes, places);
  std::map<platform::NodeIndex, unsigned> local;
  for (RankPlace& each : places)
    each.local_rank = local[each.node]++;
  nodes_ = std::move(nodes);
  taken_ += wanted;
  return places;
}

void Room::give(const RankPlace& place)
{
  for (Node& node : nodes_)
    if (node.seats.node == place.node)
      if (const auto core = std::find(node.cores.begin(), node.cores.end(), place.core); core != node.cores.end())
        node.cores.erase(core);
  --taken_;
}

} // namespace umwelt::plan
