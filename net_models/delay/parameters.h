// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "net_models/core/factors.h"
#include "runtime/base/time.h"

namespace umwelt::net
{

// The defaults are round figures for a current HPC network, not a fit.
struct DelayParameters {
  sim::SimTime latency = 1 * sim::microsecond;
  double bandwidth = 12.5e9;
  sim::SimTime issue = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.time("latency", latency, "from start to the header at the target, any size");
    v.bandwidth("bandwidth", bandwidth, "of one message; messages do not disturb each other");
    v.time("issue", issue, "CPU time to start a message");
  }

  void scale(const NetworkFactors& factors)
  {
    refuse_classes("delay", "Leave the links out of it, or take another model.", factors);
    latency = scaled_latency("delay", "latency", latency, factors);
    bandwidth = scaled_bandwidth("delay", "bandwidth", bandwidth, factors);
  }
};

} // namespace umwelt::net
