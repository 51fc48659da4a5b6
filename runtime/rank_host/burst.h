// SPDX-License-Identifier: LGPL-2.1-or-later
// What a burst counts for, and what that rests on.
#pragma once

#include <cstdint>

namespace umwelt::rank_host
{

// Of short bursts that are known by their path (path_times.h), on the simulated node.
struct Pace {
  std::int64_t instruction = 0; // ps; 0: they are charged as measured
  double copied_byte = 0;       // ps, of string instructions
};

struct Burst {
  std::int64_t time = 0;     // ps; 0 if bursts are not measured
  std::int64_t learned = 0;  // of that: what its path takes (path_times.h); the rest was measured
  std::int64_t doubt = 0;    // ps: by how much bursts of that path differ
  std::int64_t left_out = 0; // ps, not part of `time`: taken for the host's; below 0: what was before is added now
  bool paused = false;       // nothing of it is the program's

  Burst& operator+=(const Burst& other)
  {
    time += other.time;
    learned += other.learned;
    doubt += other.doubt;
    left_out += other.left_out;
    return *this;
  }
};

} // namespace umwelt::rank_host
