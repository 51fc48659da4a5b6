// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/power.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platforms/wattage.h"
#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/energy/platform_power.h"
#include "runtime/energy/power_file.h"
#include "runtime/kernels/kernels_file.h"
#include "runtime/plan/options.h"
#include "runtime/plan/placement.h"

namespace umwelt::plan
{

namespace
{

// A number, not negative, and what stands behind it.
std::pair<double, std::string_view> read_number(std::string_view option, std::string_view text,
                                                std::string_view expected, std::string_view next)
{
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  double value = 0;
  if (!parse_number(text.substr(0, end), value))
    throw UsageError(option, expected, in_quotes(text), next);
  return {value, trim(text.substr(end))};
}

std::vector<std::string_view> state_names(const energy::NodePower& kind)
{
  std::vector<std::string_view> names;
  for (const energy::PowerState& state : kind.states)
    names.emplace_back(state.name);
  return names;
}

// By frequency, or by its number.
std::size_t state_of(const DvfsChoice& choice, const energy::NodePower& kind, const platform::Node& node)
{
  if (std::uint64_t number = 0; parse_count(choice.state, number) && number < kind.states.size())
    return number;
  double frequency = 0;
  if (const std::size_t unit = choice.state.find_first_not_of("0123456789."); unit != std::string::npos) {
    const std::string_view name = trim(std::string_view(choice.state).substr(unit));
    double value = 0;
    if (parse_number(std::string_view(choice.state).substr(0, unit), value))
      frequency = value * (name == "GHz" ? 1e9 : name == "MHz" ? 1e6 : name == "kHz" ? 1e3 : 0);
  }
  constexpr double exact = 1e-9;
  for (std::size_t state = 0; state < kind.states.size(); ++state)
    if (frequency > 0 && std::abs(kind.states[state].frequency / frequency - 1) < exact)
      return state;
  throw UsageError(choice.text,
                   fmt::format("a DVFS state of node {}: {}, or a number from 0 to {}", node.name,
                               fmt::join(state_names(kind), ", "), kind.states.size() - 1),
                   in_quotes(choice.state), "The file of --power has the states.");
}

// The fastest state in which the node cannot draw more, whatever its ranks' cores do.
std::size_t state_below(double cap, const CapChoice& choice, const energy::NodePower& kind, std::size_t cores,
                        const platform::Node& node)
{
  double least = 0;
  for (std::size_t number = 0; number < kind.states.size(); ++number) {
    const energy::PowerState& state = kind.states[number];
    double most = 0;
    for (std::size_t activity = 0; activity < state.full.size(); ++activity)
      most = std::max(most, state.extra(static_cast<energy::Activity>(activity)));
    double watts = 0; // of some number of busy cores: a table may have more for fewer
    for (std::size_t busy = 0; busy <= cores; ++busy)
      watts = std::max(watts, state.watts(busy) + static_cast<double>(busy) * most);
    if (watts <= cap)
      return number;
    least = number == 0 ? watts : std::min(least, watts);
  }
  throw UsageError(
      choice.text, fmt::format("at least {} W for node {}, whose ranks have {} cores", least, node.name, cores),
      fmt::format("{} W", cap), "Fewer ranks on a node draw less (-N), or add slower states to its power.");
}

std::vector<std::size_t> cores_of_ranks(const platform::Platform& platform, const Placement& placement)
{
  std::vector<std::set<unsigned>> cores(platform.node_count());
  for (const RankPlace& place : placement.ranks)
    for (unsigned core = place.core; core < place.core + place.cores; ++core)
      cores[place.node].insert(core);
  std::vector<std::size_t> counts;
  counts.reserve(cores.size());
  for (const std::set<unsigned>& of : cores)
    counts.push_back(of.size());
  return counts;
}

void plan_states(PowerPlan& plan, const RunOptions& options, const platform::Platform& platform,
                 const Placement& placement)
{
  NodePlan& states = plan.states;
  const energy::Power& power = plan.power;
  for (std::uint32_t node = 0; node < platform.node_count(); ++node)
    states.of_node.push_back(static_cast<NodePlan::Kind>(power.node(node).first));
  plan.caps.assign(platform.node_count(), 0);
  std::vector<NodePlan::Kind> slowest(platform.node_count());
  const std::vector<std::size_t> cores = cores_of_ranks(platform, placement);
  for (const CapChoice& cap : options.power.caps)
    for (const std::uint32_t node : states.nodes_of(cap)) {
      plan.caps[node] = cap.watts;
      slowest[node] =
          static_cast<NodePlan::Kind>(state_below(cap.watts, cap, power.node(node), cores[node], platform.node(node)));
    }
  for (const DvfsChoice& choice : options.power.dvfs) {
    std::map<NodePlan::Kind, std::vector<std::uint32_t>> by_state;
    for (const std::uint32_t node : states.nodes_of(choice)) {
      const auto wanted = static_cast<NodePlan::Kind>(state_of(choice, power.node(node), platform.node(node)));
      by_state[std::max(wanted, slowest[node])].push_back(node);
    }
    for (auto& [state, nodes] : by_state)
      if (choice.at == 0)
        for (const std::uint32_t node : nodes)
          states.of_node[node] = state;
      else
        states.changes.push_back({choice.at, std::move(nodes), state, choice.text});
  }
  std::stable_sort(states.changes.begin(), states.changes.end(),
                   [](const NodePlan::Change& a, const NodePlan::Change& b) { return a.at < b.at; });
  for (std::uint32_t node = 0; node < platform.node_count(); ++node)
    states.of_node[node] = std::max(states.of_node[node], slowest[node]);
}

// What only makes sense where it is known what nodes draw.
void check_known(const PowerWishes& wishes, bool network)
{
  const auto refuse = [](std::string_view option) {
    throw UsageError(option, "a machine whose power is known", "one that nothing is known of",
                     "Give --power FILE with `nodes:`, or a platform with wattage_per_state "
                     "(runtime/energy/README.md).");
  };
  if (!wishes.dvfs.empty())
    refuse(wishes.dvfs.front().text);
  if (!wishes.caps.empty())
    refuse(wishes.caps.front().text);
  if (!wishes.trace.empty() && !network)
    refuse("--power-trace");
  if (wishes.phases)
    refuse("--power-phases");
}

} // namespace

DvfsChoice parse_dvfs(std::string_view option, std::string_view text)
{
  DvfsChoice choice;
  choice.text = fmt::format("{} {}", option, text);
  if (text.find(':') != std::string_view::npos)
    text = parse_time(option, text, choice.at);
  choice.state = parse_optional_nodes(option, text, choice.nodes);
  if (choice.state.empty())
    throw UsageError(option, "[TIME:][NODES=]STATE", in_quotes(text),
                     fmt::format("For example: {} 0-3=1.2GHz", option));
  return choice;
}

CapChoice parse_power_cap(std::string_view option, std::string_view text)
{
  CapChoice choice;
  choice.text = fmt::format("{} {}", option, text);
  constexpr std::string_view expected = "[NODES=]WATTS, what a node may draw at most";
  const std::string next = fmt::format("For example: {} 150W", option);
  const auto [value, unit] = read_number(option, parse_optional_nodes(option, text, choice.nodes), expected, next);
  if (value == 0 || !(unit.empty() || unit == "W" || unit == "kW"))
    throw UsageError(option, expected, in_quotes(text), next);
  choice.watts = unit == "kW" ? value * 1e3 : value;
  return choice;
}

NodeHour parse_node_hour(std::string_view option, std::string_view text)
{
  const std::string next = fmt::format("For example: {} 1.20EUR", option);
  constexpr std::string_view expected = "what a node costs for an hour";
  const auto [value, currency] = read_number(option, text, expected, next);
  if (std::any_of(currency.begin(), currency.end(),
                  [](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0; }))
    throw UsageError(option, expected, in_quotes(text), next);
  return {value, std::string(currency)};
}

bool PowerPlan::paces() const
{
  if (!power.nodes())
    return false;
  if (!states.changes.empty())
    return true;
  for (std::uint32_t node = 0; node < states.of_node.size(); ++node)
    if (power.node(node).states[states.of_node[node]].pace != 1)
      return true;
  return false;
}

std::shared_ptr<PowerPlan> plan_power(const RunOptions& options, const platform::Platform& platform,
                                      const Placement& placement, RegionFunctions& functions)
{
  const PowerWishes& wishes = options.power;
  auto plan = std::make_shared<PowerPlan>();
  bool known = true;
  if (wishes.source.empty()) {
    const auto of_platform = energy::platform_power(platform);
    known = of_platform != nullptr;
    if (known)
      plan->power = *of_platform;
  } else if (wishes.source == "none") {
    known = false;
  } else {
    plan->power = energy::read_power(wishes.source, platform.nodes());
    plan->power.link_properties = !plan->power.network.links() && !platform::links_with_wattage().empty();
  }
  if (!plan->power.nodes())
    check_known(wishes, plan->power.draws_in_network());
  if (plan->power.prices.kwh > 0 && !plan->power.nodes() && !plan->power.draws_in_network())
    throw UsageError(fmt::format("{}, cost: kwh", plan->power.source),
                     "what something draws, nodes: or network:", "neither",
                     "Add it, or leave the price of energy out: it would count as 0.");
  if (!known && !wishes.node_hour)
    return nullptr;
  if (wishes.node_hour) {
    plan->power.prices.node_hour = wishes.node_hour->price;
    if (!wishes.node_hour->currency.empty())
      plan->power.prices.currency = wishes.node_hour->currency;
  }
  if (plan->power.nodes())
    plan_states(*plan, options, platform, placement);
  plan->by_phases = wishes.phases;
  if (wishes.phases)
    plan->phases = functions.number_of("MPI_Pcontrol");
  return plan;
}

void find_power_kernels(const PowerPlan& power, kernels::Kernels* kernels)
{
  const std::vector<std::string>& wanted = power.power.kernels;
  if (wanted.empty())
    return;
  std::vector<std::string_view> names;
  if (kernels != nullptr)
    for (kernels::Kernel& kernel : kernels->list) {
      if (const auto found = std::find(wanted.begin(), wanted.end(), kernel.name); found != wanted.end())
        kernel.power = static_cast<int>(found - wanted.begin());
      names.emplace_back(kernel.name);
    }
  for (const std::string& name : wanted)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError(fmt::format("{}, kernels", power.power.source), "kernels that --kernels has", in_quotes(name),
                       names.empty() ? "Give the kernels file: --kernels FILE."
                                     : fmt::format("The nearest one is '{}'.", nearest(name, names)));
}

} // namespace umwelt::plan
