// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/link_factors.h"

#include <cmath>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <simgrid/s4u/Link.hpp>

#include "platforms/link_classes.h"

namespace umwelt::platform
{

namespace
{

// The factor of each link that has one.
std::unordered_map<simgrid::s4u::Link*, double> factors_of_links(const Platform& platform, std::string_view option,
                                                                 const std::vector<LinkFactor>& factors)
{
  std::unordered_map<simgrid::s4u::Link*, double> by_link;
  for (const LinkFactor& one : factors) {
    if (one.links.empty() && one.factor == 1 && by_link.empty()) // nothing to do, on however many links
      continue;
    const std::string object = fmt::format("{} {}{}{}", option, one.links, one.links.empty() ? "" : "=", one.factor);
    for (simgrid::s4u::Link* link : find_links(platform, one.links.empty() ? "*" : one.links, object))
      by_link[link] = one.factor;
  }
  return by_link;
}

[[noreturn]] void refuse(std::string_view option, const simgrid::s4u::Link& link, double factor,
                         const std::string& becomes)
{
  throw std::invalid_argument(
      fmt::format("{}: expected a factor with which link '{}' can still be simulated, got {}, which makes {}. Take one "
                  "nearer to 1.",
                  option, link.get_name(), factor, becomes));
}

} // namespace

void scale_links(const Platform& platform, const LinkFactors& factors)
{
  for (const auto& [link, factor] : factors_of_links(platform, "--latency-factor", factors.latency)) {
    const double latency = link->get_latency() * factor;
    if (!(latency <= longest_latency))
      refuse("--latency-factor", *link, factor, fmt::format("its latency {} s", latency));
    if (factor != 1)
      link->set_latency(latency);
  }
  for (const auto& [link, factor] : factors_of_links(platform, "--bandwidth-factor", factors.bandwidth)) {
    const double bandwidth = link->get_bandwidth() * factor;
    if (!std::isfinite(bandwidth) || bandwidth < least_bandwidth)
      refuse("--bandwidth-factor", *link, factor, fmt::format("its bandwidth {} B/s", bandwidth));
    if (factor != 1)
      link->set_bandwidth(bandwidth);
  }
}

} // namespace umwelt::platform
