// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/node_models.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "net_models/catalogue.h"
#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{
namespace
{

void parse_model(std::string_view option, std::string_view text, ModelChoice& choice)
{
  const std::size_t colon = text.find(':');
  choice.name = text.substr(0, colon);
  choice.has_parameters = colon != std::string_view::npos;
  if (choice.has_parameters)
    choice.parameters = text.substr(colon + 1);
  std::vector<std::string_view> names;
  for (const net::ModelEntry& model : net::models())
    names.emplace_back(model.name);
  if (std::find(names.begin(), names.end(), choice.name) == names.end())
    throw UsageError(
        option, "a network model, NAME or NAME:KEY=VALUE,...", in_quotes(choice.name),
        fmt::format("The nearest known one is '{}'; `umwelt models` lists them.", nearest(choice.name, names)));
  if (choice.has_parameters && choice.parameters.empty())
    throw UsageError(option, "KEY=VALUE behind the colon", "nothing", "Leave the colon out, or see `umwelt models`.");
}

} // namespace

ModelChoice parse_node_model(std::string_view option, std::string_view text)
{
  ModelChoice choice;
  parse_model(option, parse_nodes(option, text, choice.nodes), choice);
  choice.text = fmt::format("{} {}", option, text);
  return choice;
}

ModelChoice parse_model_choice(std::string_view option, std::string_view text)
{
  ModelChoice choice;
  parse_model(option, parse_optional_nodes(option, text, choice.nodes), choice);
  choice.text = fmt::format("{} {}", option, text);
  return choice;
}

TimedModel parse_timed_model(std::string_view option, std::string_view text)
{
  return parse_timed(option, text, parse_model_choice);
}

RegionModel parse_region_model(std::string_view option, std::string_view text)
{
  return parse_placed(option, text, parse_model_choice);
}

NodePlan::Kind NodeModels::kind_of(const ModelChoice& choice)
{
  Entry kind{choice.name, choice.parameters, false, choice.text};
  if (!choice.has_parameters && choice.name == kinds.front().name)
    return 0;
  const auto same = std::find_if(kinds.begin() + 1, kinds.end(), [&kind](const Entry& other) {
    return other.name == kind.name && other.parameters == kind.parameters;
  });
  const auto index = static_cast<std::size_t>(same - kinds.begin());
  if (index > std::numeric_limits<Kind>::max())
    throw UsageError(choice.text, "at most 255 different models in a run", "more", "Give some nodes the same.");
  if (same == kinds.end())
    kinds.push_back(std::move(kind));
  return static_cast<Kind>(index);
}

NodeModels plan_node_models(const RunOptions& options, std::uint32_t nodes, RegionFunctions& functions)
{
  NodeModels models;
  models.ctl = options.ctl;
  models.kinds.push_back({options.model, {}, true, fmt::format("--model {}", options.model)});
  models.of_node.assign(nodes, 0);
  std::vector<const ModelChoice*> named(nodes, nullptr);
  const ModelChoice* rest = nullptr;
  for (const ModelChoice& choice : options.node_models) {
    const NodePlan::Kind kind = models.kind_of(choice);
    if (choice.nodes.rest) {
      if (rest != nullptr)
        throw UsageError(choice.text, "one model for the rest", fmt::format("also {}", rest->text),
                         "Leave one of them out.");
      rest = &choice;
      continue;
    }
    for (const std::uint32_t node : models.nodes_of(choice)) {
      if (named[node] != nullptr)
        throw UsageError(choice.text, "one model for each node",
                         fmt::format("node {} also by {}", node, named[node]->text), "Correct the numbers.");
      named[node] = &choice;
      models.of_node[node] = kind;
    }
  }
  if (rest != nullptr)
    for (std::uint32_t node = 0; node < nodes; ++node)
      if (named[node] == nullptr)
        models.of_node[node] = models.kind_of(*rest);
  for (const TimedModel& timed : options.timed_models)
    models.add_change(timed.at, timed.choice, models.kind_of(timed.choice));
  for (const RegionModel& region : options.region_models)
    models.add_region(region.where, region.choice, models.kind_of(region.choice), functions);
  return models;
}

} // namespace umwelt::plan
