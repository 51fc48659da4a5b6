// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/piecewise/model.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "platforms/platform.h"
#include "runtime/base/parameters.h"

namespace umwelt::net
{

PiecewiseModel::Factors::Factors(std::string_view key, std::string_view list)
{
  const auto bad = [&](std::string_view item) {
    return std::invalid_argument(
        fmt::format("parameter {} of model piecewise: expected size:factor with a factor above "
                    "0, separated by ';' (65536:0.9;1MiB:0.8), got '{}'. Correct the list.",
                    key, item));
  };
  while (!list.empty()) {
    const auto semicolon = list.find(';');
    const std::string_view item = list.substr(0, semicolon);
    list = semicolon == std::string_view::npos ? std::string_view{} : list.substr(semicolon + 1);
    const auto colon = item.find(':');
    Step step;
    if (colon == std::string_view::npos || !parse_size(item.substr(0, colon), step.from) ||
        !parse_number(item.substr(colon + 1), step.factor) || step.factor == 0)
      throw bad(item);
    steps_.push_back(step);
  }
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.from < b.from; });
}

double PiecewiseModel::Factors::at(std::uint64_t size) const
{
  const auto above = std::upper_bound(steps_.begin(), steps_.end(), size,
                                      [](std::uint64_t s, const Step& step) { return s < step.from; });
  return above == steps_.begin() ? 1.0 : std::prev(above)->factor;
}

PiecewiseModel::PiecewiseModel(const ModelContext& context, const PiecewiseParameters& parameters)
    : PlannedModel(context), parameters_(parameters), latency_("latency_factors", parameters.latency_factors),
      bandwidth_("bandwidth_factors", parameters.bandwidth_factors)
{
}

SimTime PiecewiseModel::issue_cost(const Transfer& transfer) const
{
  return transfer.from_host ? parameters_.issue : 0;
}

SimTime PiecewiseModel::take_cost(WriteKind) const
{
  return parameters_.take;
}

SimTime PiecewiseModel::write_delay(WriteKind) const
{
  return 0;
}

PlannedModel::Plan PiecewiseModel::plan(const Transfer& transfer)
{
  const platform::Route& route = route_of(transfer);
  const SimTime latency = sim::from_seconds(sim::to_seconds(route.latency) * latency_.at(transfer.payload));
  const SimTime bytes = sim::transfer_time(transfer.payload, route.bandwidth * bandwidth_.at(transfer.payload));
  const SimTime now = timeline().now();
  return {now + bytes, now + latency, now + latency + bytes};
}

} // namespace umwelt::net
