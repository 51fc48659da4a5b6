// SPDX-License-Identifier: LGPL-2.1-or-later
// What determined the end of a run (job/critical_path.h). Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::observe
{

enum class PathKind : std::uint8_t {
  computing,  // the program's own bursts
  software,   // CPU time for commands to the NIC and for taking events from it
  nic,        // of messages: what one without payload takes in NICs and buses of the nodes,
  latency,    // on links,
  bandwidth,  // what their bytes take alone,
  contention, // and what others added
  other,      // sleeps, timers, operations within the node
};
inline constexpr std::size_t path_kinds = 7;
inline constexpr std::array<const char*, path_kinds> path_kind_names = {"computing", "software",   "nic",  "latency",
                                                                        "bandwidth", "contention", "other"};

struct CriticalPathRecord {
  sim::SimTime length = 0; // ps, to the end of the rank that ends last
  std::array<sim::SimTime, path_kinds> kinds{};
  sim::SimTime known_since = 0;    // what was before is not known: the way back was too long
  std::vector<sim::SimTime> ranks; // by rank: time of the path in it, without messages
  struct Segment {
    std::size_t rank = 0; // to which the message goes, of messages
    sim::SimTime begin = 0;
    sim::SimTime end = 0;
    bool message = false;
    std::size_t from = 0; // of messages
  };
  std::vector<Segment> segments; // in time; short ones may be left out
  std::size_t left_out = 0;
  struct Answer {
    std::string what;           // took no time
    sim::SimTime simulated = 0; // ps, the run then
  };
  std::vector<Answer> if_free;
  sim::SimTime as_it_is = 0; // ps, by the same reckoning, with everything as it is
};

} // namespace umwelt::observe
