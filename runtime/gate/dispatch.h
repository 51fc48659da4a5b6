// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime's side of the gate: calls of ranks are served.
#pragma once

#include <cstdint>

#include "preload/gate/gate.h"

namespace umwelt::job
{
class Rank;
}

namespace umwelt::gate
{

// Serves a request of the running thread; `measured`: CPU time (ps) of the burst that ended with it. True: threads that are ready
// at the same date come first. Rank::leave() is to follow.
bool serve(job::Rank& rank, std::uint32_t operation, void* arguments, std::int64_t measured);

} // namespace umwelt::gate
