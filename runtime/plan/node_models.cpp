// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/node_models.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "net_models/catalogue.h"
#include "preload/abi/mpi_calls.h"
#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/mpi/functions.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{
namespace
{

constexpr std::string_view nodes_example = "For example: 0-15,20, or rest";

bool is_number(std::string_view text)
{
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether it can only be NODES. (A model's name begins with a letter.)
bool is_nodes(std::string_view text)
{
  return text == "rest" || (!text.empty() && text.find_first_not_of("0123456789,- ") == std::string_view::npos);
}

NodeSet parse_nodes(std::string_view option, std::string_view text)
{
  NodeSet nodes;
  if (text == "rest") {
    nodes.rest = true;
    return nodes;
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = trim(text.substr(0, comma));
    const std::size_t dash = item.find('-');
    const std::string_view first = item.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : item.substr(dash + 1);
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    if (!is_number(first) || !is_number(last) || !parse_count(first, from) || !parse_count(last, to) || to < from)
      throw UsageError(option, "numbers of nodes and ranges, separated by commas, or rest", in_quotes(item),
                       nodes_example);
    nodes.ranges.emplace_back(from, to);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (comma != std::string_view::npos && text.empty())
      throw UsageError(option, "a node behind the comma", "none", nodes_example);
  }
  return nodes;
}

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

// [NODES=]MODEL
ModelChoice parse_choice(std::string_view option, std::string_view text)
{
  ModelChoice choice;
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':');
  const bool has_nodes = equals != std::string_view::npos && equals < colon;
  if (has_nodes)
    choice.nodes = parse_nodes(option, trim(text.substr(0, equals)));
  parse_model(option, has_nodes ? text.substr(equals + 1) : text, choice);
  return choice;
}

std::uint32_t parse_function(std::string_view option, std::string_view text)
{
  std::vector<std::string_view> names;
  for (std::uint32_t function = 1; function < UMW_MPI_FUNCTIONS; ++function) {
    if (mpi::function_name(function) == text)
      return function;
    names.emplace_back(mpi::function_name(function));
  }
  throw UsageError(option, "a function of MPI", in_quotes(text),
                   fmt::format("The nearest known one is '{}'.", nearest(text, names)));
}

} // namespace

ModelChoice parse_node_model(std::string_view option, std::string_view text)
{
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_nodes(trim(text.substr(0, equals))))
    throw UsageError(option, "NODES=MODEL", in_quotes(text),
                     fmt::format("For example: {0} 0-15=bxi {0} rest=loggp", option));
  ModelChoice choice = parse_choice(option, text);
  choice.text = fmt::format("{} {}", option, text);
  return choice;
}

ModelChoice parse_model_choice(std::string_view option, std::string_view text)
{
  ModelChoice choice = parse_choice(option, text);
  choice.text = fmt::format("{} {}", option, text);
  if (choice.nodes.rest)
    throw UsageError(option, "numbers of nodes, or a model for all of them", "'rest'",
                     "What --nodes leaves is named there; say which nodes are to change.");
  return choice;
}

TimedModel parse_timed_model(std::string_view option, std::string_view text)
{
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    throw UsageError(option, "TIME:[NODES=]MODEL", in_quotes(text), fmt::format("For example: {} 5ms:loggp", option));
  TimedModel timed;
  timed.at = read_duration(option, text.substr(0, colon));
  timed.choice = parse_model_choice(option, text.substr(colon + 1));
  timed.choice.text = fmt::format("{} {}", option, text);
  return timed;
}

RegionModel parse_region_model(std::string_view option, std::string_view text)
{
  const auto wrong = [&](std::string_view got) {
    return UsageError(
        option, "N, FUNCTION#N or FROM..TO, then =[NODES=]MODEL", in_quotes(got),
        fmt::format("For example: {0} 1=zero, {0} MPI_Barrier#3=loggp, {0} MPI_Init..MPI_Barrier=zero", option));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw wrong(text);
  const std::string_view where = trim(text.substr(0, equals));
  RegionModel region;
  const std::size_t hash = where.find('#');
  const std::size_t dots = where.find("..");
  const std::string_view digits = where.starts_with('-') ? where.substr(1) : where;
  if (is_number(digits)) {
    region.kind = RegionModel::Kind::level;
    const auto level =
        read_count(option, digits, "a level of MPI_Pcontrol", 0, std::numeric_limits<std::int32_t>::max());
    region.level = where.starts_with('-') ? -static_cast<std::int64_t>(level) : static_cast<std::int64_t>(level);
    region.function = parse_function(option, "MPI_Pcontrol");
  } else if (hash != std::string_view::npos) {
    region.kind = RegionModel::Kind::after;
    region.function = parse_function(option, where.substr(0, hash));
    region.count =
        read_count(option, where.substr(hash + 1), "a number of calls", 1, std::numeric_limits<std::uint64_t>::max());
  } else if (dots != std::string_view::npos) {
    region.kind = RegionModel::Kind::between;
    region.function = parse_function(option, where.substr(0, dots));
    region.until = parse_function(option, where.substr(dots + 2));
  } else {
    throw wrong(where);
  }
  region.choice = parse_model_choice(option, text.substr(equals + 1));
  region.choice.text = fmt::format("{} {}", option, text);
  return region;
}

std::uint8_t NodeModels::kind_of(const ModelChoice& choice)
{
  Kind kind{choice.name, choice.parameters, false, choice.text};
  if (!choice.has_parameters && choice.name == kinds.front().name)
    return 0;
  const auto same = std::find_if(kinds.begin() + 1, kinds.end(), [&kind](const Kind& other) {
    return other.name == kind.name && other.parameters == kind.parameters;
  });
  const auto index = static_cast<std::size_t>(same - kinds.begin());
  if (index > std::numeric_limits<std::uint8_t>::max())
    throw UsageError(choice.text, "at most 255 different models in a run", "more", "Give some nodes the same.");
  if (same == kinds.end())
    kinds.push_back(std::move(kind));
  return static_cast<std::uint8_t>(index);
}

std::vector<std::uint32_t> NodeModels::nodes_of(const ModelChoice& choice) const
{
  std::vector<std::uint32_t> nodes;
  const auto count = static_cast<std::uint32_t>(of_node.size());
  if (choice.nodes.all())
    for (std::uint32_t node = 0; node < count; ++node)
      nodes.push_back(node);
  for (const auto& [from, to] : choice.nodes.ranges) {
    if (to >= count)
      throw UsageError(choice.text, fmt::format("nodes from 0 to {}, which the platform has", count - 1),
                       fmt::format("{}", std::max(from, std::uint64_t{count})), "Correct the numbers.");
    for (std::uint64_t node = from; node <= to; ++node)
      nodes.push_back(static_cast<std::uint32_t>(node));
  }
  return nodes;
}

NodeModels plan_node_models(const RunOptions& options, std::uint32_t nodes)
{
  NodeModels models;
  models.ctl = options.ctl;
  models.kinds.push_back({options.model, {}, true, fmt::format("--model {}", options.model)});
  models.of_node.assign(nodes, 0);
  std::vector<const ModelChoice*> named(nodes, nullptr);
  const ModelChoice* rest = nullptr;
  for (const ModelChoice& choice : options.node_models) {
    const std::uint8_t kind = models.kind_of(choice);
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
    models.changes.push_back(
        {timed.at, models.nodes_of(timed.choice), models.kind_of(timed.choice), timed.choice.text});
  std::stable_sort(models.changes.begin(), models.changes.end(),
                   [](const NodeModels::Change& a, const NodeModels::Change& b) { return a.at < b.at; });
  for (const RegionModel& region : options.region_models) {
    std::vector<bool> there(nodes, false);
    for (const std::uint32_t node : models.nodes_of(region.choice))
      there[node] = true;
    models.regions.push_back({region, std::move(there), models.kind_of(region.choice)});
  }
  return models;
}

} // namespace umwelt::plan
