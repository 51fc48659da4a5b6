// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/models_command.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace umwelt::cli
{

std::string models_text(std::span<const net::ModelEntry> models)
{
  std::string text;
  for (const net::ModelEntry& model : models) {
    text += fmt::format("{}{}\n  {}\n", text.empty() ? "" : "\n", model.name, model.summary);
    std::size_t key = 0;
    std::size_t standard = 0;
    for (const net::ParameterInfo& parameter : model.parameters) {
      key = std::max(key, parameter.key.size());
      standard = std::max(standard, parameter.standard.size());
    }
    for (const net::ParameterInfo& parameter : model.parameters)
      text += fmt::format("    {:<{}}  {:>{}}  {:<9}  {}\n", parameter.key, key, parameter.standard, standard,
                          net::kind_name(parameter.kind), parameter.help);
  }
  return text +
         "\nSet them with: umwelt run --model NAME --nic KEY=VALUE --nic @FILE ..., or (bxi) as property nic:KEY of a "
         "platform.\n"
         "Units: time ps ns us ms s; bandwidth B/s kB/s MB/s GB/s Mbps Gbps; size B kB KiB MB MiB; flag on off; "
         "fraction 0.01 or 1%.\n";
}

std::string models_json(std::span<const net::ModelEntry> models)
{
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const net::ModelEntry& model : models) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    for (const net::ParameterInfo& parameter : model.parameters)
      parameters.push_back({{"key", parameter.key},
                            {"default", parameter.standard},
                            {"kind", net::kind_name(parameter.kind)},
                            {"help", parameter.help}});
    json.push_back({{"name", model.name}, {"summary", model.summary}, {"parameters", parameters}});
  }
  return json.dump(2) + "\n";
}

} // namespace umwelt::cli
