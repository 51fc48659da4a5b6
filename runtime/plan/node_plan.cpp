// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/node_plan.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "preload/abi/mpi_calls.h"
#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/mpi/functions.h"

namespace umwelt::plan
{
namespace
{

constexpr std::size_t most_traced = 1000;

constexpr std::string_view nodes_example = "For example: 0-15,20, or rest";

bool is_number(std::string_view text)
{
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether it can only be NODES. (What nodes have begins with a letter.)
bool is_nodes(std::string_view text)
{
  return text == "rest" || (!text.empty() && text.find_first_not_of("0123456789,- ") == std::string_view::npos);
}

NodeSet read_nodes(std::string_view option, std::string_view text)
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

} // namespace

// Names of MPI are its own; others may be functions of the program.
std::string read_function(std::string_view option, std::string_view text)
{
  const bool name = !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                            "0123456789_.$@") == std::string_view::npos;
  if (!name || is_number(text.substr(0, 1)))
    throw UsageError(option, "a function of MPI or of the program, by its symbol", in_quotes(text),
                     "For example: MPI_Barrier, or solve_");
  if (!text.starts_with("MPI_"))
    return std::string(text);
  std::vector<std::string_view> names;
  for (std::uint32_t function = 1; function < UMW_MPI_FUNCTIONS; ++function)
    names.emplace_back(mpi::function_name(function));
  if (std::find(names.begin(), names.end(), text) == names.end())
    throw UsageError(option, "a function of MPI", in_quotes(text),
                     fmt::format("The nearest known one is '{}'.", nearest(text, names)));
  return std::string(text);
}

std::string_view parse_nodes(std::string_view option, std::string_view text, NodeSet& nodes)
{
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_nodes(trim(text.substr(0, equals))))
    throw UsageError(option, "NODES=MODEL", in_quotes(text),
                     fmt::format("For example: {0} 0-15=bxi {0} rest=loggp", option));
  nodes = read_nodes(option, trim(text.substr(0, equals)));
  return text.substr(equals + 1);
}

std::string_view parse_optional_nodes(std::string_view option, std::string_view text, NodeSet& nodes)
{
  const std::string_view before = trim(text.substr(0, text.find('=')));
  const bool has_nodes = before.size() < text.size() && !before.empty() &&
                         (before == "rest" || is_number(before.substr(0, 1)) || before.starts_with('-'));
  if (!has_nodes)
    return text;
  nodes = read_nodes(option, before);
  if (nodes.rest)
    throw UsageError(option, "numbers of nodes, or a model for all of them", "'rest'",
                     "What --nodes leaves is named there; say which nodes are to change.");
  return text.substr(text.find('=') + 1);
}

std::string_view parse_time(std::string_view option, std::string_view text, sim::SimTime& time)
{
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    throw UsageError(option, "TIME: and what is to be from then on", in_quotes(text),
                     fmt::format("For example: {} 5ms:{}", option, option.ends_with("cpu-at") ? "none" : "loggp"));
  time = read_duration(option, text.substr(0, colon));
  return text.substr(colon + 1);
}

std::string_view parse_where(std::string_view option, std::string_view text, Where& where)
{
  const auto wrong = [&](std::string_view got) {
    return UsageError(option, "N, FUNCTION#N or FROM..TO, then = and what is to be there", in_quotes(got),
                      fmt::format("For example: {0} 1={1}, {0} MPI_Barrier#3={1}, {0} MPI_Init..MPI_Barrier={1}",
                                  option, option.ends_with("cpu-region") ? "none" : "zero"));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw wrong(text);
  const std::string_view place = trim(text.substr(0, equals));
  const std::size_t hash = place.find('#');
  const std::size_t dots = place.find("..");
  const std::string_view digits = place.starts_with('-') ? place.substr(1) : place;
  if (is_number(digits)) {
    const auto level =
        read_count(option, digits, "a level of MPI_Pcontrol", 0, std::numeric_limits<std::int32_t>::max());
    where.kind = Where::Kind::level;
    where.level = place.starts_with('-') ? -static_cast<std::int64_t>(level) : static_cast<std::int64_t>(level);
    where.function = "MPI_Pcontrol";
  } else if (hash != std::string_view::npos) {
    where.kind = Where::Kind::after;
    where.function = read_function(option, place.substr(0, hash));
    where.count =
        read_count(option, place.substr(hash + 1), "a number of calls", 1, std::numeric_limits<std::uint64_t>::max());
  } else if (dots != std::string_view::npos) {
    where.kind = Where::Kind::between;
    where.function = read_function(option, place.substr(0, dots));
    where.until = read_function(option, place.substr(dots + 2));
  } else {
    throw wrong(place);
  }
  return text.substr(equals + 1);
}

void add_functions(std::string_view option, std::string_view text, std::vector<std::string>& functions)
{
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string function = read_function(option, text.substr(begin, end - begin));
    if (function.starts_with("MPI_"))
      throw UsageError(option, "functions of the program", function, "Leave it out: all calls of MPI are in a trace.");
    if (std::find(functions.begin(), functions.end(), function) == functions.end())
      functions.push_back(function);
    begin = end + 1;
  }
  if (functions.size() > most_traced)
    throw UsageError(option, fmt::format("at most {} functions", most_traced), fmt::format("{}", functions.size()),
                     "Leave some out.");
}

std::uint32_t RegionFunctions::number_of(const std::string& function)
{
  for (std::uint32_t number = 1; number < UMW_MPI_FUNCTIONS; ++number)
    if (mpi::function_name(number) == function)
      return number;
  const auto found = std::find(others_.begin(), others_.end(), function);
  const auto index = static_cast<std::uint32_t>(found - others_.begin());
  if (found == others_.end())
    others_.push_back(function);
  return UMW_MPI_FUNCTIONS + index;
}

std::vector<std::uint32_t> NodePlan::nodes_of(const NodeChoice& choice) const
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

void NodePlan::add_change(sim::SimTime at, const NodeChoice& choice, Kind kind)
{
  const auto behind = std::upper_bound(changes.begin(), changes.end(), at,
                                       [](sim::SimTime t, const Change& one) { return t < one.at; });
  changes.insert(behind, {at, nodes_of(choice), kind, choice.text});
}

void NodePlan::add_region(const Where& where, const NodeChoice& choice, Kind kind, RegionFunctions& functions)
{
  Region region{where,      functions.number_of(where.function), 0, std::vector<bool>(of_node.size(), false), kind,
                choice.text};
  if (where.kind == Where::Kind::between)
    region.until = functions.number_of(where.until);
  for (const std::uint32_t node : nodes_of(choice))
    region.nodes[node] = true;
  regions.push_back(std::move(region));
}

bool has_mpi(const std::vector<NodePlan::Region>& regions)
{
  return std::any_of(regions.begin(), regions.end(), [](const NodePlan::Region& region) {
    return region.function < UMW_MPI_FUNCTIONS ||
           (region.where.kind == Where::Kind::between && region.until < UMW_MPI_FUNCTIONS);
  });
}

} // namespace umwelt::plan
