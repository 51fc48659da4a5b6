// SPDX-License-Identifier: LGPL-2.1-or-later
// "What if the network were faster": factors on latency and bandwidth of a platform's links. WHAT_IF.md has the
// options.
#pragma once

#include <string>
#include <vector>

#include "platforms/platform.h"

namespace umwelt::platform
{

// What may become of a link.
inline constexpr double longest_latency = 1e5; // seconds; simulated time ends at 1e7
inline constexpr double least_bandwidth = 1;   // byte per second

struct LinkFactor {
  std::string links; // a word of link_classes.h; empty: all
  double factor = 1;
};

// Of those that fit a link the last counts.
struct LinkFactors {
  std::vector<LinkFactor> latency;
  std::vector<LinkFactor> bandwidth;
};

// Before anybody asks for a route. Throws std::invalid_argument for words that fit no link, and for links that become
// too slow to count with.
void scale_links(const Platform& platform, const LinkFactors& factors);

} // namespace umwelt::platform
