// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of a network interface (Portals 4.3, 3.6).
#pragma once

#include "preload/abi/portals4.h"

namespace umwelt::portals
{

// What an interface gets if the program asks for nothing in particular.
[[nodiscard]] ptl_ni_limits_t default_limits();

// What it gets if it asks: each value as asked for, but not above what the engine can do; a negative number (programs
// pass LONG_MAX in an int) means as much as possible.
[[nodiscard]] ptl_ni_limits_t negotiate(const ptl_ni_limits_t& desired);

} // namespace umwelt::portals
