// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/place_parameters.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"

namespace umwelt::kernels
{

PlaceParameters::PlaceParameters(std::span<const Constant> constants, std::optional<ParameterTable> table,
                                 RowChoice choice, Missing missing)
    : table_(std::move(table)), choice_(choice), missing_(missing)
{
  for (const Constant& constant : constants) {
    names_.push_back(constant.name);
    times_.push_back(constant.is_time ? 1 : 0);
    constants_.push_back(constant.value);
  }
  if (!table_)
    return;
  for (std::size_t i = 0; i < table_->names().size(); ++i) {
    const auto found = std::find(names_.begin(), names_.end(), table_->names()[i]);
    columns_.push_back(static_cast<std::size_t>(found - names_.begin()));
    if (found != names_.end()) {
      times_[columns_.back()] |= table_->times()[i]; // a constant of 0 may have no unit
      continue;
    }
    names_.push_back(table_->names()[i]);
    times_.push_back(table_->times()[i]);
    constants_.push_back(0);
    complete_ = false;
  }
}

std::span<const double> PlaceParameters::at(const Place& place, const RandomKey& key) const
{
  if (!table_)
    return constants_;
  const ParameterTable::Keys keys = table_->keys();
  const auto [found, added] =
      places_.try_emplace({place.node, keys.socket ? place.socket : 0, keys.core ? place.core : 0}, constants_);
  if (added && (!complete_ || table_->has(place))) {
    const std::vector<double> values = table_->choose(place, choice_, missing_, key);
    for (std::size_t i = 0; i < values.size(); ++i)
      found->second[columns_[i]] = values[i];
  }
  return found->second;
}

void PlaceParameters::check(std::uint32_t nodes, std::uint32_t sockets, std::uint32_t cores) const
{
  if (!table_)
    return;
  table_->check(choice_);
  const ParameterTable::Keys keys = table_->keys();
  const std::uint32_t parts = keys.core ? cores : keys.socket ? sockets : 1;
  for (Place place; place.node < nodes; ++place.node) {
    for (std::uint32_t part = 0; part < parts; ++part) {
      place.core = keys.core ? part : 0;
      place.socket = !keys.core ? part : static_cast<std::uint32_t>(std::uint64_t{part} * sockets / cores);
      if (known(place))
        continue;
      throw UsageError(table_->object(), fmt::format("values for each of the {} nodes", nodes),
                       fmt::format("none for node {}{}{}", place.node,
                                   keys.socket ? fmt::format(", socket {}", place.socket) : "",
                                   keys.core ? fmt::format(", core {}", place.core) : ""),
                       "Add them, or say 'missing: cycle' (repeat those there are) or 'missing: draw' (at random).");
    }
  }
}

} // namespace umwelt::kernels
