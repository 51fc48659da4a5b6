// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/placement.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "platforms/topologies/shape.h"
#include "runtime/base/mix.h"
#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"

namespace umwelt::plan
{
namespace
{

bool has_hosts(const RunOptions& run)
{
  return std::any_of(run.programs.begin(), run.programs.end(),
                     [](const AppContext& app) { return !app.hosts.empty(); });
}

unsigned ceiling(unsigned a, unsigned b)
{
  return a / b + (a % b != 0 ? 1 : 0);
}

// A node that may take ranks.
struct Seat {
  platform::NodeIndex node = 0;
  unsigned limit = 0; // ranks it may take
  unsigned taken = 0; // ranks it has
};

class Placer
{
public:
  Placer(const RunOptions& run, std::string_view platform_name, std::span<const platform::Node> nodes)
      : run_(run), platform_name_(platform_name), nodes_(nodes), used_cores_(nodes.size())
  {
    for (const platform::Node& node : nodes)
      result_.hostnames.push_back(node.name);
    result_.local_sizes.resize(nodes.size());
  }

  Placement place()
  {
    if (has_hosts(run_))
      seat_hosts();
    else
      seat_platform();
    for (unsigned program = 0; program < run_.programs.size(); ++program) {
      if (run_.node_order.kind == NodeOrder::Kind::file)
        place_by_file(program);
      else
        place_program(program);
    }
    std::vector<std::size_t> all(seats_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    order(all);
    for (const std::size_t seat : all)
      result_.seats.push_back({seats_[seat].node, seats_[seat].limit, capacity(seats_[seat].node)});
    return std::move(result_);
  }

private:
  unsigned capacity(platform::NodeIndex node) const { return nodes_[node].cores / run_.cores_per_rank; }

  void seat_platform()
  {
    for (platform::NodeIndex node = 0; node < nodes_.size(); ++node) {
      unsigned limit = capacity(node);
      if (run_.ranks_per_node)
        limit = std::min(limit, *run_.ranks_per_node);
      else if (run_.map_by == MapBy::automatic)
        limit = std::min(limit, 1u);
      seats_.push_back({node, limit});
    }
  }

  void seat_hosts()
  {
    std::vector<const Host*> hosts; // the union over all programs, in order of appearance
    for (const AppContext& app : run_.programs) {
      for (const Host& host : app.hosts) {
        if (std::none_of(hosts.begin(), hosts.end(), [&](const Host* known) { return known->name == host.name; }))
          hosts.push_back(&host);
      }
    }
    std::map<std::string_view, platform::NodeIndex> by_name;
    for (platform::NodeIndex node = 0; node < nodes_.size(); ++node)
      by_name.emplace(nodes_[node].name, node);
    const auto stranger =
        std::find_if(hosts.begin(), hosts.end(), [&](const Host* host) { return !by_name.contains(host->name); });
    const bool none_known =
        std::none_of(hosts.begin(), hosts.end(), [&](const Host* host) { return by_name.contains(host->name); });
    if (none_known)
      rename_nodes(hosts);
    else if (stranger != hosts.end())
      throw_unknown_host(**stranger, by_name);

    for (platform::NodeIndex next = 0; const Host* host : hosts) {
      const platform::NodeIndex node = none_known ? next++ : by_name.at(host->name);
      const unsigned cores = capacity(node);
      unsigned limit = host->slots == 0 ? cores : host->slots;
      if (run_.oversubscribe)
        limit = host->max_slots == 0 ? cores : host->max_slots;
      if (run_.ranks_per_node)
        limit = std::min(run_.oversubscribe ? cores : limit, *run_.ranks_per_node);
      seats_.push_back({node, std::min(limit, cores)});
      host_seats_.emplace(host->name, seats_.size() - 1);
    }
  }

  void rename_nodes(const std::vector<const Host*>& hosts)
  {
    if (hosts.size() > nodes_.size())
      throw UsageError(fmt::format("platform {}", platform_name_),
                       fmt::format("{} nodes, one for each host", hosts.size()), fmt::format("{} nodes", nodes_.size()),
                       "Name fewer hosts or take a larger platform (`umwelt platforms`).");
    for (std::size_t i = 0; i < hosts.size(); ++i)
      result_.hostnames[i] = hosts[i]->name;
  }

  [[noreturn]] void throw_unknown_host(const Host& host,
                                       const std::map<std::string_view, platform::NodeIndex>& by_name) const
  {
    std::vector<std::string_view> names;
    std::transform(by_name.begin(), by_name.end(), std::back_inserter(names),
                   [](const auto& known) { return known.first; });
    throw UsageError(
        host.where,
        fmt::format("nodes of platform {} ({} nodes, {} to {})", platform_name_, nodes_.size(), nodes_.front().name,
                    nodes_.back().name),
        in_quotes(host.name),
        fmt::format("The nearest known name is {}. Names the platform does not have are only taken if all are "
                    "such; they then name its nodes in order.",
                    nearest(host.name, names)));
  }

  // Indices of the seats a program may use: those of its own hosts, in their order, or all.
  std::vector<std::size_t> seats_of(const AppContext& app) const
  {
    std::vector<std::size_t> seats;
    if (app.hosts.empty()) {
      seats.resize(seats_.size());
      std::iota(seats.begin(), seats.end(), std::size_t{0});
    } else {
      for (const Host& host : app.hosts)
        seats.push_back(host_seats_.at(host.name));
    }
    order(seats);
    return seats;
  }

  // Every node has a number drawn by the seed; the smallest comes first, in all programs.
  void order(std::vector<std::size_t>& seats) const
  {
    if (run_.node_order.kind != NodeOrder::Kind::random)
      return;
    const std::uint64_t seed = sim::splitmix(run_.node_order.seed.value_or(run_.seed));
    const auto key = [&](std::size_t seat) { return sim::splitmix(seed ^ seats_[seat].node); }; // no two are equal
    std::sort(seats.begin(), seats.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }

  void place_by_file(unsigned program)
  {
    const NodeOrder& order = run_.node_order;
    const unsigned ranks = run_.programs[program].ranks.value_or(1);
    for (unsigned i = 0; i < ranks; ++i) {
      const platform::NodeIndex node = node_called(order.nodes[result_.ranks.size()]);
      if (result_.local_sizes[node] == capacity(node))
        throw UsageError(order.where,
                         fmt::format("at most {} ranks on {}, one for its {} cores{}", capacity(node),
                                     nodes_[node].name, nodes_[node].cores,
                                     run_.cores_per_rank > 1 ? " divided by those of a rank" : ""),
                         "more", "Name other nodes, or take a platform with more cores.");
      ++seats_[node].taken;
      add_rank(program, node);
    }
  }

  platform::NodeIndex node_called(const std::string& text)
  {
    if (by_name_.empty())
      for (platform::NodeIndex node = 0; node < nodes_.size(); ++node)
        by_name_.emplace(nodes_[node].name, node);
    if (const auto known = by_name_.find(text); known != by_name_.end())
      return known->second;
    std::uint64_t number = 0;
    if (parse_count(text, number) && number < nodes_.size())
      return static_cast<platform::NodeIndex>(number);
    std::vector<std::string_view> names;
    std::transform(by_name_.begin(), by_name_.end(), std::back_inserter(names),
                   [](const auto& known) { return known.first; });
    throw UsageError(run_.node_order.where,
                     fmt::format("nodes of platform {}, {} to {} or 0 to {}", platform_name_, nodes_.front().name,
                                 nodes_.back().name, nodes_.size() - 1),
                     in_quotes(text), fmt::format("The nearest known name is {}.", nearest(text, names)));
  }

  unsigned free_slots(const std::vector<std::size_t>& seats) const
  {
    return std::accumulate(seats.begin(), seats.end(), 0u, [&](unsigned sum, std::size_t seat) {
      return sum + seats_[seat].limit - seats_[seat].taken;
    });
  }

  // -np was not given: all slots of the hosts, or N on each; without hosts one node's worth.
  unsigned default_ranks(const std::vector<std::size_t>& seats, unsigned free) const
  {
    if (!has_hosts(run_))
      return run_.ranks_per_node.value_or(1);
    return run_.ranks_per_node ? *run_.ranks_per_node * static_cast<unsigned>(seats.size()) : std::max(free, 1u);
  }

  void place_program(unsigned program)
  {
    const AppContext& app = run_.programs[program];
    const std::vector<std::size_t> seats = seats_of(app);
    const unsigned free = free_slots(seats);
    const unsigned ranks = app.ranks.value_or(default_ranks(seats, free));
    if (ranks > free)
      throw_too_few(app, ranks, free, seats);

    const std::vector<unsigned> dealt = deal(seats, ranks);
    const RankBy rank_by = run_.rank_by.value_or(run_.map_by == MapBy::node ? RankBy::node : RankBy::slot);
    std::vector<unsigned> left = dealt;
    if (rank_by == RankBy::slot) {
      for (std::size_t i = 0; i < seats.size(); ++i) {
        for (; left[i] > 0; --left[i])
          add_rank(program, seats_[seats[i]].node);
      }
    } else {
      for (unsigned placed = 0; placed < ranks;) {
        for (std::size_t i = 0; i < seats.size(); ++i) {
          if (left[i] == 0)
            continue;
          --left[i];
          ++placed;
          add_rank(program, seats_[seats[i]].node);
        }
      }
    }
  }

  // Number of ranks for each of `seats`. With -N nodes are filled as with slots; --map-by node then numbers the ranks
  // only.
  std::vector<unsigned> deal(const std::vector<std::size_t>& seats, unsigned ranks)
  {
    std::vector<unsigned> dealt(seats.size());
    const bool one_at_a_time = run_.map_by == MapBy::node && !run_.ranks_per_node;
    while (ranks > 0) {
      for (std::size_t i = 0; i < seats.size() && ranks > 0; ++i) {
        Seat& seat = seats_[seats[i]];
        const unsigned count = std::min({ranks, seat.limit - seat.taken, one_at_a_time ? 1u : ranks});
        seat.taken += count;
        dealt[i] += count;
        ranks -= count;
      }
    }
    return dealt;
  }

  void add_rank(unsigned program, platform::NodeIndex node)
  {
    result_.ranks.push_back({program, node, result_.local_sizes[node]++, used_cores_[node], run_.cores_per_rank});
    used_cores_[node] += run_.cores_per_rank;
  }

  [[noreturn]] void throw_too_few(const AppContext& app, unsigned ranks, unsigned free,
                                  const std::vector<std::size_t>& seats) const
  {
    unsigned cores = 0; // ranks the nodes could take by their cores
    for (const std::size_t seat : seats) {
      const unsigned limit = capacity(seats_[seat].node);
      cores += limit - std::min(limit, seats_[seat].taken);
    }
    const std::string object = fmt::format("platform {} for program {}", platform_name_, in_quotes(app.argv.front()));
    const std::string expected = fmt::format("slots for {} ranks", ranks);
    const std::string got =
        fmt::format("{} free slots on {} nodes of {} cores{}", free, seats.size(), cores_text(seats),
                    run_.cores_per_rank > 1 ? fmt::format(" ({} cores per rank)", run_.cores_per_rank) : "");
    std::string next;
    if (cores < ranks)
      next =
          "Take a platform with more nodes or cores (`umwelt platforms`), or fewer ranks: each has cores of its own.";
    else if (has_hosts(run_))
      next = "Give the hosts more slots (--host NAME:N, slots=N), or pass --oversubscribe to use all their cores.";
    else
      next = fmt::format("Put several ranks on a node with -N {}, or take a platform with more nodes.",
                         ceiling(ranks, static_cast<unsigned>(seats.size())));
    throw UsageError(object, expected, got, next);
  }

  std::string cores_text(const std::vector<std::size_t>& seats) const
  {
    unsigned least = std::numeric_limits<unsigned>::max();
    unsigned most = 0;
    for (const std::size_t seat : seats) {
      least = std::min(least, nodes_[seats_[seat].node].cores);
      most = std::max(most, nodes_[seats_[seat].node].cores);
    }
    return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  }

  const RunOptions& run_;
  std::string_view platform_name_;
  std::span<const platform::Node> nodes_;
  std::vector<Seat> seats_;
  std::map<std::string_view, std::size_t> host_seats_;
  std::map<std::string_view, platform::NodeIndex> by_name_; // filled when it is needed
  std::vector<unsigned> used_cores_;                        // by node
  Placement result_;
};

// A platform that grows with the run has nodes of rising numbers: as many as the highest that is named.
unsigned nodes_named(const std::vector<std::string>& names)
{
  std::uint64_t highest = 0;
  for (const std::string& name : names) {
    const auto digits = name.find_last_not_of("0123456789") + 1; // 0 if there are digits only
    std::uint64_t number = 0;
    if (parse_count(std::string_view(name).substr(digits), number) && number < platform::most_nodes)
      highest = std::max(highest, number);
  }
  return static_cast<unsigned>(highest + 1);
}

} // namespace

unsigned nodes_wanted(const RunOptions& run)
{
  if (run.node_order.kind == NodeOrder::Kind::file)
    return nodes_named(run.node_order.nodes);
  std::set<std::string_view> hosts;
  unsigned ranks = 0;
  for (const AppContext& app : run.programs) {
    ranks += app.ranks.value_or(run.ranks_per_node.value_or(1));
    for (const Host& host : app.hosts)
      hosts.insert(host.name);
  }
  if (!hosts.empty())
    return static_cast<unsigned>(hosts.size());
  ranks = std::max(ranks, run.universe.value_or(0));
  return run.ranks_per_node ? ceiling(ranks, *run.ranks_per_node) : ranks;
}

std::vector<unsigned> programs_before_placement(const RunOptions& run)
{
  std::vector<unsigned> programs;
  for (unsigned i = 0; i < run.programs.size(); ++i) {
    const AppContext& app = run.programs[i];
    if (!app.ranks && std::any_of(run.programs.begin(), run.programs.end(),
                                  [](const AppContext& other) { return !other.hosts.empty(); }))
      return {};
    programs.insert(programs.end(), app.ranks.value_or(run.ranks_per_node.value_or(1)), i);
  }
  return programs;
}

Placement place_ranks(const RunOptions& run, std::string_view platform_name, std::span<const platform::Node> nodes)
{
  return Placer(run, platform_name, nodes).place();
}

std::string placement_map(const Placement& placement)
{
  std::string text;
  for (platform::NodeIndex node = 0; node < placement.hostnames.size(); ++node) {
    if (placement.local_sizes[node] == 0)
      continue;
    text += fmt::format("{}:", placement.hostnames[node]);
    for (std::size_t rank = 0; rank < placement.ranks.size(); ++rank) {
      const RankPlace& place = placement.ranks[rank];
      if (place.node != node)
        continue;
      text += fmt::format(" {}[", rank);
      text += place.cores == 1 ? fmt::format("{}]", place.core)
                               : fmt::format("{}-{}]", place.core, place.core + place.cores - 1);
    }
    text += '\n';
  }
  return text;
}

} // namespace umwelt::plan
