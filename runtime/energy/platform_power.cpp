// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/energy/platform_power.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "platforms/wattage.h"

namespace umwelt::energy
{

namespace
{

NodePower node_power(const platform::NodeWattage& wattage, unsigned cores)
{
  NodePower kind;
  kind.first = wattage.first;
  kind.off = wattage.off;
  for (const platform::NodeWattage::State& one : wattage.states) {
    PowerState state;
    state.name = std::to_string(kind.states.size());
    state.pace = one.speed / wattage.states.front().speed;
    state.idle = one.idle;
    set_linear(state, one.epsilon, one.all, cores);
    state.full.assign(first_kernel, one.all);
    kind.states.push_back(std::move(state));
  }
  return kind;
}

bool same(const platform::NodeWattage& a, const platform::NodeWattage& b)
{
  return a.first == b.first && a.off == b.off &&
         std::equal(a.states.begin(), a.states.end(), b.states.begin(), b.states.end(),
                    [](const auto& one, const auto& other) {
                      return one.speed == other.speed && one.idle == other.idle && one.epsilon == other.epsilon &&
                             one.all == other.all;
                    });
}

} // namespace

std::unique_ptr<Power> platform_power(const platform::Platform& platform)
{
  auto power = std::make_unique<Power>();
  power->source = "properties of the platform";
  std::vector<std::pair<platform::NodeWattage, unsigned>> made; // by kind, with cores
  const platform::Node* without = nullptr;
  for (const platform::Node& node : platform.nodes()) {
    const auto wattage = platform::wattage_of(node);
    if (!wattage) {
      without = &node;
      continue;
    }
    const auto found = std::find_if(made.begin(), made.end(), [&](const auto& one) {
      return one.second == node.cores && same(one.first, *wattage);
    });
    const auto index = static_cast<std::size_t>(found - made.begin());
    if (found == made.end()) {
      if (index > std::numeric_limits<std::uint8_t>::max())
        throw std::invalid_argument("its hosts have more than 256 different wattages");
      made.emplace_back(*wattage, node.cores);
      power->kinds.push_back(node_power(*wattage, node.cores));
    }
    power->of_node.push_back(static_cast<std::uint8_t>(index));
  }
  if (made.empty())
    return nullptr;
  if (without != nullptr)
    throw std::invalid_argument(fmt::format("host '{}' has no property wattage_per_state, others have: either all or "
                                            "none; `--power none` leaves energy out",
                                            without->name));
  power->link_properties = !platform::links_with_wattage().empty();
  return power;
}

} // namespace umwelt::energy
