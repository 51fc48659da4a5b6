// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs on a machine that is not quite the described one: --latency-factor, --bandwidth-factor, --compute-factor,
// --fault (platforms/WHAT_IF.md).
#pragma once

#include <memory>
#include <string_view>

#include "platforms/link_factors.h"
#include "platforms/link_failures.h"
#include "platforms/platform.h"
#include "runtime/plan/options.h"
#include "runtime/plan/placement.h"

namespace umwelt::plan
{

// F or CLASS=F. Throws UsageError.
platform::LinkFactor parse_link_factor(std::string_view option, std::string_view text);

// F of --compute-factor. Throws UsageError.
double parse_compute_factor(std::string_view option, std::string_view text);

// link=GLOB:at=TIME:for=TIME; without `for` it never ends. Throws UsageError.
platform::LinkFailure parse_fault(std::string_view option, std::string_view text);

// Makes the platform the one that is asked for; before anybody looks at its routes. Throws std::invalid_argument.
void apply_factors(const RunOptions& options, platform::Platform& platform);

// Of the links between the nodes that ranks are placed on; null: none ever fails. Throws std::invalid_argument.
std::unique_ptr<platform::LinkFailures> make_failures(const RunOptions& options, const platform::Platform& platform,
                                                      const Placement& placement);

} // namespace umwelt::plan
