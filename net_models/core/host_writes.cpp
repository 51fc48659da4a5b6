// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/core/host_writes.h"

#include <algorithm>

namespace umwelt::net
{

void HostWrites::post(sim::Timeline& timeline, SimTime when, HostWrite& write)
{
  timeline_ = &timeline;
  last_ = std::max({last_, when, timeline.now()});
  posted_.push({last_, &write});
  if (!pending())
    timeline.schedule(*this, posted_.front().when);
}

void HostWrites::fire()
{
  HostWrite& write = *posted_.pop().write;
  if (!posted_.empty())
    timeline_->schedule(*this, posted_.front().when);
  write.visible();
}

} // namespace umwelt::net
