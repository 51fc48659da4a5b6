// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/slices.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/engine/burst_meter.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/rank_host/folding.h"
#include "runtime/rank_host/kernel_calls.h"
#include "runtime/rank_host/machine_context.h"
#include "runtime/rank_host/preemption.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/time_stamp_counter.h"

namespace umwelt::rank_host
{

namespace
{

constexpr SimTime tick = 2 * sim::millisecond; // of CPU time; the kernel may make it 4
constexpr unsigned rarest_check = 64;          // ticks
constexpr unsigned first_checks = 24;          // of threads that make a call between two ticks
// Where a run must be the same every time, a loop that ends by itself must not be taken for one that waits just because
// a tick happened to come. MPI libraries look at memory for microseconds before they ask the network.
constexpr unsigned first_check = 25; // ticks
// A loop with `pause` may count its rounds and go to sleep, after a million of them (40 ms), say. It is to be found out
// the first time, or not at all.
constexpr unsigned first_pause_check = 3; // ticks
// Where computing takes no simulated time, a thread that goes on for this long without a call may be waiting for time.
constexpr unsigned last_resort = 500; // ticks

// Often at first, then rarely.
bool is_due(unsigned number)
{
  return number <= first_checks || number % rarest_check == 0;
}

bool is_traced()
{
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:"))
      return std::atoi(line.c_str() + line.find(':') + 1) != 0;
  return false;
}

} // namespace

int Slices::signal_number()
{
  return SIGRTMAX - 1;
}

Slices::Slices(RankHost& rank_host, SimTime quantum)
    : rank_host_(rank_host), thread_(gettid()), traced_(is_traced()),
      ticks_per_quantum_(static_cast<unsigned>(std::max<SimTime>(quantum / tick, 1)))
{
  if (!traced_)
    trap_cost_.measure();
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_number();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0)
    throw std::system_error(errno, std::generic_category(), "timer for time slices");
  itimerspec period{};
  period.it_interval.tv_nsec = period.it_value.tv_nsec = tick / sim::nanosecond;
  timer_settime(timer_, 0, &period, nullptr);
}

bool Slices::is_step(const siginfo_t& information)
{
  return information.si_code > 0 && information.si_code != SI_KERNEL;
}

Slices::~Slices()
{
  timer_delete(timer_);
}

void Slices::on_tick(ucontext_t& context)
{
  if (engine::in_runtime() || rank_host_.step_count() != nullptr)
    return;
  const engine::Crossing crossing;
  Thread& thread = *rank_host_.running();
  if (std::exchange(stepping_, false)) { // else the steps were another thread's, which waits in a system call now
    if (&thread == watched_) {
      stepping_ = true;
      return;
    }
  }
  Watch& watch = thread.watch;
  if (watch.crossings != thread.rank.gate.crossings)
    begin_watch(thread);
  else if (Folding* const folding = rank_host_.folding())
    folding->ticked(thread.rank);
  if (thread.rank.gate.no_preempt == 0 && !std::exchange(forking_, false))
    loops_.breakpoints().put_back();
  const std::uintptr_t pc = pc_of(context);
  if (KernelCalls* const kernels = rank_host_.kernel_calls())
    kernels->ticked(thread, pc);
  watch.history[watch.ticks++ % watch.history.size()] = {rank_host_.cpu().now(), pc};
  if (no_preempt(thread, context))
    return;
  // It may spin again and again, and never for long enough to be seen by two ticks.
  const bool lone =
      watch.ticks == 1 && thread.rank.gate.alone != 0 && rank_host_.cpu().measured() && is_due(++thread.lone_ticks);
  if (traced_) {
    if (watch.ticks > 1)
      cut(thread, context);
    return;
  }
  if (lone || watch.ticks > watch.next_check || (watch.ticks > 1 && loops_.is_known(pc))) {
    watch.next_check = watch.ticks + std::min(watch.ticks, rarest_check);
    begin_steps(thread, context, watch.ticks > (rank_host_.cpu().measured() ? 1 : first_check));
  } else if (watch.ticks == watch.next_pause_check) {
    watch.next_pause_check *= 2;
    if (SpinDetector::is_near_pause(pc)) {
      begin_steps(thread, context, true);
      detector_.look_for_pause_only();
    }
  } else if (watch.ticks >= watch.next_cut) {
    cut(thread, context);
  }
}

void Slices::on_hurry(ucontext_t& context)
{
  if (engine::in_runtime() || stepping_ || rank_host_.step_count() != nullptr)
    return;
  const engine::Crossing crossing;
  Thread& thread = *rank_host_.running();
  if (no_preempt(thread, context))
    return;
  cut(thread, context);
}

void Slices::begin_watch(Thread& thread)
{
  thread.watch.crossings = thread.rank.gate.crossings;
  thread.watch.ticks = 0;
  thread.watch.next_pause_check = first_pause_check;
  thread.watch.next_cut = ticks_per_cut();
  thread.watch.next_check = rank_host_.cpu().measured() ? 1 : first_check;
}

void Slices::begin_steps(Thread& thread, ucontext_t& context, bool is_long)
{
  stepping_ = true;
  long_ = is_long;
  watched_ = &thread;
  steps_begin_ = rank_host_.cpu().now();
  seen_ = __atomic_load_n(&thread.rank.gate.changes, __ATOMIC_ACQUIRE);
  hidden_to_ = engine::BurstMeter::ticks();
  detector_.begin(context);
  set_trap_flag(context, true);
  hide_steps(thread.rank);
}

// Single steps are not the program's computing. The rest of the burst is still one of its path (path_times.h), however
// long the tick took to get here.
void Slices::hide_steps(Rank& rank)
{
  umw_gate& gate = rank.gate;
  const std::uint64_t now = engine::BurstMeter::ticks();
  const std::uint64_t hidden = now - hidden_to_;
  if (gate.clock.burst_start < hidden_to_)
    gate.clock.burst_start += hidden;
  else // another has begun
    gate.clock.burst_start = now;
  if (gate.paused == UMW_PAUSED && gate.paused_at < hidden_to_)
    gate.paused_at += hidden;
  hidden_to_ = now;
}

void Slices::end_steps(ucontext_t& context)
{
  stepping_ = false;
  set_trap_flag(context, false);
  if (watched_ != nullptr)
    hide_steps(watched_->rank);
}

void Slices::step(ucontext_t& context)
{
  using enum SpinDetector::Finding;
  Thread& thread = *rank_host_.running();
  const bool elsewhere =
      &thread != watched_ || thread.watch.crossings != thread.rank.gate.crossings || no_preempt(thread, context);
  switch (elsewhere ? no_loop : detector_.step(context)) {
  case nothing_yet: // the program may look at the clock before the next step
    hide_steps(thread.rank);
    return;
  case no_loop:
    // It was no loop, or is one no longer: progress of whoever has gone on for long. Not where a tick has met a short
    // burst, which may be one of those that nothing comes of, nor if it is let round, when its polls tell.
    if (long_ && (thread.rank.gate.shows_state == 0 || thread.rank.gate.quick_polls == 0))
      thread.rank.gate.made_progress |= rank_host_.cpu().measured() ? UMW_GOT_ON : UMW_GOES_ON;
    return end_steps(context);
  case pause:
    if (const std::uintptr_t pc = pc_of(context); loops_.set_breakpoint(thread.rank, pc))
      loops_.breakpoints().find(pc)->round = detector_.round();
    return park(thread, context);
  case comes_back:
    return park(thread, context);
  }
}

// A thread that spins; it goes on, step by step, when something can have changed.
void Slices::park(Thread& thread, ucontext_t& context)
{
  Rank& rank = thread.rank;
  stepping_ = false;
  const std::vector<std::uintptr_t>& loop = detector_.complete_loop();
  loops_.add(loop);
  const std::uintptr_t low = *std::min_element(loop.begin(), loop.end());
  const std::uintptr_t high = *std::max_element(loop.begin(), loop.end());
  // It has spun since the earliest tick that found it here without interruption; if that was the first since its last
  // call, since then, as far as anybody knows.
  hide_steps(rank);
  rank_host_.pause_burst(rank);
  umw_clock& clock = rank.gate.clock;
  const Watch& watch = thread.watch;
  unsigned back = 1;
  SimTime since = steps_begin_;
  for (; back <= std::min<std::size_t>(watch.ticks, watch.history.size()); ++back) {
    const Watch::Tick& seen = watch.history[(watch.ticks - back) % watch.history.size()];
    if (seen.pc < low || seen.pc > high)
      break;
    since = seen.cpu;
  }
  if (back > watch.ticks && rank.gate.alone != 0) {
    clock.debt_ps = 0;
  } else {
    const SimTime spun = rank_host_.cpu().charge(clock, {steps_begin_ - since}, true);
    clock.debt_ps = std::max<SimTime>(clock.debt_ps - static_cast<SimTime>(static_cast<double>(spun) / clock.speed), 0);
  }
  clock.burst_start = engine::BurstMeter::ticks();
  // What it has done before it came here others may wait for; nothing, if it is still in the same loop.
  bool still = detector_.was_in_loop();
  const std::uintptr_t pc = pc_of(context);
  const bool looks = loops_.only_looks(loop);
  const bool known = pc == detector_.anchor() && (rank.gate.alone != 0 || looks) && loops_.set_breakpoint(rank, pc);
  if (known)
    loops_.breakpoints().find(pc)->looks = looks;
  if (known) // it may have been let go since it was last seen here
    still = loops_.same_visit(thread, context, *loops_.breakpoints().find(pc)) && still;
  thread.idle = known;
  trap_cost_.interrupt(thread);
  umw_args_umw_slice_park arguments{0, seen_, still};
  rank_host_.request(thread, UMW_OP_umw_slice_park, &arguments);
  thread.changes_seen = __atomic_load_n(&rank.gate.changes, __ATOMIC_ACQUIRE);
  thread.debt_before = clock.debt_ps;
  begin_watch(thread);
  if (known) {
    end_steps(context);
    if (arguments.result != 0)
      loops_.wake_up_spinner(thread, pc);
    else
      thread.forced_wakeups = 0;
    if (rank.gate.signal_due != 0)
      rank_host_.deliver_pending(thread, &context);
    if (loops_.breakpoints().contains(pc))
      loops_.step_over(context, pc);
  } else if (rank.gate.signal_due != 0) {
    end_steps(context);
    rank_host_.deliver_pending(thread, &context);
  } else if (arguments.result != 0) { // let go
    end_steps(context);
  } else {
    begin_steps(thread, context, true);
  }
}

unsigned Slices::ticks_per_cut() const
{
  return rank_host_.cpu().measured() ? ticks_per_quantum_ : last_resort;
}

// Others run, and what the thread has computed so far becomes simulated time.
void Slices::cut(Thread& thread, ucontext_t& context)
{
  if (may_hold_lock(thread, context)) {
    thread.watch.next_cut = thread.watch.ticks; // at the next tick, then
    return;
  }
  thread.watch.next_cut = thread.watch.ticks + ticks_per_cut();
  trap_cost_.interrupt(thread);
  rank_host_.hold_burst(thread);
  umw_args_umw_slice_cut arguments{};
  rank_host_.request(thread, UMW_OP_umw_slice_cut, &arguments);
  thread.watch.crossings = thread.rank.gate.crossings;
  rank_host_.deliver_pending(thread, &context);
}

void Slices::original_code(const Rank& rank, bool original)
{
  forking_ = original;
  time_stamps_.original_code(rank, original);
  if (original)
    loops_.breakpoints().lift_all(rank);
  else
    loops_.breakpoints().put_back();
}

void Slices::take_over_time_stamps(const Rank& rank)
{
  if (traced_)
    return;
  time_stamps_.take_over(rank);
  time_stamps_.watch_linker(rank);
}

Thread& Slices::let_go(ucontext_t& context)
{
  set_trap_flag(context, false);
  if (StepCount* count = rank_host_.step_count())
    count->spoil();
  if (stepping_)
    end_steps(context);
  return *rank_host_.running();
}

void Slices::exclude(Thread& thread, std::uint64_t begin)
{
  trap_cost_.interrupt(thread);
  std::uint64_t& burst = thread.rank.gate.clock.burst_start;
  burst = rank_host_.cpu().exclude(burst, begin);
}

void Slices::on_notice(ucontext_t& context, std::uint64_t begin)
{
  greg_t* registers = context.uc_mcontext.gregs; // ret
  std::memcpy(&registers[REG_RIP], reinterpret_cast<const void*>(registers[REG_RSP]), sizeof registers[REG_RIP]);
  registers[REG_RSP] += static_cast<greg_t>(sizeof registers[REG_RIP]);
  // With dlmopen ranks have the linker of the process, which the runtime calls as well, and threads that load a rank.
  if (engine::in_runtime() || engine::umw_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0) != thread_)
    return;
  const engine::Crossing crossing;
  Thread& thread = let_go(context);
  if (thread.rank.loader->debug()->r_state == r_debug::RT_CONSISTENT)
    time_stamps_.take_over(thread.rank);
  exclude(thread, begin);
}

bool Slices::on_trap(const siginfo_t& information, ucontext_t& context)
{
  const std::uint64_t begin = engine::BurstMeter::ticks();
  if (!is_step(information) && time_stamps_.is_notice(pc_of(context) - 1)) {
    on_notice(context, begin);
    return true;
  }
  const bool of_rank = !engine::in_runtime();
  const engine::Crossing crossing; // from here on no tick cuts the thread, in a system call on a breakpoint say, and
                                   // others find that half done
  if (is_step(information)) {
    if (StepCount* count = rank_host_.step_count()) {
      if (of_rank)
        count->step(context);
      else
        set_trap_flag(context, false);
      return true;
    }
    const bool over = loops_.breakpoints().stepped_over() && !stepping_;
    if (!stepping_) { // otherwise left over: the runtime was entered with the flag set
      set_trap_flag(context, false);
      if (over && of_rank)
        exclude(*rank_host_.running(), begin);
    } else if (of_rank) {
      step(context);
    } else {
      end_steps(context);
    }
    return true;
  }
  if (!of_rank)
    return false;
  const std::uintptr_t pc = pc_of(context) - 1;
  if (StepCount* count = rank_host_.step_count(); count != nullptr && count->met(context, pc))
    return true;
  const unsigned bytes = time_stamps_.at(pc);
  if (bytes == 0 && !loops_.breakpoints().contains(pc))
    return false;
  Thread& thread = let_go(context);
  if (bytes != 0) {
    context.uc_mcontext.gregs[REG_RIP] += static_cast<greg_t>(bytes) - 1; // it stands behind the first
    tell_time_stamp(rank_host_, trap_cost_, thread, context, bytes, begin);
    return true;
  }
  const std::uint64_t crossings = thread.rank.gate.crossings;
  loops_.on_breakpoint(thread, context, pc);
  if (thread.rank.gate.crossings == crossings)
    exclude(thread, begin);
  return true;
}

} // namespace umwelt::rank_host
