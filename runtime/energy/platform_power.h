// SPDX-License-Identifier: LGPL-2.1-or-later
// What a platform says itself of the power of its nodes and links, by properties of SimGrid's energy plug-ins
// (platforms/wattage.h).
#pragma once

#include <memory>

#include "platforms/platform.h"
#include "runtime/energy/power.h"

namespace umwelt::energy
{

// Null: no node has such a property. Throws std::invalid_argument: a property that is not as it has to be, or nodes
// with and without it.
std::unique_ptr<Power> platform_power(const platform::Platform& platform);

} // namespace umwelt::energy
