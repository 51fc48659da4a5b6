// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/node_cpus.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/plan/options.h"
#include "runtime/plan/policies.h"

namespace umwelt::plan
{

CpuChoice parse_cpu_choice(std::string_view option, std::string_view text)
{
  CpuChoice choice;
  choice.policy = parse_cpu(option, parse_optional_nodes(option, text, choice.nodes));
  choice.text = fmt::format("{} {}", option, text);
  return choice;
}

TimedCpu parse_timed_cpu(std::string_view option, std::string_view text)
{
  return parse_timed(option, text, parse_cpu_choice);
}

RegionCpu parse_region_cpu(std::string_view option, std::string_view text)
{
  return parse_placed(option, text, parse_cpu_choice);
}

bool NodeCpus::measures() const
{
  return std::any_of(kinds.begin(), kinds.end(), [](const engine::CpuPolicy& one) { return one.measures(); });
}

NodePlan::Kind NodeCpus::kind_of(const CpuChoice& choice)
{
  const auto same = std::find(kinds.begin(), kinds.end(), choice.policy);
  const auto index = static_cast<std::size_t>(same - kinds.begin());
  if (index > std::numeric_limits<Kind>::max())
    throw UsageError(choice.text, "at most 256 different policies in a run", "more", "Give some nodes the same.");
  if (same == kinds.end())
    kinds.push_back(choice.policy);
  return static_cast<Kind>(index);
}

namespace
{

// Every --cpu there is, now or later.
std::vector<engine::CpuPolicy> all_policies(const RunOptions& options)
{
  std::vector<engine::CpuPolicy> policies{options.cpu};
  for (const TimedCpu& timed : options.timed_cpus)
    policies.push_back(timed.choice.policy);
  for (const RegionCpu& region : options.region_cpus)
    policies.push_back(region.choice.policy);
  return policies;
}

bool is_measured(const engine::CpuPolicy& policy)
{
  return policy.measures();
}

} // namespace

bool measures(const RunOptions& options)
{
  const std::vector<engine::CpuPolicy> policies = all_policies(options);
  return std::any_of(policies.begin(), policies.end(), is_measured);
}

bool always_measures(const RunOptions& options)
{
  const std::vector<engine::CpuPolicy> policies = all_policies(options);
  return std::all_of(policies.begin(), policies.end(), is_measured);
}

NodeCpus plan_node_cpus(const RunOptions& options, std::uint32_t nodes, RegionFunctions& functions)
{
  NodeCpus cpus;
  cpus.ctl = options.ctl;
  cpus.kinds.push_back(options.cpu);
  cpus.of_node.assign(nodes, 0);
  for (const TimedCpu& timed : options.timed_cpus)
    cpus.add_change(timed.at, timed.choice, cpus.kind_of(timed.choice));
  for (const RegionCpu& region : options.region_cpus)
    cpus.add_region(region.where, region.choice, cpus.kind_of(region.choice), functions);
  return cpus;
}

} // namespace umwelt::plan
