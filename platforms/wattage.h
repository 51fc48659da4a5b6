// SPDX-License-Identifier: LGPL-2.1-or-later
// Power of nodes and links as SimGrid's energy plug-ins read it from properties of a platform ("Host energy" and "Link
// energy" of its documentation):
//   wattage_per_state  of a host: "IDLE:EPSILON:ALL" or "IDLE:ALL" in watts for each of its pstates, separated by
//   commas:
//                      nothing runs; as little as can be runs (without it: as idle); all cores compute
//   wattage_off        of a host that is off; 0 W without it
//   wattage_range      of a link: "IDLE:BUSY" in watts, nothing passes, all of its bandwidth is used
// Their former names begin with watt_ in place of wattage_.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "platforms/platform.h"

namespace umwelt::platform
{

struct NodeWattage {
  struct State {
    double speed = 0; // of a core, flop/s
    double idle = 0;  // watts, of the whole node
    double epsilon = 0;
    double all = 0;
  };
  std::vector<State> states; // pstates, in their order
  std::size_t first = 0;     // the one it begins in
  double off = 0;
};

struct LinkWattage {
  double idle = 0; // watts
  double busy = 0;
};

// Nothing: it has no such property. Throw std::invalid_argument (object, expected, got).
std::optional<NodeWattage> wattage_of(const Node& node);
std::optional<LinkWattage> wattage_of(const Link& link);
// Names of the links that have one, whether routes lead over them or not.
std::vector<std::string> links_with_wattage();

} // namespace umwelt::platform
