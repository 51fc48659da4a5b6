// SPDX-License-Identifier: LGPL-2.1-or-later
// For as long as it lives, SimGrid sends messages over the links of a route instead of those it would look up itself.
// (It looks when a message begins. Platforms from files have no other routes.)
#pragma once

#include "platforms/network.h"
#include "platforms/platform.h"

namespace umwelt::platform
{

class Detour
{
public:
  Detour(const Platform& platform, const Route& route) : network_(platform.network())
  {
    if (network_ != nullptr)
      for (const LinkIndex link : route.links)
        network_->detour->push_back(platform.link(link).link);
  }
  ~Detour()
  {
    if (network_ != nullptr)
      network_->detour->clear();
  }
  Detour(const Detour&) = delete;
  Detour& operator=(const Detour&) = delete;

private:
  const Network* network_;
};

} // namespace umwelt::platform
