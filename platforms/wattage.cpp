// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/wattage.h"

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include "platforms/simgrid.h"
#include "runtime/base/parameters.h"

namespace umwelt::platform
{

namespace
{

// A property by its present or its former name; null: it has neither.
template <class Resource>
const char* property(const Resource& resource, std::initializer_list<const char*> names, std::string_view& name)
{
  for (const char* const one : names)
    if (const char* const text = resource.get_property(one); text != nullptr) {
      name = one;
      return text;
    }
  return nullptr;
}

std::vector<std::string_view> parts(std::string_view text, char separator)
{
  std::vector<std::string_view> found;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    found.push_back(trim(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  found.push_back(trim(text));
  return found;
}

struct Property {
  std::string object; // "property wattage_per_state of host 'node0'"
  std::string_view text;

  [[nodiscard]] std::invalid_argument wrong(std::string_view expected) const
  {
    return std::invalid_argument(fmt::format("{} is '{}' instead of {}", object, text, expected));
  }
  // Watts, so many of them as are allowed.
  [[nodiscard]] std::vector<double> watts(std::string_view one, std::size_t least, std::size_t most,
                                          std::string_view expected) const
  {
    std::vector<double> values;
    for (const std::string_view part : parts(one, ':'))
      if (double value = 0; parse_number(part, value))
        values.push_back(value);
      else
        throw wrong(expected);
    if (values.size() < least || values.size() > most)
      throw wrong(expected);
    return values;
  }
};

} // namespace

std::optional<NodeWattage> wattage_of(const Node& node)
{
  const simgrid::s4u::Host& host = *node.host;
  std::string_view name;
  const char* const text = property(host, {"wattage_per_state", "watt_per_state"}, name);
  if (text == nullptr)
    return std::nullopt;
  const Property states{fmt::format("property {} of host '{}'", name, host.get_name()), text};
  constexpr std::string_view expected = "IDLE:EPSILON:ALL in watts for each pstate, separated by commas";
  NodeWattage wattage;
  for (const std::string_view one : parts(text, ',')) {
    const std::vector<double> values = states.watts(one, 2, 3, expected);
    wattage.states.push_back({0, values.front(), values.size() == 3 ? values[1] : values[0], values.back()});
  }
  const auto pstates = static_cast<std::size_t>(host.get_pstate_count());
  if (wattage.states.size() != pstates)
    throw states.wrong(fmt::format("{}, of which it has {}", expected, pstates));
  for (std::size_t state = 0; state < pstates; ++state)
    wattage.states[state].speed = host.get_pstate_speed(static_cast<unsigned long>(state));
  wattage.first = static_cast<std::size_t>(host.get_pstate());
  if (const char* const off = property(host, {"wattage_off", "watt_off"}, name); off != nullptr)
    wattage.off =
        Property{fmt::format("property {} of host '{}'", name, host.get_name()), off}.watts(off, 1, 1, "watts").front();
  return wattage;
}

std::optional<LinkWattage> wattage_of(const Link& link)
{
  std::string_view name;
  const char* const text = property(*link.link, {"wattage_range", "watt_range"}, name);
  if (text == nullptr)
    return std::nullopt;
  const std::vector<double> values =
      Property{fmt::format("property {} of link '{}'", name, link.name), text}.watts(text, 2, 2, "IDLE:BUSY in watts");
  return LinkWattage{values.front(), values.back()};
}

std::vector<std::string> links_with_wattage()
{
  std::vector<std::string> names;
  std::string_view name;
  for (const simgrid::s4u::Link* const link : simgrid_engine().get_all_links())
    if (property(*link, {"wattage_range", "watt_range"}, name) != nullptr)
      names.push_back(link->get_name());
  return names;
}

} // namespace umwelt::platform
