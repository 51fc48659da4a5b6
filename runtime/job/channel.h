// SPDX-License-Identifier: LGPL-2.1-or-later
// A simulated thread that lives in a worker process, as the runtime has it. Its actor stands in for it: lets it go on,
// waits for its next request, serves it.
//
// Where bursts are not measured they take a time that is known, mostly none, so no time may pass while one is under
// way: the actor keeps its turn until the request is there, and what it does in which order is what it would have done
// in one process. Ranks that become ready at the same time compute at the same time nevertheless, each while those
// before it have their turn.
//
// A measured burst ends when its CPU time says so, and is under way until then: time goes on meanwhile, as far as the
// CPU time that it has used so far allows. The gate of a rank speaks of one thread at a time, so its other threads go
// on, at the time at which they may, when the burst that is under way has been taken note of.
#pragma once

#include <cstdint>

#include "runtime/engine/core.h"
#include "runtime/worker/board.h"

namespace umwelt::job
{

struct Thread;
using sim::SimTime;

// Of the actor that stands in for a thread in a worker process; bytes.
inline constexpr std::size_t stand_in_stack = 256UL << 10;

class Channel
{
public:
  Channel(Thread& thread, unsigned worker, unsigned slot);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // The life of the thread's actor.
  [[noreturn]] void live();
  // In the middle of a request: the rank acts on the signals that are due (Rank::act_on_signals).
  bool deliver_pending();

  // What the gate says of the burst that has ended has been taken note of: another thread of the rank may go on.
  void release_gate();
  // Its bursts are under way while time goes on: measured ones are, and loading takes no time.
  [[nodiscard]] bool overlaps() const;
  // A measured burst that is not accounted for yet.
  [[nodiscard]] bool computing() const { return computing_; }
  // When it began, if there is one.
  [[nodiscard]] SimTime began() const { return began_; }
  // It counts for `work`: returns when that has gone by since it began, and says when that was.
  SimTime finish_burst(SimTime work);
  // It counts for nothing. Time that has gone by since it began.
  SimTime drop_burst();
  // No request of the thread can come before. Looks at the worker process's CPU clock if what is known is before
  // `enough`.
  SimTime earliest(SimTime enough);

  // The thread has something to say.
  void arrive();
  // The thread has ended where it was, or is not waited for any longer.
  void close();
  [[nodiscard]] bool closed() const { return closed_; }

  [[nodiscard]] unsigned worker() const { return worker_; }
  [[nodiscard]] unsigned slot() const { return slot_number_; }
  // For the reply to umw_thread_create: the slot of the new thread.
  void tell_slot(unsigned slot) { slot_.result = static_cast<std::int32_t>(slot); }

private:
  bool converse();
  void go_on(worker::Slot::Turn how);
  void take_gate();
  void await();
  void block_absent();

  Thread& thread_;
  const unsigned worker_;
  const unsigned slot_number_;
  worker::Slot& slot_;
  bool arrived_ = true;
  bool away_ = false;         // its actor is blocked until it arrives
  bool holds_worker_ = false; // counted in Job::not_switching
  bool computing_ = false;
  bool closed_ = false;
  engine::Core::Burst burst_;
  SimTime began_ = 0;
  SimTime earliest_ = 0;
};

} // namespace umwelt::job
