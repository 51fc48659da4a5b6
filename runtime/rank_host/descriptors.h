// SPDX-License-Identifier: LGPL-2.1-or-later
// Descriptors of a process that carries ranks: whose each is.
#pragma once

#include <cstdint>

#include "preload/abi/gate.h"

namespace umwelt::rank_host
{

// By number (umw_gate::descriptor_owners).
[[nodiscard]] std::uint32_t* descriptor_owners();
// umw_gate::openers of all ranks of the process.
[[nodiscard]] std::uint32_t* openers();
// Calls of the rank that have opened something do not return.
void end_opening(umw_gate& gate);
// Of a rank that ends: pipes and FIFOs of others end, what it has written to the runtime may be the last. The places of
// its 0, 1 and 2 are the runtime's to close, and so is its end of PMI_FD.
void close_descriptors(umw_gate& gate);

} // namespace umwelt::rank_host
