// SPDX-License-Identifier: LGPL-2.1-or-later
// Time slices: what happens when a thread of a rank goes on and on without any call.
//
// A timer interrupts it every few milliseconds. If it has made no call since the last interrupt, it either computes or
// looks at memory until somebody else changes it. The two are told apart by letting it go on one instruction at a time
// (the trap flag):
//  - a loop that executes `pause` waits: that is what the instruction is for. It is replaced by a breakpoint in the
//  rank's own
//    copy of the code, and from then on the loop is a loop of polls and recognised at once. It may count its rounds: by
//    how much that changes its registers is noted, and a thread that comes there with these changes alone has done
//    nothing but look;
//  - code that comes back to the same instruction with the same registers, again and again, cannot go anywhere by
//  itself. The first
//    instruction of its loop becomes a breakpoint, too; if others than waiting threads come there too often, it is
//    taken away. While other threads of the rank run, only that of a loop of a few instructions none of which can write
//    (rank_host/instructions.h).
// Such a thread is a thread that polls: it is blocked until something can have changed, and the time it spun is not
// charged. What it did between its last call and the first tick that found it there is taken for spinning, once for
// each loop: from then on it is known to the instruction when it came there. Everything else computes: it is cut after
// a quantum, what it computed becomes simulated time, and others run.
//
// A loop that changes nothing but memory, always with the same flags, is taken for one that spins, and one with `pause`
// may count its rounds. Neither is lost: it is let go on whenever something happens, and for a while when nothing else
// can.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <ucontext.h>

#include "loader/elf_file.h"
#include "runtime/base/time.h"
#include "runtime/rank_host/breakpoints.h"
#include "runtime/rank_host/time_stamps.h"

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
  // The rank's own reads of the time stamp counter tell simulated time from now on.
  void take_over_time_stamps(const Rank& rank, const r_debug& objects);

  // The thread is gone.
  void forget(const Thread& thread)
  {
    if (watched_ == &thread)
      watched_ = nullptr;
  }

  // True: the trap was made to measure what a trap costs.
  static bool calibrates();
  // A single step, ours or a stray one; otherwise an int3 (SI_KERNEL) or sent by somebody (kill(2)). Not only
  // TRAP_TRACE: loader/BUGS.md, "The trap of somebody else".
  static bool is_step(const siginfo_t& information);
  [[nodiscard]] static int signal_number();

private:
  struct State { // of a thread between two instructions
    gregset_t registers;
    std::array<unsigned char, 4096> extended; // floating point and vectors, as the kernel saves them
    std::size_t extended_bytes;
  };

  [[nodiscard]] bool no_preempt(const Thread& thread, const ucontext_t& context) const;
  void begin_watch(Thread& thread);
  void begin_steps(Thread& thread, ucontext_t& context);
  void end_steps(ucontext_t& context);
  void step(ucontext_t& context);
  void remember(const ucontext_t& context);
  [[nodiscard]] bool as_remembered(const ucontext_t& context) const;
  [[nodiscard]] bool is_below_remembered(const ucontext_t& context) const;
  void measure_trap();
  void interrupt(Thread& thread);
  void park(Thread& thread, ucontext_t& context);
  void cut(Thread& thread, ucontext_t& context);
  [[nodiscard]] bool waits(const ucontext_t& context);
  [[nodiscard]] bool steps_only_look() const;
  bool set_breakpoint(const Rank& rank, std::uintptr_t pc);
  void on_breakpoint(Thread& thread, ucontext_t& context, std::uintptr_t pc);
  void visit(Thread& thread, ucontext_t& context, std::uintptr_t pc);
  bool same_visit(Thread& thread, const ucontext_t& context, const Breakpoints::Point& point);
  void wake_up_spinner(Thread& thread, std::uintptr_t pc);
  void tell_time_stamp(Thread& thread, ucontext_t& context, unsigned bytes, std::uint64_t begin);
  void step_over(ucontext_t& context, std::uintptr_t pc);

  RankHost& rank_host_;
  const bool traced_;            // a debugger would take every trap for its own: all threads count as computing
  std::uint64_t trap_entry_ = 0; // TSC ticks from an instruction to the handler of its trap
  std::uint64_t trap_exit_ = 0;  // and back
  timer_t timer_{};
  const unsigned ticks_per_quantum_;
  loader::AddressRange own_code_; // signal handlers on their way in or out: steps would end with the handler
  Breakpoints breakpoints_;
  TimeStamps time_stamps_;
  bool forking_ = false; // some have been taken away for that, since the last tick
  std::unordered_map<std::uintptr_t, unsigned> most_misses_;
  std::unordered_set<std::uintptr_t> known_; // instructions of loops that have waited

  bool stepping_ = false;
  Thread* watched_ = nullptr; // the one that steps, or did last; null: it has ended
  unsigned steps_ = 0;
  unsigned periods_ = 0;
  sim::SimTime steps_begin_ = 0; // CPU time of the OS thread
  std::uint64_t seen_ = 0;       // changes of the gate, then
  State state_{};
  std::vector<std::uintptr_t> loop_; // instructions since state_, once round
  std::uintptr_t anchor_ = 0;        // of a loop that is found out: the first of them
  bool only_pause_ = false;          // no other loop is looked for
  bool anchored_ = false;            // state_ is one of those in which it comes there
  std::uintptr_t pause_ = 0;         // the last `pause` met, and how often
  unsigned pauses_ = 0;
  using Registers = std::array<std::int64_t, 15>; // as in Breakpoints::Point
  Registers at_pause_{};                          // then
  Registers round_{};                             // what they have changed by since the time before, if always the same
};

} // namespace umwelt::rank_host
