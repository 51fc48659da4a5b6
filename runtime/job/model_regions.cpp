// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/model_regions.h"

#include <algorithm>

namespace umwelt::job
{

ModelRegions::ModelRegions(const plan::NodeModels& models, net::Assignment& assignment)
    : models_(models), assignment_(assignment), inside_(models.of_node.size()), entered_(models.regions.size(), false)
{
}

void ModelRegions::watch(std::span<std::uint64_t> functions) const
{
  const auto set = [functions](std::uint32_t function) {
    functions[function / 64] |= std::uint64_t{1} << (function % 64);
  };
  for (const plan::NodeModels::Region& region : models_.regions) {
    set(region.where.function);
    if (region.where.kind == Kind::between)
      set(region.where.until);
  }
}

ModelRegions::RankState& ModelRegions::state(std::size_t rank)
{
  if (ranks_.size() <= rank) // ranks may be spawned
    ranks_.resize(rank + 1);
  ranks_[rank].counts.resize(models_.regions.size());
  return ranks_[rank];
}

void ModelRegions::calls(std::size_t rank, net::NodeIndex node, std::uint32_t function, sim::SimTime now)
{
  const RankState& of_rank = state(rank);
  if (!of_rank.region)
    return;
  const plan::RegionModel& where = models_.regions[*of_rank.region].where;
  if (where.kind == Kind::between && where.until == function)
    leave(rank, node, now);
}

void ModelRegions::came_back(std::size_t rank, net::NodeIndex node, std::uint32_t function, std::int64_t level,
                             sim::SimTime now)
{
  RankState& of_rank = state(rank);
  std::optional<std::size_t> entered;
  bool other_level = false;
  for (std::size_t i = 0; i < models_.regions.size(); ++i) {
    const plan::NodeModels::Region& region = models_.regions[i];
    if (region.where.function != function || !region.nodes[node])
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
  else if (other_level && of_rank.region && models_.regions[*of_rank.region].where.kind == Kind::level)
    leave(rank, node, now);
}

void ModelRegions::ended(std::size_t rank, net::NodeIndex node, sim::SimTime now)
{
  if (state(rank).region)
    leave(rank, node, now);
}

void ModelRegions::enter(std::size_t rank, net::NodeIndex node, std::size_t region, sim::SimTime now)
{
  std::erase_if(inside_[node], [rank](const auto& one) { return one.first == rank; });
  inside_[node].emplace_back(rank, region);
  ranks_[rank].region = region;
  entered_[region] = true;
  tell(node, now);
}

void ModelRegions::leave(std::size_t rank, net::NodeIndex node, sim::SimTime now)
{
  std::erase_if(inside_[node], [rank](const auto& one) { return one.first == rank; });
  ranks_[rank].region.reset();
  tell(node, now);
}

void ModelRegions::tell(net::NodeIndex node, sim::SimTime now)
{
  if (inside_[node].empty())
    assignment_.override_with(node, std::nullopt, now);
  else
    assignment_.override_with(node, models_.regions[inside_[node].back().second].kind, now);
}

std::vector<std::string> ModelRegions::not_reached() const
{
  std::vector<std::string> options;
  for (std::size_t i = 0; i < models_.regions.size(); ++i)
    if (!entered_[i])
      options.push_back(models_.regions[i].where.choice.text);
  return options;
}

} // namespace umwelt::job
