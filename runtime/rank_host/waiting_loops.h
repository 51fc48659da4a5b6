// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops that have been found to wait (spin_detector.h). Each has a breakpoint, so that a thread is recognised as soon
// as it comes there again, without single steps: with the registers of the last time, or with those that counting a
// round makes of them, it has done nothing but look, and asks the simulation to be blocked.
//
// A breakpoint costs whoever comes there without waiting. One that is met in vain too often is taken away, later each
// time it had to be set again; and where a thread is told to go on although nothing has changed (nothing else can
// happen in the simulation), it passes a number of times, or the breakpoint is away until the next tick.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <ucontext.h>

#include "runtime/rank_host/breakpoints.h"

namespace umwelt::rank_host
{

class RankHost;
class TrapCost;
struct Rank;
struct Thread;

class WaitingLoops
{
public:
  // Both outlive it.
  WaitingLoops(RankHost& rank_host, const TrapCost& trap_cost) : rank_host_(rank_host), trap_cost_(trap_cost) {}

  [[nodiscard]] Breakpoints& breakpoints() { return breakpoints_; }
  // Instructions of a loop that waits.
  void add(const std::vector<std::uintptr_t>& loop) { known_.insert(loop.begin(), loop.end()); }
  // One of such a loop is there.
  [[nodiscard]] bool is_known(std::uintptr_t pc) const { return known_.contains(pc); }
  // Nothing can come of the loop but that it ends: of one of a few instructions.
  [[nodiscard]] bool only_looks(const std::vector<std::uintptr_t>& loop) const;

  // It is a loop that waits, whoever else comes here. False: the code cannot be written.
  bool set_breakpoint(const Rank& rank, std::uintptr_t pc);
  // A thread has met the breakpoint at `pc`.
  void on_breakpoint(Thread& thread, ucontext_t& context, std::uintptr_t pc);
  // Whether the thread has come to a breakpoint with the registers of the last time, or with those of one that does
  // nothing but count its rounds.
  bool same_visit(Thread& thread, const ucontext_t& context, const Breakpoints::Point& point);
  // It is to go on for a while. A loop without `pause` may be one that counts in memory: it is watched from the
  // beginning again.
  void wake_up_spinner(Thread& thread, std::uintptr_t pc);
  // The thread is to execute what was there before.
  void step_over(ucontext_t& context, std::uintptr_t pc);

private:
  void visit(Thread& thread, ucontext_t& context, std::uintptr_t pc);

  RankHost& rank_host_;
  const TrapCost& trap_cost_;
  Breakpoints breakpoints_;
  std::unordered_map<std::uintptr_t, unsigned> most_misses_;
  std::unordered_set<std::uintptr_t> known_; // instructions of loops that have waited
};

} // namespace umwelt::rank_host
