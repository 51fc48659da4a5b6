// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "runtime/base/time.h"

namespace umwelt::net
{

struct PiecewiseParameters {
  std::string latency_factors = "0:1";
  std::string bandwidth_factors = "0:1";
  sim::SimTime issue = 0;
  sim::SimTime take = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.text("latency_factors", latency_factors,
           "size:factor;size:factor...: multiplies the route's latency from that size on");
    v.text("bandwidth_factors", bandwidth_factors,
           "size:factor;...: multiplies the route's bandwidth from that size on");
    v.time("issue", issue, "CPU time to start a message");
    v.time("take", take, "CPU time to take an event");
  }
};

} // namespace umwelt::net
