// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes on their way into the memory of one host. PCI keeps posted writes in order, so they become visible in the
// order in which they were posted, whatever their times say.
#pragma once

#include "net_models/core/model.h"
#include "runtime/base/ring.h"
#include "runtime/base/timeline.h"

namespace umwelt::net
{

class HostWrites final : public sim::Event
{
public:
  // Makes `write` visible at `when`, or with the write posted before it if that is later.
  void post(sim::Timeline& timeline, SimTime when, HostWrite& write);

  void fire() override;

private:
  struct Posted {
    SimTime when = 0;
    HostWrite* write = nullptr;
  };
  sim::Timeline* timeline_ = nullptr;
  sim::Ring<Posted> posted_;
  SimTime last_ = 0;
};

} // namespace umwelt::net
