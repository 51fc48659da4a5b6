// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/energy/meter.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace umwelt::energy
{

namespace
{
constexpr long double second = 1e12L; // ps

std::size_t sum(const std::vector<std::uint32_t>& counts)
{
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}
} // namespace

double Meter::Rank::joules() const
{
  return std::accumulate(activities.begin(), activities.end(), idle);
}

Meter::Meter(const Power& power, const std::vector<std::uint8_t>& states, Observer observer)
    : power_(power), observer_(std::move(observer)), nodes_(states.size()), touched_(states.size())
{
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) {
    NodeState& node = nodes_[index];
    node.state = states[index];
    node.counts.resize(power.activities());
    node.rates.resize(power.activities());
    node.integrals.resize(power.activities());
    node.touched = true;
    touched_[index] = index;
  }
}

void Meter::rank_begins(std::size_t rank, std::uint32_t node, SimTime at)
{
  edges_.push_back({at, What::rank_begins, 0, node, static_cast<std::uint32_t>(rank), 0});
}

void Meter::rank_ends(std::size_t rank, std::uint32_t node, SimTime at)
{
  edges_.push_back({at, What::rank_ends, 0, node, static_cast<std::uint32_t>(rank), 0});
}

void Meter::did(std::size_t rank, std::uint32_t node, unsigned core, Activity activity, SimTime from, SimTime until)
{
  if (until <= from)
    return;
  const auto number = static_cast<std::uint16_t>(core);
  edges_.push_back({from, What::begins, number, node, static_cast<std::uint32_t>(rank), activity});
  edges_.push_back({until, What::ends, number, node, static_cast<std::uint32_t>(rank), activity});
}

void Meter::state(std::uint32_t node, std::uint8_t state, SimTime at)
{
  edges_.push_back({at, What::state, 0, node, 0, state});
}

void Meter::phase(std::size_t rank, std::uint32_t node, std::size_t phase, SimTime at)
{
  edges_.push_back({at, What::phase, 0, node, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(phase)});
}

void Meter::settle(SimTime until)
{
  std::sort(edges_.begin(), edges_.end());
  take_until(until);
  room_ = std::max(smallest_room, 2 * edges_.size());
}

// Edges are sorted.
void Meter::take_until(SimTime until)
{
  std::size_t taken = 0;
  for (; taken < edges_.size() && edges_[taken].at < until; ++taken) {
    const Edge& edge = edges_[taken];
    if (edge.at != now_) {
      draw(now_);
      now_ = edge.at;
    }
    take(edge);
  }
  edges_.erase(edges_.begin(), edges_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void Meter::advance(NodeState& node, SimTime at) const
{
  if (at <= node.at)
    return;
  const long double seconds = static_cast<long double>(at - node.at) / second;
  node.at = at;
  node.joules += node.watts * seconds;
  if (node.ranks == 0) {
    node.unclaimed += node.watts * seconds;
    return;
  }
  for (std::size_t activity = 0; activity < node.rates.size(); ++activity)
    node.integrals[activity] += node.rates[activity] * seconds;
  const auto index = static_cast<std::uint32_t>(&node - nodes_.data());
  node.idle += power_.node(index).states[node.state].idle * seconds / node.ranks;
}

double Meter::watts_of(const NodeState& node, std::uint32_t index) const
{
  const NodePower& kind = power_.node(index);
  const PowerState& state = kind.states[node.state];
  if (node.ranks == 0) {
    const Unused rule = node.used ? power_.ended : power_.unused;
    return rule == Unused::idle ? state.idle : rule == Unused::off ? kind.off : 0;
  }
  double watts = state.watts(sum(node.counts));
  for (std::size_t activity = 0; activity < node.counts.size(); ++activity)
    watts += node.counts[activity] * state.extra(static_cast<Activity>(activity));
  return watts;
}

void Meter::draw(SimTime at)
{
  bool changed = false;
  for (const std::uint32_t index : touched_) {
    NodeState& node = nodes_[index];
    node.touched = false;
    const double watts = watts_of(node, index);
    const PowerState& state = power_.node(index).states[node.state];
    const std::size_t busy = sum(node.counts);
    const double each = busy == 0 ? 0 : (state.watts(busy) - state.idle) / static_cast<double>(busy);
    for (std::size_t activity = 0; activity < node.rates.size(); ++activity)
      node.rates[activity] = each + state.extra(static_cast<Activity>(activity));
    if (watts == node.watts)
      continue;
    watts_ += static_cast<long double>(watts) - node.watts;
    node.watts = watts;
    node.peak = std::max(node.peak, watts);
    changed = true;
    if (observer_)
      observer_(at, index, watts);
  }
  touched_.clear();
  if (changed && static_cast<double>(watts_) > peak_) {
    peak_ = static_cast<double>(watts_);
    peak_at_ = at;
  }
}

Meter::RankState& Meter::rank_of(std::uint32_t rank)
{
  if (rank >= ranks_.size())
    ranks_.resize(rank + 1);
  RankState& state = ranks_[rank];
  if (state.activities.empty()) {
    state.activities.resize(power_.activities());
    state.phases.resize(1);
  }
  return state;
}

void Meter::give(RankState& rank, long double joules)
{
  rank.phases[rank.phase] += joules;
}

void Meter::settle_idle(const NodeState& node, RankState& rank)
{
  if (rank.alive) {
    rank.idle += node.idle - rank.settled;
    give(rank, node.idle - rank.settled);
  }
  rank.settled = node.idle;
}

void Meter::settle_core(NodeState& node, Core& core)
{
  if (core.busy.empty())
    return;
  const long double joules =
      (node.integrals[core.activity] - core.settled) / static_cast<long double>(core.busy.size());
  for (const Busy& busy : core.busy) {
    RankState& rank = rank_of(busy.rank);
    rank.activities[busy.activity] += joules;
    give(rank, joules);
  }
  --node.counts[core.activity];
}

void Meter::choose(std::uint32_t index, Core& core)
{
  if (core.busy.empty())
    return;
  NodeState& node = nodes_[index];
  const std::vector<double>& full = power_.node(index).states[node.state].full;
  core.activity = core.busy.front().activity;
  for (const Busy& busy : core.busy)
    if (full[busy.activity] > full[core.activity] ||
        (full[busy.activity] == full[core.activity] && busy.activity < core.activity))
      core.activity = busy.activity;
  core.settled = node.integrals[core.activity];
  ++node.counts[core.activity];
}

void Meter::take(const Edge& edge)
{
  NodeState& node = nodes_[edge.node];
  advance(node, edge.at);
  if (!std::exchange(node.touched, true))
    touched_.push_back(edge.node);
  switch (edge.what) {
  case What::begins:
  case What::ends: {
    if (edge.core >= node.cores.size())
      node.cores.resize(edge.core + std::size_t{1});
    Core& core = node.cores[edge.core];
    settle_core(node, core);
    const Busy busy{edge.rank, static_cast<Activity>(edge.value)};
    if (edge.what == What::begins)
      core.busy.push_back(busy);
    else if (const auto found = std::find(core.busy.begin(), core.busy.end(), busy); found != core.busy.end())
      core.busy.erase(found);
    choose(edge.node, core);
    break;
  }
  case What::state:
    for (Core& core : node.cores)
      settle_core(node, core);
    node.state = edge.value;
    for (Core& core : node.cores)
      choose(edge.node, core);
    break;
  case What::phase: {
    RankState& rank = rank_of(edge.rank);
    settle_idle(node, rank);
    for (Core& core : node.cores)
      if (std::any_of(core.busy.begin(), core.busy.end(),
                      [&edge](const Busy& busy) { return busy.rank == edge.rank; })) {
        settle_core(node, core);
        choose(edge.node, core);
      }
    rank.phase = edge.value;
    if (rank.phase >= rank.phases.size())
      rank.phases.resize(rank.phase + 1);
    break;
  }
  case What::rank_begins: {
    RankState& rank = rank_of(edge.rank);
    rank.node = edge.node;
    rank.settled = node.idle;
    rank.alive = true;
    node.used = true;
    ++node.ranks;
    break;
  }
  case What::rank_ends: {
    RankState& rank = rank_of(edge.rank);
    settle_idle(node, rank);
    rank.alive = false;
    --node.ranks;
    break;
  }
  }
}

Meter::Sums Meter::finish(SimTime end)
{
  settle(end);
  draw(now_);
  // What is not over yet counts until now.
  for (NodeState& node : nodes_) {
    advance(node, end);
    for (Core& core : node.cores)
      settle_core(node, core);
  }
  Sums sums;
  long double joules = 0;
  for (const NodeState& node : nodes_) {
    joules += node.joules;
    sums.nodes.push_back({static_cast<double>(node.joules), static_cast<double>(node.unclaimed), node.peak, node.used});
  }
  for (RankState& rank : ranks_) {
    settle_idle(nodes_[rank.node], rank);
    Rank& one = sums.ranks.emplace_back();
    one.idle = static_cast<double>(rank.idle);
    one.activities.assign(rank.activities.begin(), rank.activities.end());
    one.phases.assign(rank.phases.begin(), rank.phases.end());
  }
  sums.joules = static_cast<double>(joules);
  sums.peak = peak_;
  sums.peak_at = peak_at_;
  return sums;
}

} // namespace umwelt::energy
