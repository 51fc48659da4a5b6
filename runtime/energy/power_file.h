// SPDX-License-Identifier: LGPL-2.1-or-later
// The file of `umwelt run --power FILE` (YAML; README.md describes it).
#pragma once

#include <span>
#include <string>

#include "platforms/platform.h"
#include "runtime/energy/power.h"

namespace umwelt::energy
{

// For the nodes of a platform. Throws UsageError with file, line and column: no such file, not YAML, unknown keys,
// values that are none, nodes that nothing is said of.
Power read_power(const std::string& path, std::span<const platform::Node> nodes);

} // namespace umwelt::energy
