// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/core/framed_fabric.h"

#include <algorithm>

namespace umwelt::net
{

using sim::SimTime;

SimTime FramedFabric::injection(const Passage& passage)
{
  return sim::transfer_time(passage.bytes, platform_.link(passage.route->links.front()).bandwidth * framing_.coding);
}

bool FramedFabric::control(const platform::Route& route, SimTime when, SimTime& arrival)
{
  const auto switches = static_cast<SimTime>(std::max<std::size_t>(route.links.size(), 1) - 1);
  arrival = when + route.latency + switches * switch_time_ +
            sim::transfer_time(framing_.header, route.bandwidth * framing_.coding);
  return faults_ == nullptr || std::all_of(route.links.begin(), route.links.end(), [&](platform::LinkIndex link) {
           return faults_->cross(link, when) == LinkFaults::Outcome::passes;
         });
}

} // namespace umwelt::net
