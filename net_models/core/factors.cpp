// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/core/factors.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "platforms/link_factors.h"

namespace umwelt::net
{

using platform::least_bandwidth;
using platform::longest_latency;

sim::SimTime scaled_latency(std::string_view model, std::string_view key, sim::SimTime latency,
                            const NetworkFactors& factors)
{
  if (factors.latency == 1)
    return latency; // to the last picosecond
  const double seconds = sim::to_seconds(latency) * factors.latency;
  if (seconds > longest_latency)
    throw std::invalid_argument(fmt::format("--latency-factor {}: expected at most {} s as `{}` of model {}, got {} s. "
                                            "Take a smaller factor.",
                                            factors.latency, longest_latency, key, model, seconds));
  return sim::from_seconds(seconds);
}

double scaled_bandwidth(std::string_view model, std::string_view key, double bandwidth, const NetworkFactors& factors)
{
  const double scaled = bandwidth * factors.bandwidth;
  if (factors.bandwidth != 1 && (scaled < least_bandwidth || !std::isfinite(scaled)))
    throw std::invalid_argument(fmt::format("--bandwidth-factor {}: expected at least 1 B/s as `{}` of model {}, got "
                                            "{} B/s. Take a factor nearer to 1.",
                                            factors.bandwidth, key, model, scaled));
  return scaled;
}

void refuse_classes(std::string_view model, std::string_view instead, const NetworkFactors& factors)
{
  if (!factors.of_some_links.empty())
    throw std::invalid_argument(fmt::format("{}: expected a factor for the whole network, since model {} does not look "
                                            "at links, got one for some of them. {}",
                                            factors.of_some_links, model, instead));
}

} // namespace umwelt::net
