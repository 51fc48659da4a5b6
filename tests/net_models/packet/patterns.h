// SPDX-License-Identifier: LGPL-2.1-or-later
// Who sends to whom in synthetic traffic (W. Dally, B. Towles, 2004).
#pragma once

#include "tests/net_models/packet/traffic.h"

namespace umwelt::net::patterns
{

// To all others alike.
inline Load::Pattern uniform(platform::NodeIndex nodes)
{
  return [nodes](platform::NodeIndex from, Load::Random& random) {
    return static_cast<platform::NodeIndex>((from + 1 + random() % (nodes - 1)) % nodes);
  };
}

// Along a ring, by as much less than half as there is (of k nodes, k/2 - 1 for even k).
inline Load::Pattern tornado(platform::NodeIndex ring)
{
  return
      [ring](platform::NodeIndex from, Load::Random&) { return from / ring * ring + (from + (ring - 1) / 2) % ring; };
}

inline Load::Pattern shift(platform::NodeIndex nodes, platform::NodeIndex by)
{
  return [nodes, by](platform::NodeIndex from, Load::Random&) { return (from + by) % nodes; };
}

// To node 0, which sends nothing.
inline Load::Pattern hot_spot()
{
  return [](platform::NodeIndex, Load::Random&) { return 0; };
}

// To a random node of the next group (J. Kim et al., 2008).
inline Load::Pattern next_group(platform::NodeIndex nodes, platform::NodeIndex group)
{
  return [nodes, group](platform::NodeIndex from, Load::Random& random) {
    return static_cast<platform::NodeIndex>(((from / group + 1) * group + random() % group) % nodes);
  };
}

} // namespace umwelt::net::patterns
