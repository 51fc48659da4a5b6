// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/node_regions.h"

#include <algorithm>

#include "preload/abi/mpi_calls.h"

namespace umwelt::job
{

NodeRegions::NodeRegions(const plan::NodePlan& plan, net::Assignment& assignment)
    : plan_(plan), assignment_(assignment), inside_(plan.of_node.size()), entered_(plan.regions.size(), false)
{
}

void NodeRegions::watch(std::span<std::uint64_t> functions) const
{
  const auto set = [functions](std::uint32_t function) {
    if (function < UMW_MPI_FUNCTIONS) // others tell by themselves (kernels::Kernel::mark)
      functions[function / 64] |= std::uint64_t{1} << (function % 64);
  };
  for (const plan::NodePlan::Region& region : plan_.regions) {
    set(region.function);
    if (region.where.kind == Kind::between)
      set(region.until);
  }
}

NodeRegions::RankState& NodeRegions::state(std::size_t rank)
{
  if (ranks_.size() <= rank) // ranks may be spawned
    ranks_.resize(rank + 1);
  ranks_[rank].counts.resize(plan_.regions.size());
  return ranks_[rank];
}

void NodeRegions::calls(std::size_t rank, net::NodeIndex node, std::uint32_t function, sim::SimTime now)
{
  const RankState& of_rank = state(rank);
  if (!of_rank.region)
    return;
  const plan::NodePlan::Region& region = plan_.regions[*of_rank.region];
  if (region.where.kind == Kind::between && region.until == function)
    leave(rank, node, now);
}

void NodeRegions::came_back(std::size_t rank, net::NodeIndex node, std::uint32_t function, std::int64_t level,
                            sim::SimTime now)
{
  RankState& of_rank = state(rank);
  std::optional<std::size_t> entered;
  bool other_level = false;
  for (std::size_t i = 0; i < plan_.regions.size(); ++i) {
    const plan::NodePlan::Region& region = plan_.regions[i];
    if (region.function != function || !region.nodes[node])
      continue;
    const bool here = region.where.kind == Kind::level   ? region.where.level == level
                      : region.where.kind == Kind::after ? ++of_rank.counts[i] == region.where.count
                                                         : true;
    if (here)
      entered = i;
    other_level = other_level || (region.where.kind == Kind::level && !here);
  }
  if (entered)
    enter(rank, node, *entered, now);
  else if (other_level && of_rank.region && plan_.regions[*of_rank.region].where.kind == Kind::level)
    leave(rank, node, now);
}

void NodeRegions::ended(std::size_t rank, net::NodeIndex node, sim::SimTime now)
{
  if (state(rank).region)
    leave(rank, node, now);
}

void NodeRegions::enter(std::size_t rank, net::NodeIndex node, std::size_t region, sim::SimTime now)
{
  std::erase_if(inside_[node], [rank](const auto& one) { return one.first == rank; });
  inside_[node].emplace_back(rank, region);
  ranks_[rank].region = region;
  entered_[region] = true;
  tell(node, now);
}

void NodeRegions::leave(std::size_t rank, net::NodeIndex node, sim::SimTime now)
{
  std::erase_if(inside_[node], [rank](const auto& one) { return one.first == rank; });
  ranks_[rank].region.reset();
  tell(node, now);
}

void NodeRegions::tell(net::NodeIndex node, sim::SimTime now)
{
  if (inside_[node].empty())
    assignment_.override_with(node, std::nullopt, now);
  else
    assignment_.override_with(node, plan_.regions[inside_[node].back().second].kind, now);
}

std::vector<std::string> NodeRegions::not_reached() const
{
  std::vector<std::string> options;
  for (std::size_t i = 0; i < plan_.regions.size(); ++i)
    if (!entered_[i])
      options.push_back(plan_.regions[i].text);
  return options;
}

net::Assignment assignment_of(const plan::NodePlan& plan)
{
  std::vector<net::Assignment::Change> changes;
  changes.reserve(plan.changes.size());
  for (const plan::NodePlan::Change& change : plan.changes)
    changes.push_back({change.at, change.nodes, change.kind});
  return net::Assignment(plan.of_node, std::move(changes));
}

std::vector<observe::NodeChange> changes_of(const net::Assignment& assignment,
                                            const std::function<std::string(net::Assignment::Index)>& name)
{
  std::vector<observe::NodeChange> changes;
  for (const net::Assignment::Switched& switched : assignment.switched())
    changes.push_back({switched.at, switched.nodes, name(switched.model)});
  return changes;
}

std::vector<std::string> not_reached(const plan::NodePlan& plan, const net::Assignment& assignment,
                                     const NodeRegions* regions)
{
  std::vector<std::string> options;
  for (std::size_t i = assignment.come(); i < plan.changes.size(); ++i)
    options.push_back(plan.changes[i].text);
  if (regions != nullptr)
    for (std::string& option : regions->not_reached())
      options.push_back(std::move(option));
  return options;
}

} // namespace umwelt::job
