// SPDX-License-Identifier: LGPL-2.1-or-later
// A simulated thread of a rank: its actor, and the simulated cores it may use.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/timeline.h"
#include "runtime/engine/core.h"
#include "runtime/engine/scheduler.h"
#include "runtime/job/idleness.h"
#include "runtime/job/pending.h"
#include "runtime/job/recurrence.h"
#include "runtime/observe/trace_record.h"

namespace umwelt::rank_host
{
struct Thread;
}

namespace umwelt::job
{

class Channel;
class Rank;
using sim::SimTime;

// What is known of a thread that looks again and again (job/polling.h).
struct PollState {
  std::uint64_t empty = 0;    // empty polls in a row
  SimTime since = 0;          // when the first of them was
  std::uint64_t looks = 0;    // clock reads up to the last of them
  bool computed = false;      // a burst worth counting lies between the last two
  bool parked = false;        // blocked until something can have changed
  bool idle = false;          // it has done nothing since it last looked, so nobody need look on its account
  bool at_memory = false;     // ... and looks at memory
  bool calls = false;         // ... in a loop with calls
  bool forced_wakeup = false; // ... and woken because nothing else was left to happen
  bool goes_round = false;    // ... and it has made no call that does something since
  std::uint64_t era = 0;      // of Polling, in which it
  std::uint64_t vain = 0;     // ... has looked so often in vain when let go
  Recurrence recurrence;      // ... and stood there
  std::uint64_t changes = 0;  // of the gate, when it last went on
  bool untold = false;        // it looks at memory, and others do not know yet what it may have written before
  bool told = false;          // what it writes to shared memory in its present burst others know of already
  bool acted = false;         // it has made a call that does something since it last made one that tells nothing
  SimTime time = -1;          // of its last call
  unsigned at_once = 0;       // calls at that time
};

struct Thread {
  Thread(Rank& of, unsigned n);
  ~Thread();

  // Computes for `work` on one of its cores. Returns when that began: now, or with the burst that is under way in a
  // worker process.
  SimTime spend(SimTime work);
  // The same, but it may go on at once, up to `longest_lead` ahead of the timeline: what it does until it catches up
  // happens at now(). Only where nobody can want its core meanwhile, and nobody sees its memory.
  SimTime spend_ahead(SimTime work);
  // Returns when the timeline has come to now().
  void catch_up();
  // Its own: the timeline's, or later.
  [[nodiscard]] SimTime now() const;
  // Moves to a core that fewer compute on, as the kernel's load balancing does, and returns it.
  engine::Core& choose_core();

  Rank& rank;
  const unsigned number; // 0: the rank's main thread
  std::int32_t tid = 0;  // of the simulated machine
  engine::Actor* actor = nullptr;
  rank_host::Thread* here = nullptr; // where it is carried, if by this process
  std::unique_ptr<Channel> channel;  // to the worker process that carries it otherwise
  std::uint64_t id = 0;              // its pthread_t; 0: the main thread
  std::uint32_t kernel_id = 0;       // what the C library takes for its number: owner of its locks
  engine::CoreBinding place;         // the core it is on, and those it may use
  SimTime ahead_until = 0;           // now(), if that is later than the timeline's
  const char* last_call = "start";
  observe::RankState doing = observe::RankState::waiting; // the time that it spends, if it does
  SimTime busy_since = sim::never; // of its core, for the energy meter (job/energy.h); never: it is not
  bool polls = false;              // and it waits by looking again and again
  PollState poll;
  bool more_events = true;            // the queue it last took an event from may have another
  Pending pending;                    // signals for this thread in particular
  SignalSet blocked = 0;              // its signal mask
  std::uint64_t descriptors_seen = 0; // umw_gate::descriptor_news when it last looked at sockets
  SignalSet waits_for = 0;            // what it waits for in sigwait
  bool at_descriptors = false;        // it waits for one of its descriptors
  TimeOuts time_outs;
  bool cancelled = false; // somebody wants it to end, which it has not been told yet
  bool sleeps = false;    // until a time, and would not notice

  // Lets a parked thread look again: what another has written reaches its core.
  struct LookAgain final : sim::Event {
    explicit LookAgain(Thread& t) : thread(t) {}
    void fire() override;
    Thread& thread;
    SimTime next = sim::never; // once more at that time
    bool put_off = false;
    bool written = false; // what it looks for may be there, rather than somebody just having got on
  } look_again;
  void look_again_at(SimTime time, bool written);

  // When its wait began; meaningful while it waits.
  [[nodiscard]] SimTime waits_since() const { return poll.parked ? poll.since : actor->blocked_since(); }
  [[nodiscard]] bool ended() const { return actor->state() == engine::Actor::State::ended; }
};

} // namespace umwelt::job
