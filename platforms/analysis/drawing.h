// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of networks.
#pragma once

#include <string>

#include "platforms/platform.h"

namespace umwelt::platform
{

// As SVG: every node, switch and cable up to some hundred of them, their names where the pointer rests (those of few
// switches beside them, too). Of larger networks the parts (levels, groups, slices) with how many switches, nodes and
// cables they have. Throws std::invalid_argument if the platform comes from a file.
std::string drawing(const Platform& platform);

} // namespace umwelt::platform
