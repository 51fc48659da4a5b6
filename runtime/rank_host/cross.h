// SPDX-License-Identifier: LGPL-2.1-or-later
// Where calls of ranks arrive (umw_gate::cross), in the process that carries them.
#pragma once

#include <cstdint>

#include "preload/abi/gate.h"

namespace umwelt::rank_host
{

// Entered on the rank's side, on the rank's stack.
extern "C" void umwelt_cross(umw_gate* gate, std::uint32_t operation, void* arguments);

} // namespace umwelt::rank_host
