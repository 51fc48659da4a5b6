// SPDX-License-Identifier: LGPL-2.1-or-later
// A run that goes on, as somebody sees it who looks (--serve).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::observe
{

struct RankNow {
  // loading, computing, communicating (CPU time for commands and events of the NIC), waiting, sleeping, ended
  std::string state;
  std::string call;       // what it is in: a call of MPI if these are followed, else one of the runtime; may be empty
  sim::SimTime since = 0; // of that state; simulated
};

struct Now {
  std::string state = "running"; // or: held (a --break), ended
  std::string note;              // where it is held, or how it has ended
  int exit_code = 0;             // of what has ended
  double wall_seconds = 0;
  sim::SimTime simulated = 0;
  std::uint64_t events = 0;
  std::vector<RankNow> ranks;
};

// One JSON object: `now`, with ranks as columns, and `report`, as report_json() writes it.
std::string now_json(const Now& now, const std::string& report);

} // namespace umwelt::observe
