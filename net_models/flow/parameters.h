// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "net_models/core/time.h"

namespace umwelt::net
{

struct FlowParameters {
  sim::SimTime issue = 0;
  sim::SimTime overhead = 500 * sim::nanosecond; // NIC and PCI of a BXI Put without the wire, rounded
  double loopback_bandwidth = 12.5e9;

  template <class Visitor> void visit(Visitor& v)
  {
    v.time("issue", issue, "CPU time to start a message");
    v.time("overhead", overhead, "from start to the first bit on the wire");
    v.bandwidth("loopback_bandwidth", loopback_bandwidth, "between processes of a node; no contention");
  }
};

} // namespace umwelt::net
