// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/models_command.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace umwelt::cli
{

namespace
{

std::string entry_text(const net::ModelEntry& model)
{
  std::string text = fmt::format("{}\n  {}\n", model.name, model.summary);
  std::size_t key = 0;
  std::size_t standard = 0;
  for (const ParameterInfo& parameter : model.parameters) {
    key = std::max(key, parameter.key.size());
    standard = std::max(standard, parameter.standard.size());
  }
  for (const ParameterInfo& parameter : model.parameters)
    text += fmt::format("    {:<{}}  {:>{}}  {:<9}  {}\n", parameter.key, key, parameter.standard, standard,
                        kind_name(parameter.kind), parameter.help);
  return text;
}

nlohmann::ordered_json entry_json(const net::ModelEntry& model, const char* option)
{
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  for (const ParameterInfo& parameter : model.parameters)
    parameters.push_back({{"key", parameter.key},
                          {"default", parameter.standard},
                          {"kind", kind_name(parameter.kind)},
                          {"help", parameter.help}});
  return {{"name", model.name}, {"summary", model.summary}, {"option", option}, {"parameters", parameters}};
}

} // namespace

std::string models_text(std::span<const net::ModelEntry> models, const net::ModelEntry& node)
{
  std::string text;
  for (const net::ModelEntry& model : models)
    text += entry_text(model) + "\n";
  return text +
         "Set them with: umwelt run --model NAME --nic KEY=VALUE --nic @FILE ..., or (bxi) as property nic:KEY of a "
         "platform; --fabric NAME is --nic fabric=NAME.\n\n" +
         entry_text(node) +
         "\nSet them with: umwelt run --node KEY=VALUE --node @FILE ...\n"
         "Units: time ps ns us ms s; bandwidth B/s kB/s MB/s GB/s Mbps Gbps; size B kB KiB MB MiB; flag on off; "
         "fraction 0.01 or 1%.\n";
}

std::string models_json(std::span<const net::ModelEntry> models, const net::ModelEntry& node)
{
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const net::ModelEntry& model : models)
    json.push_back(entry_json(model, "--nic"));
  json.push_back(entry_json(node, "--node"));
  return json.dump(2) + "\n";
}

} // namespace umwelt::cli
