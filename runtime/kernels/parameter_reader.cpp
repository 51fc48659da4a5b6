// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/parameter_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/expression.h"

namespace umwelt::kernels
{
namespace
{

constexpr std::size_t most_places = 1 << 20; // of all ranges together

Constant read_constant(const std::string& name, const Item& item)
{
  const Expression expression(item.text(), {}, item.object);
  const double value = expression.evaluate({});
  const Dimension dimension = expression.dimension();
  if (dimension == Dimension::mixed || !std::isfinite(value))
    throw UsageError(item.object, "a number or a time", in_quotes(expression.text()), "For example: 7e-11 s");
  return {name, value, dimension == Dimension::time || (dimension == Dimension::zero && expression.names_time())};
}

std::string check_name(const std::string& name, const Item& item, std::span<const std::string> variables)
{
  if (!is_identifier(name) || is_reserved(name))
    throw UsageError(item.object, "a name of letters, digits and _ that is no function and no unit", in_quotes(name),
                     "Rename the parameter.");
  if (std::find(variables.begin(), variables.end(), name) != variables.end())
    throw UsageError(item.object, "a name that is not one of the kernel's arguments", in_quotes(name),
                     "Rename the parameter.");
  return name;
}

// "3", "0-15", "0-15,20", or a list of such.
std::vector<std::uint32_t> read_ranges(const Item& item)
{
  std::vector<std::uint32_t> result;
  const auto refuse = [&](std::string_view text) {
    throw UsageError(item.object, "whole numbers and ranges, at most 1048576 in sum", in_quotes(text),
                     "For example: 0-15");
  };
  const auto add = [&](std::string_view text) {
    std::uint32_t first = 0;
    const auto begin = std::from_chars(text.data(), text.data() + text.size(), first);
    std::uint32_t last = first;
    const char* end = begin.ptr;
    bool good = begin.ec == std::errc{};
    if (good && end != text.data() + text.size() && *end == '-') {
      const auto rest = std::from_chars(end + 1, text.data() + text.size(), last);
      good = rest.ec == std::errc{};
      end = rest.ptr;
    }
    if (!good || end != text.data() + text.size() || last < first || last - first >= most_places - result.size())
      refuse(text);
    for (std::uint64_t value = first; value <= last; ++value)
      result.push_back(static_cast<std::uint32_t>(value));
  };
  const auto add_all = [&](std::string_view text) {
    while (true) {
      const auto comma = text.find(',');
      std::string_view part = text.substr(0, comma);
      while (part.starts_with(' '))
        part.remove_prefix(1);
      add(part);
      if (comma == std::string_view::npos)
        break;
      text.remove_prefix(comma + 1);
    }
  };
  if (!item.node.IsSequence())
    add_all(item.text());
  else
    for (const Item& part : item.list())
      add_all(part.text());
  if (result.empty())
    refuse("");
  return result;
}

// One item of by_node.
struct Group {
  std::string object;
  std::vector<std::uint32_t> nodes, sockets, cores;
  std::vector<Constant> values;
};

Group read_group(Section section, std::span<const std::string> variables)
{
  Group group;
  group.object = section.object();
  group.nodes = read_ranges(section.require("nodes", "For example: nodes: 0-15"));
  if (const auto item = section.find("sockets"))
    group.sockets = read_ranges(*item);
  if (const auto item = section.find("cores"))
    group.cores = read_ranges(*item);
  for (const auto& [name, item] : section.others())
    group.values.push_back(read_constant(check_name(name, item, variables), item));
  return group;
}

// Every group has the same parameters in the order of the first one's, but for what constants stand in for.
std::vector<double> values_of(const Group& group, const Group& first, std::span<const std::uint8_t> times,
                              std::span<const Constant> constants)
{
  std::vector<double> values;
  for (const Constant& wanted : first.values) {
    const auto same = [&](const Constant& other) { return other.name == wanted.name; };
    auto found = std::find_if(group.values.begin(), group.values.end(), same);
    const Constant* value = found == group.values.end() ? nullptr : &*found;
    if (value == nullptr)
      if (const auto other = std::find_if(constants.begin(), constants.end(), same); other != constants.end())
        value = &*other;
    if (value == nullptr)
      throw UsageError(group.object, fmt::format("a value of {}, as the first item has", wanted.name), "none",
                       "Give it in each item, or beside by_node for all nodes.");
    const bool is_time = times[values.size()] != 0;
    if (value->is_time != is_time && value->value != 0)
      throw UsageError(group.object,
                       fmt::format("{} as {}, like in other items", wanted.name, is_time ? "a time" : "a number"),
                       value->is_time ? "a time" : "a number without unit", "Use one unit for all.");
    values.push_back(value->value);
  }
  for (const Constant& value : group.values)
    if (std::none_of(first.values.begin(), first.values.end(),
                     [&](const Constant& other) { return other.name == value.name; }))
      throw UsageError(group.object, "the parameters of the first item", fmt::format("{} in addition", value.name),
                       "Give it in each item.");
  return values;
}

ParameterTable read_groups(const Section& section, const Item& item, std::span<const std::string> variables,
                           std::span<const Constant> constants)
{
  std::vector<Group> groups;
  for (const Item& part : item.list())
    groups.push_back(read_group(section.inner(part, "by_node"), variables));
  if (groups.empty())
    throw UsageError(item.object, "items", "none", "For example: - {nodes: 0-15, b: 7e-11 s}");
  const Group& first = groups.front();
  std::vector<std::string> names;
  std::vector<std::uint8_t> times;
  for (const Constant& value : first.values) {
    names.push_back(value.name);
    // A zero may have no unit.
    times.push_back(std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
      return std::any_of(group.values.begin(), group.values.end(),
                         [&](const Constant& other) { return other.name == value.name && other.is_time; });
    }));
  }
  const ParameterTable::Keys keys{!first.sockets.empty(), !first.cores.empty()};
  ParameterTable table(item.object, names, times, keys);
  std::size_t places = 0;
  for (Group& group : groups) {
    if (group.sockets.empty() == keys.socket || group.cores.empty() == keys.core)
      throw UsageError(group.object, "the same keys (nodes, sockets, cores) as in the first item", "others",
                       "Split the nodes the same way in all items.");
    if (!keys.socket)
      group.sockets = {0};
    if (!keys.core)
      group.cores = {0};
    places += group.nodes.size() * group.sockets.size() * group.cores.size();
    if (places > most_places)
      throw UsageError(group.object, fmt::format("at most {} places", most_places), fmt::format("{}", places),
                       "Use wider groups.");
    const std::vector<double> values = values_of(group, first, times, constants);
    for (const std::uint32_t node : group.nodes)
      for (const std::uint32_t socket : group.sockets)
        for (const std::uint32_t core : group.cores) {
          const Place place{node, socket, core};
          if (table.has(place))
            throw UsageError(group.object, "each node once", fmt::format("node {} again", node),
                             "Take it out of one of the items.");
          table.add(place, values);
        }
  }
  return table;
}

} // namespace

PlaceParameters read_place_parameters(Section section, std::span<const std::string> variables)
{
  constexpr std::array<std::string_view, 3> choices{"mean", "row", "normal"};
  constexpr std::array<std::string_view, 3> policies{"error", "cycle", "draw"};
  const auto table_item = section.find("table");
  const auto groups_item = section.find("by_node");
  const auto draw = section.find("draw");
  const auto missing = section.find("missing");
  if (table_item && groups_item)
    throw UsageError(groups_item->object, "either a table or by_node", "both", "Remove one of them.");
  if (draw && !table_item)
    throw UsageError(draw->object, "a table beside 'draw'", "none", "Add 'table: FILE.csv'.");
  if (missing && !table_item && !groups_item)
    throw UsageError(missing->object, "a table or by_node beside 'missing'", "none", "Add 'table: FILE.csv'.");

  std::vector<Constant> constants;
  for (const auto& [name, item] : section.others())
    constants.push_back(read_constant(check_name(name, item, variables), item));
  std::optional<ParameterTable> table;
  if (table_item) {
    const std::filesystem::path path(table_item->text());
    table = ParameterTable::read((std::filesystem::path(section.path()).parent_path() / path).string());
    for (std::size_t i = 0; i < table->names().size(); ++i) {
      if (std::find(variables.begin(), variables.end(), table->names()[i]) != variables.end())
        throw UsageError(table_item->object, "columns that are not called like the kernel's arguments",
                         in_quotes(table->names()[i]), "Rename the column.");
      for (const Constant& constant : constants)
        if (constant.name == table->names()[i] && constant.is_time != (table->times()[i] != 0) && constant.value != 0)
          throw UsageError(table_item->object, fmt::format("{} with the same unit in the table", constant.name),
                           "another one", fmt::format("Call the column '{} [s]' if it is in seconds.", constant.name));
    }
  } else if (groups_item) {
    table = read_groups(section, *groups_item, variables, constants);
  }
  const auto choice = draw ? static_cast<RowChoice>(read_choice(*draw, choices)) : RowChoice::mean;
  if (table)
    table->check(choice);
  return {constants, std::move(table), choice,
          missing ? static_cast<Missing>(read_choice(*missing, policies)) : Missing::error};
}

} // namespace umwelt::kernels
