// SPDX-License-Identifier: LGPL-2.1-or-later
// A simulated thread of a rank: its actor, the thread control block it lives on, and the simulated cores it may use.
#pragma once

#include <cstdint>
#include <vector>

#include <ucontext.h>

#include "loader/donor.h"
#include "net_models/core/timeline.h"
#include "runtime/engine/scheduler.h"

namespace umwelt::job
{

class Rank;
using sim::SimTime;

// What is known of a thread that looks again and again (job/polling.h).
struct PollState {
  std::uint64_t empty = 0; // empty polls in a row
  SimTime since = 0;       // when the first of them was
  std::uint64_t looks = 0; // clock reads up to the last of them
  bool computed = false;   // a burst worth counting lies between the last two
  bool parked = false;     // blocked until something can have changed
  bool idle = false;       // it has done nothing since it last looked, so nobody need look on its account
  bool trapped = false;    // it was last left by a trap, not by a call
  bool at_memory = false;  // ... in a loop without calls
  bool let_go = false;     // ... and woken because nothing else was left to happen
};

struct Thread {
  Thread(Rank& of, unsigned n) : rank(of), number(n), look_again(*this) {}

  // Computes for `work` on one of its cores.
  void spend(SimTime work);

  Rank& rank;
  const unsigned number; // 0: the rank's main thread
  std::int32_t tid = 0;  // of the simulated world
  loader::Donor donor;
  engine::Actor* actor = nullptr;
  std::vector<unsigned> allowed; // cores of the node, ascending
  unsigned core = 0;             // the one it is on
  const char* last_call = "start";
  PollState poll;
  gregset_t at_pause{}; // registers when it last came to the `pause` of a loop (job/slices.h)

  // Lets a parked thread look again: what another has written reaches its core.
  struct LookAgain final : sim::Event {
    explicit LookAgain(Thread& t) : thread(t) {}
    void fire() override;
    Thread& thread;
  } look_again;

  [[nodiscard]] bool ended() const { return actor->state() == engine::Actor::State::ended; }
};

} // namespace umwelt::job
