// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/energy_report.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "runtime/observe/format.h"

namespace umwelt::observe
{

namespace
{

std::string show(double value, std::string_view unit)
{
  struct Prefix {
    double factor;
    std::string_view name;
  };
  constexpr std::array prefixes = {Prefix{1e9, "G"},  Prefix{1e6, "M"},  Prefix{1e3, "k"}, Prefix{1, ""},
                                   Prefix{1e-3, "m"}, Prefix{1e-6, "u"}, Prefix{1e-9, "n"}};
  for (const Prefix& prefix : prefixes)
    if (std::abs(value) >= prefix.factor)
      return fmt::format("{:.4g} {}{}", value / prefix.factor, prefix.name, unit);
  return fmt::format("0 {}", unit);
}

double average(const EnergyRecord& energy, sim::SimTime simulated)
{
  return simulated > 0 ? energy.joules() / sim::to_seconds(simulated) : 0;
}

std::string part_text(const std::vector<EnergyRecord::Part>& parts, double all)
{
  std::string text;
  for (const EnergyRecord::Part& part : parts)
    if (part.joules > 0 && all > 0)
      text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", part.name, 100 * part.joules / all);
  return text;
}

std::string network_text(const EnergyRecord& energy)
{
  const double network = energy.links_joules + energy.switches_joules + energy.nics_joules;
  if (network == 0)
    return {};
  if (!energy.nodes_known)
    return " of the network, what nodes draw is not known";
  return fmt::format("; nodes {}, network {}", show_joules(energy.nodes_joules), show_joules(network));
}

std::string over_caps(const EnergyRecord& energy)
{
  std::string text;
  for (const EnergyRecord::Node& node : energy.nodes)
    if (node.cap > 0 && node.peak_watts > node.cap)
      text += fmt::format("  --power-cap {} W: node {} drew up to {}, with more cores than its first ranks have\n",
                          node.cap, node.name, show_watts(node.peak_watts));
  return text;
}

nlohmann::ordered_json parts_json(const std::vector<EnergyRecord::Part>& parts)
{
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const EnergyRecord::Part& part : parts)
    json[part.name] = part.joules;
  return json;
}

} // namespace

std::string show_joules(double joules)
{
  return show(joules, "J");
}

std::string show_watts(double watts)
{
  return show(watts, "W");
}

std::string energy_lines(const JobRecord& job)
{
  if (!job.energy)
    return {};
  const EnergyRecord& energy = *job.energy;
  std::string text;
  if (energy.nodes_known || energy.network_known)
    text += fmt::format("  energy {}{}; on average {}, at most {} at {}\n", show_joules(energy.joules()),
                        network_text(energy), show_watts(average(energy, job.simulated)),
                        show_watts(energy.peak_watts + energy.network_watts), show_time(energy.peak_at));
  if (energy.nodes_known) {
    const std::string of = part_text(energy.activities, energy.nodes_joules);
    if (!of.empty())
      text += fmt::format("  energy of nodes: {}{}\n", of,
                          energy.unclaimed_joules > 0 ? fmt::format(", without ranks {:.1f} %",
                                                                    100 * energy.unclaimed_joules / energy.nodes_joules)
                                                      : "");
    if (energy.phases.size() > 1)
      text += fmt::format("  energy by phase: {}\n", part_text(energy.phases, energy.nodes_joules));
  }
  for (const EnergyRecord::Change& change : energy.changes)
    text += fmt::format("  DVFS state {} on {} node{} from {} on\n", change.state, change.nodes,
                        change.nodes == 1 ? "" : "s", show_time(change.at));
  for (const std::string& option : energy.not_reached)
    text += fmt::format("  {}: never came to that\n", option);
  text += over_caps(energy);
  if (!energy.currency.empty())
    text += fmt::format("  cost {:.4g} {} ({:.4g} node hours)\n", energy.money, energy.currency, energy.node_hours);
  return text;
}

nlohmann::ordered_json energy_json(const EnergyRecord& energy, sim::SimTime simulated)
{
  nlohmann::ordered_json json = {{"source", energy.source}};
  if (energy.nodes_known || energy.network_known) {
    json["joules"] = energy.joules();
    if (energy.nodes_known)
      json["nodes_joules"] = energy.nodes_joules;
    if (energy.network_known) {
      json["links_joules"] = energy.links_joules;
      json["switches_joules"] = energy.switches_joules;
      json["nics_joules"] = energy.nics_joules;
    }
    json["average_watts"] = average(energy, simulated);
    json["peak_watts"] = energy.peak_watts + energy.network_watts;
    if (energy.nodes_known)
      json["nodes_peak_watts"] = energy.peak_watts;
    json["peak_ps"] = energy.peak_at;
    json["links"] = nlohmann::ordered_json::array();
    for (const EnergyRecord::Link& link : energy.links)
      json["links"].push_back({{"name", link.name}, {"joules", link.joules}});
  }
  if (energy.nodes_known) {
    json["activities"] = parts_json(energy.activities);
    json["activities"]["without ranks"] = energy.unclaimed_joules;
    if (!energy.phases.empty())
      json["phases"] = parts_json(energy.phases);
    json["ranks"] = nlohmann::ordered_json::array();
    for (const EnergyRecord::Rank& rank : energy.ranks) {
      nlohmann::ordered_json entry = {{"joules", rank.joules}, {"idle", rank.idle}};
      for (std::size_t i = 0; i < rank.activities.size(); ++i)
        entry[energy.activities[i + 1].name] = rank.activities[i];
      json["ranks"].push_back(std::move(entry));
    }
    json["nodes"] = nlohmann::ordered_json::array();
    for (const EnergyRecord::Node& node : energy.nodes) {
      nlohmann::ordered_json entry = {{"node", node.node},
                                      {"name", node.name},
                                      {"state", node.state},
                                      {"joules", node.joules},
                                      {"peak_watts", node.peak_watts}};
      if (energy.network_known)
        entry["nic_joules"] = node.nic_joules;
      if (node.cap > 0)
        entry["cap_watts"] = node.cap;
      json["nodes"].push_back(std::move(entry));
    }
    json["changes"] = nlohmann::ordered_json::array();
    for (const EnergyRecord::Change& change : energy.changes)
      json["changes"].push_back({{"at_ps", change.at}, {"nodes", change.nodes}, {"state", change.state}});
    json["not_reached"] = energy.not_reached;
  }
  json["node_hours"] = energy.node_hours;
  if (!energy.currency.empty()) {
    json["cost"] = energy.money;
    json["currency"] = energy.currency;
  }
  return json;
}

} // namespace umwelt::observe
