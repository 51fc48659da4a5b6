// SPDX-License-Identifier: LGPL-2.1-or-later
// What a model says of two nodes alone on the machine, as three numbers: for whoever wants to reckon with it.
#pragma once

#include <string_view>

#include "net_models/core/model.h"
#include "runtime/base/parameters.h"

namespace umwelt::net
{

struct PairTime {
  SimTime latency = 0; // from the program's command to the other's event in its hands, of a put without payload
  // Bytes a second by which that grows with the payload, from 1 MiB to 2 MiB; infinite: it does not.
  double bandwidth = 0;
  SimTime gap = 0; // between the events of puts without payload that were commanded at once
};

// Of another model of that name on the platform, from node to node; links never fail for it. Where bytes are moved
// outside of the timeline (Model::has_external) the bandwidth is that of the route.
PairTime pair_time(std::string_view model, const platform::Platform& platform, const NetworkFactors& factors,
                   const Parameters& parameters, NodeIndex from, NodeIndex to);

} // namespace umwelt::net
