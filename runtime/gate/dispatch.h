// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime's side of the gate: where calls of ranks arrive.
#pragma once

#include <cstdint>

#include "preload/gate/gate.h"

namespace umwelt::gate
{

// Entered in the rank's world, on the rank's stack (umw_gate::cross).
void cross(umw_gate* gate, std::uint32_t operation, void* arguments);

} // namespace umwelt::gate
