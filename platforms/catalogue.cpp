// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platforms/builders.h"
#include "platforms/platform.h"
#include "runtime/base/nearest.h"

namespace umwelt::platform
{

namespace
{

struct Ready {
  const char* name;
  const char* summary;
  Builder build;
  std::vector<ParameterInfo> (*parameters)();
};

constexpr std::array ready_platforms{
    Ready{"bxi", "two-level fat tree of BXI v2 switches, D-mod-K routing, as many nodes as the run needs",
          build_fat_tree, fat_tree_parameters},
    Ready{"crossbar", "BXI nodes on one ideal switch: contention at the nodes only", build_crossbar,
          crossbar_parameters},
    Ready{"ethernet", "nodes with 25 Gb/s Ethernet on one ideal switch", build_ethernet, ethernet_parameters},
};

std::vector<CatalogueEntry> make_catalogue()
{
  std::vector<CatalogueEntry> entries;
  for (const Ready& ready : ready_platforms) {
    std::vector<std::string> parameters;
    for (const auto& parameter : ready.parameters())
      parameters.push_back(parameter.key + '=' + parameter.standard);
    entries.push_back({ready.name, ready.summary, fmt::format("{}", fmt::join(parameters, " "))});
  }
  return entries;
}

bool looks_like_a_file(const std::string& spec)
{
  return spec.find('/') != std::string::npos || spec.ends_with(".xml");
}

std::string unknown_platform(const std::string& name)
{
  std::vector<std::string> names;
  names.reserve(std::size(ready_platforms));
  for (const Ready& ready : ready_platforms)
    names.emplace_back(ready.name);
  const std::string_view guess = plausible(name, names);
  return fmt::format(
      "platform '{}': expected one of {} or the path of a SimGrid XML file (with a '/' or ending in .xml).{} "
      "`umwelt platforms` describes them.",
      name, fmt::join(names, ", "), guess.empty() ? "" : fmt::format(" Did you mean '{}'?", guess));
}

} // namespace

std::span<const CatalogueEntry> catalogue()
{
  static const std::vector<CatalogueEntry> entries = make_catalogue();
  return entries;
}

std::unique_ptr<Platform> make_platform(const Request& request)
{
  const auto colon = request.spec.find(':');
  const std::string name = request.spec.substr(0, colon);
  for (const Ready& ready : ready_platforms) {
    if (name != ready.name)
      continue;
    Parameters all;
    if (colon != std::string::npos)
      all.add(std::string_view(request.spec).substr(colon + 1), "--platform");
    constexpr std::string_view nic_prefix = "nic:"; // as in XML
    Parameters own;
    for (const auto& [key, value] : all.values())
      if (!key.starts_with(nic_prefix))
        own.set(key, value.text, value.origin);
    auto platform = ready.build(request, own);
    for (const auto& [key, value] : all.values())
      if (key.starts_with(nic_prefix))
        platform->set_nic_property(key.substr(nic_prefix.size()), value.text);
    return platform;
  }
  if (looks_like_a_file(request.spec))
    return load_xml(request);
  throw std::invalid_argument(unknown_platform(name));
}

} // namespace umwelt::platform
