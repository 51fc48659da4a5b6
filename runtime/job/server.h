// SPDX-License-Identifier: LGPL-2.1-or-later
// Who serves the requests of ranks. runtime/gate does; it is handed to the job, so that the job does not know the gate.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/rank_host/burst.h"

namespace umwelt::job
{

class Rank;

struct Server {
  // Serves a request of the running thread; `burst`: the one that ended with it. True: threads that are ready at the
  // same time come first. Rank::leave() is to follow.
  bool (*serve)(Rank& rank, std::uint32_t operation, void* arguments, const rank_host::Burst& burst);
  // What the main thread of a rank does in place of loading its program, which ends with 0 when it returns. In a worker
  // process: what that does in place of carrying its ranks, `rank` being the first of them; does not return. Tests have
  // one.
  std::function<void(Rank& rank)> program = {};
};

} // namespace umwelt::job
