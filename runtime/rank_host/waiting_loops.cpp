// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/waiting_loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/engine/burst_meter.h"
#include "runtime/rank_host/instructions.h"
#include "runtime/rank_host/machine_context.h"
#include "runtime/rank_host/preemption.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/trap_cost.h"

namespace umwelt::rank_host
{

namespace
{

constexpr unsigned enough_visits = 2; // of a loop that is known, with nothing changed
constexpr unsigned least_misses = 64; // before a breakpoint is taken away, the first time
constexpr unsigned most_misses = 65536;
// How often a thread that is let go on passes the `pause` of its loop, the first time and at most. That must not depend
// on ticks where a run must be the same every time; but after so many times it is as good as lost.
constexpr unsigned first_passes = 16;
constexpr unsigned most_passes = 1024;
constexpr unsigned most_counted = 64;

// How often `round` makes `change`; 0: not even once, or never exactly.
std::uint64_t times_round(std::int64_t change, std::int64_t round)
{
  if ((change < 0) != (round < 0))
    return 0;
  const auto magnitude = [](std::int64_t value) {
    return value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  };
  return magnitude(change) % magnitude(round) == 0 ? magnitude(change) / magnitude(round) : 0;
}

// Whether registers have changed from `before` to `now` as by going round the loop some times.
bool went_round(const greg_t* before, const greg_t* now, const std::array<std::int64_t, 15>& round)
{
  std::uint64_t times = 0; // not known yet
  for (std::size_t i = 0; i < round.size(); ++i) {
    const std::int64_t change = change_of(before[i], now[i]);
    if (round[i] == 0) {
      if (change != 0)
        return false;
      continue;
    }
    const std::uint64_t here = times_round(change, round[i]);
    if (here == 0 || (times != 0 && here != times))
      return false;
    times = here;
  }
  return now[REG_RSP] == before[REG_RSP] && now[REG_RIP] == before[REG_RIP];
}

} // namespace

bool WaitingLoops::only_looks(const std::vector<std::uintptr_t>& loop) const
{
  constexpr std::size_t most = 8; // instructions
  return loop.size() <= most && std::all_of(loop.begin(), loop.end(), [this](std::uintptr_t pc) {
           Breakpoints::Code code{};
           return rank_host::only_looks({code.data(), breakpoints_.read_code(pc, code)});
         });
}

bool WaitingLoops::set_breakpoint(const Rank& rank, std::uintptr_t pc)
{
  if (breakpoints_.stands(pc))
    return true;
  unsigned& misses = most_misses_[pc];
  misses = std::min(std::max(2 * misses, least_misses), most_misses);
  return breakpoints_.set(pc, rank, misses);
}

void WaitingLoops::step_over(ucontext_t& context, std::uintptr_t pc)
{
  breakpoints_.step_over(pc);
  set_trap_flag(context, true);
}

bool WaitingLoops::same_visit(Thread& thread, const ucontext_t& context, const Breakpoints::Point& point)
{
  const bool pause = point.pause;
  const greg_t* registers = context.uc_mcontext.gregs;
  bool same = went_round(thread.at_breakpoint, registers, point.round);
  std::memcpy(thread.at_breakpoint, registers, sizeof thread.at_breakpoint);
  if (!pause) {
    const auto* extended = reinterpret_cast<const unsigned char*>(context.uc_mcontext.fpregs);
    const std::size_t bytes = extended_bytes(context);
    same = same && thread.extended.size() == bytes && std::memcmp(thread.extended.data(), extended, bytes) == 0;
    if (!same)
      thread.extended.assign(extended, extended + bytes);
  }
  thread.same_visits = same ? thread.same_visits + 1 : 0;
  return same;
}

void WaitingLoops::on_breakpoint(Thread& thread, ucontext_t& context, std::uintptr_t pc)
{
  const bool pause = breakpoints_.find(pc)->pause;
  if (!pause)
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
  if (!no_preempt(thread, context))
    visit(thread, context, pc);
  if (!pause && breakpoints_.contains(pc))
    step_over(context, pc);
}

void WaitingLoops::visit(Thread& thread, ucontext_t& context, std::uintptr_t pc)
{
  Rank& rank = thread.rank;
  Breakpoints::Point& point = *breakpoints_.find(pc);
  if (thread.passes > 0 && thread.passes_since == rank.gate.crossings) {
    --thread.passes;
    return;
  }
  // With the same registers it is still in the same loop and has done nothing but look. If something may have changed
  // since it did so, it is to look again.
  const bool same = same_visit(thread, context, point);
  const std::uint64_t changes = __atomic_load_n(&rank.gate.changes, __ATOMIC_ACQUIRE);
  const std::uint64_t seen = std::exchange(thread.changes_seen, changes);
  const bool alone = rank.gate.alone != 0;
  if (!alone && !point.pause && !point.looks) { // others of the rank may wait for what is done between two visits
    breakpoints_.clear(pc);
    return;
  }
  if (alone && same && seen != changes)
    return;
  trap_cost_.interrupt(thread);
  umw_clock& clock = rank.gate.clock;
  if (!point.pause) {
    if (!same) {
      rank_host_.pause_burst(rank);
      rank_host_.resume_burst(rank);
      thread.debt_before = clock.debt_ps;
      thread.idle = false;
      if (++point.misses > point.most_misses)
        breakpoints_.clear(pc);
      return;
    }
    if (thread.same_visits < enough_visits)
      return;
    point.misses = 0;
  }
  if ((alone || point.looks) && same) { // it has spun since it came here first
    clock.debt_ps = std::min<SimTime>(clock.debt_ps, thread.debt_before);
    clock.burst_start = engine::BurstMeter::ticks();
  }
  const bool idle =
      std::exchange(thread.idle, true) && same; // others may wait for what it has done before it came here
  umw_args_umw_slice_pause arguments{0, alone ? seen : changes, alone ? idle : same};
  rank_host_.request(thread, UMW_OP_umw_slice_pause, &arguments);
  thread.changes_seen = __atomic_load_n(&rank.gate.changes, __ATOMIC_ACQUIRE); // it looks only now
  thread.debt_before = clock.debt_ps;
  if (arguments.result == 0)
    thread.forced_wakeups = 0;
  else
    wake_up_spinner(thread, pc);
  rank_host_.deliver_pending(thread, &context);
}

void WaitingLoops::wake_up_spinner(Thread& thread, std::uintptr_t pc)
{
  if (const Breakpoints::Point* point = breakpoints_.find(pc);
      point != nullptr && !point->pause && !Cpu::measures(thread.rank.gate.clock)) {
    breakpoints_.clear(pc);
  } else if (!Cpu::measures(thread.rank.gate.clock) && thread.forced_wakeups < most_counted) {
    thread.passes = std::min(first_passes << std::min(thread.forced_wakeups, 16U), most_passes);
    thread.passes_since = thread.rank.gate.crossings;
    ++thread.forced_wakeups;
  } else {
    breakpoints_.lift(pc);
  }
}

} // namespace umwelt::rank_host
