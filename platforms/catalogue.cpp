// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/catalogue.h"

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
    Ready{"bxi", "two-level fat tree of BXI v2 switches, as many nodes as the run needs", build_bxi, bxi_parameters},
    Ready{"fat_tree", "fat tree of any number of levels, PGFT(h; d1..dh; u1..uh; p1..ph)", build_fat_tree,
          fat_tree_parameters},
    Ready{"torus", "torus of any dimension", build_torus, torus_parameters},
    Ready{"mesh", "mesh of any dimension", build_mesh, mesh_parameters},
    Ready{"dragonfly", "groups of routers, a cable between any two groups", build_dragonfly, dragonfly_parameters},
    Ready{"hyperx", "grid with all cables in each row: HyperX, flattened butterfly, full mesh", build_hyperx,
          hyperx_parameters},
    Ready{"slimfly", "2 q^2 routers, any two at most two hops apart", build_slimfly, slimfly_parameters},
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
  return spec.find('/') != std::string::npos || spec.ends_with(".xml") || spec.ends_with(".so");
}

// Parameters behind the name. A shape in parentheses, as in fat_tree:(2;16,16;1,16;1,1), is that of `pgft`; its commas
// part no parameters.
Parameters read_spec(std::string_view name, std::string_view text)
{
  Parameters all;
  if (name == "fat_tree" && text.starts_with('(')) {
    const auto end = text.find(')');
    if (end == std::string_view::npos || (end + 1 < text.size() && text[end + 1] != ','))
      throw std::invalid_argument(fmt::format(
          "--platform: expected a shape in parentheses and then parameters, fat_tree:(h;d;u;p),KEY=VALUE, got '{}'. "
          "Correct the text.",
          text));
    all.set("pgft", std::string(text.substr(1, end - 1)), "--platform");
    if (end + 1 == text.size())
      return all;
    text.remove_prefix(end + 2);
  }
  all.add(text, "--platform");
  return all;
}

std::string unknown_platform(const std::string& name)
{
  std::vector<std::string> names;
  names.reserve(std::size(ready_platforms));
  for (const Ready& ready : ready_platforms)
    names.emplace_back(ready.name);
  const std::string_view guess = plausible(name, names);
  return fmt::format(
      "platform '{}': expected one of {} or the path of a SimGrid platform (with a '/', or ending in .xml or .so).{} "
      "`umwelt platforms` describes them.",
      name, fmt::join(names, ", "), guess.empty() ? "" : fmt::format(" Did you mean '{}'?", guess));
}

} // namespace

std::span<const CatalogueEntry> catalogue()
{
  static const std::vector<CatalogueEntry> entries = make_catalogue();
  return entries;
}

std::vector<ParameterInfo> parameters_of(std::string_view spec)
{
  for (const Ready& ready : ready_platforms)
    if (spec.substr(0, spec.find(':')) == ready.name)
      return ready.parameters();
  return {};
}

std::unique_ptr<Platform> make_platform(const Request& request)
{
  const auto colon = request.spec.find(':');
  const std::string name = request.spec.substr(0, colon);
  for (const Ready& ready : ready_platforms) {
    if (name != ready.name)
      continue;
    const Parameters all =
        colon == std::string::npos ? Parameters() : read_spec(name, std::string_view(request.spec).substr(colon + 1));
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
    return load_simgrid_file(request);
  throw std::invalid_argument(unknown_platform(name));
}

} // namespace umwelt::platform
