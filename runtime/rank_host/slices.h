// SPDX-License-Identifier: LGPL-2.1-or-later
// Time slices: what happens when a thread of a rank goes on and on without any call.
//
// A timer interrupts it every few milliseconds. If it has made no call since the last interrupt, it either computes or
// looks at memory until somebody else changes it. The two are told apart by letting it go on one instruction at a time
// (spin_detector.h):
// - A loop that executes `pause` waits: that is what the instruction is for. It is replaced by a breakpoint in the
//   rank's own copy of the code, and from then on the loop is a loop of polls and recognised at once (waiting_loops.h).
//   It may count its rounds: by how much that changes its registers is noted, and a thread that comes there with these
//   changes alone has done nothing but look.
// - Code that comes back to the same instruction with the same registers, again and again, cannot go anywhere.
//   The first instruction of its loop becomes a breakpoint, too; if others than waiting threads come there too often,
//   it is taken away. While other threads of the rank run, only that of a loop of a few instructions none of which can
//   write (instructions.h).
//
// Such a thread is a thread that polls: it is blocked until something can have changed, and the time it spun is not
// charged. What it did between its last call and the first tick that found it there is taken for spinning, once for
// each loop: from then on it is known to the instruction when it got there. Everything else computes: it is cut after a
// quantum, what it computed becomes simulated time, and others run.
//
// A loop that changes nothing but memory, always with the same flags, is taken for one that spins, and one with `pause`
// may count its rounds. Neither is lost: it is let go on whenever something happens, and for a while when nothing else
// can.
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

#include <ucontext.h>

#include "runtime/base/time.h"
#include "runtime/rank_host/spin_detector.h"
#include "runtime/rank_host/time_stamps.h"
#include "runtime/rank_host/trap_cost.h"
#include "runtime/rank_host/waiting_loops.h"

namespace umwelt::rank_host
{

class RankHost;
struct Rank;
struct Thread;

class Slices
{
public:
  Slices(RankHost& rank_host, sim::SimTime quantum);
  ~Slices();
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  // The signal handlers; on the stack of whatever they interrupt, which may be the runtime itself.
  void on_tick(ucontext_t& context);
  // Another thread of the process is to run now: the signal of the ticks, sent by tgkill(2).
  void on_hurry(ucontext_t& context);
  // Trap flag or breakpoint. False: neither is ours.
  bool on_trap(const siginfo_t& information, ucontext_t& context);
  // The code of the rank is as it came from its files until the same with false: it is about to be copied by fork(2).
  // Ends by itself a tick later, unless the rank says that it is no_preempt.
  void original_code(const Rank& rank, bool original);
  // The rank's own reads of the time stamp counter tell simulated time from now on, also in what it opens later.
  void take_over_time_stamps(const Rank& rank);

  // By a debugger, which would take every trap for its own.
  [[nodiscard]] bool traced() const { return traced_; }

  // The thread is gone.
  void forget(const Thread& thread)
  {
    if (watched_ == &thread)
      watched_ = nullptr;
  }

  // A single step, ours or a stray one; otherwise an int3 (SI_KERNEL) or sent by somebody (kill(2)). Not only
  // TRAP_TRACE: loader/BUGS.md, "Somebody else's trap".
  static bool is_step(const siginfo_t& information);
  [[nodiscard]] static int signal_number();

private:
  // A dynamic linker says that its list of objects has changed.
  void on_notice(ucontext_t& context, std::uint64_t begin);
  // The running thread has met a breakpoint: it is not followed by steps any more. Returns it.
  Thread& let_go(ucontext_t& context);
  // What the runtime has done since `begin` the thread has not computed.
  void exclude(Thread& thread, std::uint64_t begin);
  void begin_watch(Thread& thread);
  // `is_long`: it has been in the same burst at the tick before, or has been found to spin.
  void begin_steps(Thread& thread, ucontext_t& context, bool is_long);
  void end_steps(ucontext_t& context);
  void step(ucontext_t& context);
  // Of the burst that is under way, what came before the steps goes on behind them.
  void hide_steps(Rank& rank);
  void park(Thread& thread, ucontext_t& context);
  void cut(Thread& thread, ucontext_t& context);
  [[nodiscard]] unsigned ticks_per_cut() const;

  RankHost& rank_host_;
  const int thread_;  // of this OS: the one that carries ranks
  const bool traced_; // a debugger would take every trap for its own: all threads count as computing
  timer_t timer_{};
  const unsigned ticks_per_quantum_;
  TrapCost trap_cost_;
  WaitingLoops loops_{rank_host_, trap_cost_};
  TimeStamps time_stamps_;
  bool forking_ = false; // some have been taken away for that, since the last tick

  bool stepping_ = false;
  bool long_ = false;            // as the steps began
  Thread* watched_ = nullptr;    // the one that steps, or did last; null: it has ended
  sim::SimTime steps_begin_ = 0; // CPU time of the OS thread
  std::uint64_t hidden_to_ = 0;  // ticks: then hide_steps() was called last, or the steps began
  std::uint64_t seen_ = 0;       // changes of the gate, then
  SpinDetector detector_;
};

} // namespace umwelt::rank_host
