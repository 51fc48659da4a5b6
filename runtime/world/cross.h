// SPDX-License-Identifier: LGPL-2.1-or-later
// Where calls of ranks arrive (umw_gate::cross), in the process that carries them.
#pragma once

#include <cstdint>

#include "preload/abi/gate.h"

namespace umwelt::world
{

// Entered in the rank's world, on the rank's stack.
extern "C" void umwelt_cross(umw_gate* gate, std::uint32_t operation, void* arguments);

} // namespace umwelt::world
