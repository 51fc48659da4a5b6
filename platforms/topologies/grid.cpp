// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/grid.h"

#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace umwelt::platform
{

GridTopology::GridTopology(const Graph& plane, Shape sizes, std::uint32_t hosts, Choice choice)
    : DirectTopology(plane, hosts, choice), sizes_(std::move(sizes))
{
  std::exclusive_scan(sizes_.begin(), sizes_.end(), std::back_inserter(strides_), 1U, std::multiplies<>());
}

std::uint32_t GridTopology::switches_of(const Shape& sizes)
{
  return std::accumulate(sizes.begin(), sizes.end(), 1U, std::multiplies<>());
}

Shape GridTopology::coordinates(SwitchIndex index) const
{
  Shape at;
  for (const std::uint32_t size : sizes_) {
    at.push_back(index % size);
    index /= size;
  }
  return at;
}

std::string GridTopology::name_in_plane(SwitchIndex index) const
{
  return fmt::format("switch{}", fmt::join(coordinates(index), "."));
}

std::string GridTopology::part_of_plane(SwitchIndex index) const
{
  return fmt::format("{} {}", sizes_.size() == 1 ? "switch" : "slice", coordinates(index).back());
}

} // namespace umwelt::platform
