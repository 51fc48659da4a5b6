// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "net_models/core/factors.h"
#include "runtime/base/time.h"

namespace umwelt::net
{

// A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman: "LogGP: Incorporating Long Messages into the LogP Model" (SPAA
// 1995). The defaults are L and G of the `bxi` model's 8 B and 1 MiB Puts and its host costs, rounded.
struct LogGPParameters {
  sim::SimTime L = 800 * sim::nanosecond;
  sim::SimTime o = 175 * sim::nanosecond;
  sim::SimTime g = 180 * sim::nanosecond;
  double G = 11.05e9;
  bool route = false;

  template <class Visitor> void visit(Visitor& v)
  {
    v.time("L", L, "latency from NIC to NIC");
    v.time("o", o, "CPU time to send or to take a message");
    v.time("g", g, "least time between two messages through one NIC, per direction");
    v.bandwidth("G", G, "1/G of the paper: bandwidth of a long message");
    v.flag("route", route, "add the platform route's latency to L and take its bandwidth where it is below G");
  }

  // `o` and `g` are of hosts and NICs. With `route`, links have factors of their own.
  void scale(const NetworkFactors& factors)
  {
    if (!route)
      refuse_classes("loggp", "Leave the links out of it, or add --nic route=on.", factors);
    L = scaled_latency("loggp", "L", L, factors);
    G = scaled_bandwidth("loggp", "G", G, factors);
  }
};

} // namespace umwelt::net
