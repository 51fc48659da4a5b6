// SPDX-License-Identifier: LGPL-2.1-or-later
// Factors of a what-if study (platforms/WHAT_IF.md) on what a model takes from its own parameters rather than from the
// platform's links, which have been scaled already.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/time.h"

namespace umwelt::net
{

struct NetworkFactors {
  double latency = 1;
  double bandwidth = 1;
  std::string of_some_links; // the first option that is of a class of links, as the user wrote it; empty: none
};

// Throws std::invalid_argument if what comes out is beyond simulated time, or less than a byte per second.
sim::SimTime scaled_latency(std::string_view model, std::string_view key, sim::SimTime latency,
                            const NetworkFactors& factors);
double scaled_bandwidth(std::string_view model, std::string_view key, double bandwidth, const NetworkFactors& factors);

// Throws std::invalid_argument if a factor is for some links only: for models that look at none.
void refuse_classes(std::string_view model, std::string_view instead, const NetworkFactors& factors);

} // namespace umwelt::net
