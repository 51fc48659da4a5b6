// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/energy.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runtime/energy/network_energy.h"
#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/job/node_regions.h"
#include "runtime/job/rank.h"
#include "runtime/job/thread.h"

namespace umwelt::job
{

Energy::Energy(const plan::Plan& plan, const Ranks& ranks)
    : plan_(plan), power_(*plan.power), ranks_(ranks), states_(assignment_of(power_.states)), paces_(power_.paces()),
      by_phases_(power_.by_phases), pcontrol_(power_.phases)
{
  if (!power_.power.nodes())
    return;
  energy::Meter::Observer observer;
  if (plan.power_trace != nullptr || plan.trace != nullptr)
    observer = [&plan](SimTime at, std::uint32_t node, double watts) {
      if (plan.power_trace)
        plan.power_trace->add(at, node, watts);
      if (plan.trace)
        plan.trace->node_draws(at, node, watts);
    };
  meter_ = std::make_unique<energy::Meter>(power_.power, power_.states.of_node, std::move(observer));
  for (const plan::NodePlan::Change& change : power_.states.changes)
    for (const std::uint32_t node : change.nodes)
      meter_->state(node, change.kind, change.at);
}

net::LinkLoad* Energy::links(net::LinkLoad* there)
{
  const energy::NetworkPower& network = power_.power.network;
  if (!power_.power.link_properties && !network.links() && !network.switches())
    return there;
  if (there == nullptr)
    own_load_ = std::make_unique<net::LinkLoad>(*plan_.platform);
  load_ = there != nullptr ? there : own_load_.get();
  return load_;
}

void Energy::begins(Thread& thread, SimTime since, bool polls)
{
  thread.busy_since = since;
  thread.polls = polls;
}

void Energy::ends(Rank& rank, Thread& thread, observe::RankState state, SimTime from, SimTime until)
{
  using observe::RankState;
  from = std::max(from, thread.polls ? thread.busy_since : from); // settled up to then
  thread.busy_since = sim::never;
  if (!meter_)
    return;
  const auto index = static_cast<std::size_t>(rank.index);
  const auto did = [&](energy::Activity activity, SimTime begin, SimTime end) {
    meter_->did(index, rank.node, thread.place.core, activity, begin, end);
  };
  if (state == RankState::compute && rank.gate.kernels_used != 0) {
    for (std::uint32_t left = std::exchange(rank.gate.kernels_used, 0); left != 0; left &= left - 1) {
      const int kernel = __builtin_ctz(left);
      const SimTime part = std::min<SimTime>(std::exchange(rank.gate.kernel_ps[kernel], 0), until - from);
      did(static_cast<energy::Activity>(energy::first_kernel + kernel), from, from + part);
      from += part;
    }
  }
  did(state == RankState::compute         ? energy::computing
      : state == RankState::communication ? energy::communicating
                                          : energy::waiting,
      from, until);
  if (meter_->full())
    settle(rank.job.scheduler().now());
}

// Bursts in worker processes are told of when they end, so nothing is settled that is later than the earliest of them.
void Energy::settle(SimTime now)
{
  SimTime until = now;
  for (const auto& rank : ranks_) {
    if (rank->phase == Rank::Phase::ended)
      continue;
    for (const auto& thread : rank->threads) {
      if (thread->channel && thread->channel->computing())
        until = std::min(until, thread->channel->began());
      if (thread->busy_since == sim::never)
        continue;
      if (thread->polls && thread->busy_since < now) {
        meter_->did(static_cast<std::size_t>(rank->index), rank->node, thread->place.core, energy::waiting,
                    thread->busy_since, now);
        thread->busy_since = now;
      }
      until = std::min(until, thread->busy_since);
    }
  }
  meter_->settle(until);
}

void Energy::rank_begins(const Rank& rank)
{
  if (meter_)
    meter_->rank_begins(static_cast<std::size_t>(rank.index), rank.node, rank.began);
}

void Energy::rank_ends(Rank& rank, SimTime at)
{
  if (!meter_)
    return;
  for (const auto& thread : rank.threads)
    if (thread->busy_since != sim::never && thread->polls)
      ends(rank, *thread, observe::RankState::waiting, thread->busy_since, at);
  meter_->rank_ends(static_cast<std::size_t>(rank.index), rank.node, at);
}

void Energy::phase(const Rank& rank, std::int64_t level, SimTime at)
{
  if (!meter_)
    return;
  const auto found = std::find(levels_.begin(), levels_.end(), level);
  const auto number = static_cast<std::size_t>(found - levels_.begin()) + 1;
  if (found == levels_.end())
    levels_.push_back(level);
  meter_->phase(static_cast<std::size_t>(rank.index), rank.node, number, at);
}

void Energy::watch(std::span<std::uint64_t> functions) const
{
  if (by_phases_)
    functions[pcontrol_ / 64] |= std::uint64_t{1} << (pcontrol_ % 64);
}

double Energy::pace(std::uint32_t node, SimTime now)
{
  return power_.power.node(node).states[states_.at(node, now)].pace;
}

observe::EnergyRecord Energy::record(SimTime end)
{
  observe::EnergyRecord record;
  record.source = power_.power.source;
  record.nodes_known = meter_ != nullptr;
  if (!meter_) {
    add_network(record, end);
    add_money(record, end);
    return record;
  }
  for (const auto& rank : ranks_)
    if (rank->phase != Rank::Phase::ended)
      rank_ends(*rank, end);
  states_.at(0, end); // changes that were due
  const energy::Meter::Sums sums = meter_->finish(end);
  record.nodes_joules = sums.joules;
  record.peak_watts = sums.peak;
  record.peak_at = sums.peak_at;
  add_ranks(record, sums);
  add_nodes(record, sums);
  add_network(record, end);
  add_money(record, end);
  return record;
}

void Energy::add_ranks(observe::EnergyRecord& record, const energy::Meter::Sums& sums) const
{
  const energy::Power& power = power_.power;
  record.activities.push_back({"idle", 0});
  for (std::size_t activity = 0; activity < power.activities(); ++activity)
    record.activities.push_back({power.activity_name(static_cast<energy::Activity>(activity)), 0});
  if (by_phases_) {
    record.phases.push_back({"before", 0});
    for (const std::int64_t level : levels_)
      record.phases.push_back({fmt::format("{}", level), 0});
  }
  for (const energy::Meter::Rank& rank : sums.ranks) {
    record.ranks.push_back({rank.joules(), rank.idle, rank.activities});
    record.activities.front().joules += rank.idle;
    for (std::size_t i = 0; i < rank.activities.size(); ++i)
      record.activities[i + 1].joules += rank.activities[i];
    for (std::size_t i = 0; i < std::min(record.phases.size(), rank.phases.size()); ++i)
      record.phases[i].joules += rank.phases[i];
  }
  for (const energy::Meter::Node& node : sums.nodes)
    record.unclaimed_joules += node.unclaimed;
}

void Energy::add_nodes(observe::EnergyRecord& record, const energy::Meter::Sums& sums) const
{
  for (std::uint32_t index = 0; index < sums.nodes.size(); ++index) {
    const energy::Meter::Node& node = sums.nodes[index];
    if (!node.used && node.joules == 0)
      continue;
    std::size_t state = power_.states.of_node[index];
    for (std::size_t i = 0; i < states_.come(); ++i) {
      const plan::NodePlan::Change& change = power_.states.changes[i];
      if (std::find(change.nodes.begin(), change.nodes.end(), index) != change.nodes.end())
        state = change.kind;
    }
    record.nodes.push_back({index, plan_.placement.hostnames[index], power_.power.node(index).states[state].name,
                            node.joules, node.peak, 0, power_.caps[index]});
  }
  for (std::size_t i = 0; i < power_.states.changes.size(); ++i) {
    const plan::NodePlan::Change& change = power_.states.changes[i];
    if (i < states_.come())
      record.changes.push_back(
          {change.at, change.nodes.size(), power_.power.node(change.nodes.front()).states[change.kind].name});
    else if (record.not_reached.empty() || record.not_reached.back() != change.text)
      record.not_reached.push_back(change.text);
  }
}

std::vector<bool> Energy::used_nodes() const
{
  std::vector<bool> used(plan_.platform->node_count());
  for (const auto& rank : ranks_)
    used[rank->node] = true;
  return used;
}

void Energy::add_network(observe::EnergyRecord& record, SimTime end) const
{
  if (!power_.power.draws_in_network())
    return;
  record.network_known = true;
  const std::vector<bool> used = used_nodes();
  std::vector<energy::NicTraffic> traffic(plan_.platform->node_count());
  for (std::size_t node = 0; node < traffic.size(); ++node)
    traffic[node].counts = used[node] || power_.power.unused == energy::Unused::idle;
  for (const auto& rank : ranks_) {
    const observe::RankStatistics& counts = rank->statistics;
    traffic[rank->node].messages += counts.messages_sent + counts.messages_received;
    traffic[rank->node].bytes += counts.bytes_sent + counts.bytes_received;
  }
  const net::LinkLoad none(*plan_.platform);
  const energy::NetworkEnergy network =
      energy::network_energy(power_.power, *plan_.platform, load_ != nullptr ? *load_ : none, traffic, end);
  record.links_joules = network.links_joules;
  record.switches_joules = network.switches_joules;
  record.nics_joules = network.nics_joules;
  for (const energy::NetworkEnergy::Link& link : network.links)
    record.links.push_back({link.name, link.joules});
  for (observe::EnergyRecord::Node& node : record.nodes)
    node.nic_joules = network.nics[node.node];
  const energy::NetworkEnergy::Peak peak = network.peak(end, meter_ ? std::optional(record.peak_at) : std::nullopt);
  record.network_watts = peak.watts;
  record.peak_at = peak.at;
  if (!plan_.power_trace)
    return;
  observe::PowerTrace& trace = *plan_.power_trace;
  for (const auto& [name, watts] :
       {std::pair("links", &network.links_watts), std::pair("switches", &network.switches_watts)})
    for (std::size_t i = 0; i < watts->size(); ++i)
      if (i == 0 || (*watts)[i] != (*watts)[i - 1])
        trace.add(static_cast<SimTime>(i) * network.bin, std::string(name), (*watts)[i]);
  if (end > 0)
    trace.add(0, "nics", network.nics_joules / sim::to_seconds(end));
}

void Energy::add_money(observe::EnergyRecord& record, SimTime end) const
{
  const energy::Prices& prices = power_.power.prices;
  const std::vector<bool> used = used_nodes();
  constexpr double hour = 3600;
  record.node_hours = static_cast<double>(std::count(used.begin(), used.end(), true)) * sim::to_seconds(end) / hour;
  if (!prices.any())
    return;
  constexpr double kwh = 3.6e6; // joules
  record.currency = prices.currency;
  record.money = record.node_hours * prices.node_hour + record.joules() / kwh * prices.pue * prices.kwh;
}

} // namespace umwelt::job
