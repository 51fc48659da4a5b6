// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/routing.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/nearest.h"

namespace umwelt::platform
{

namespace
{
constexpr std::array<std::string_view, 6> names{"d_mod_k", "s_mod_k", "dimension_order",
                                                "minimal", "valiant", "random"};
} // namespace

std::string_view routing_name(Routing routing)
{
  return names[static_cast<std::size_t>(routing)];
}

Routing parse_routing(const std::string& object, std::string_view text, std::span<const Routing> possible)
{
  std::vector<std::string> own;
  for (const Routing routing : possible) {
    if (routing_name(routing) == text)
      return routing;
    own.emplace_back(routing_name(routing));
  }
  const bool of_others = std::find(names.begin(), names.end(), text) != names.end();
  const std::string_view guess = of_others ? std::string_view{} : plausible(text, own);
  throw std::invalid_argument(
      fmt::format("{}: parameter routing: expected one of {}, got '{}'{}. {}", object, fmt::join(own, ", "), text,
                  of_others ? ", which this topology cannot do" : "",
                  guess.empty() ? "Choose one of these." : fmt::format("Did you mean '{}'?", guess)));
}

} // namespace umwelt::platform
