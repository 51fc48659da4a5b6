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
#include "runtime/rank_host/instructions.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/signals.h"

// The linker's: where the code of this executable lies.
extern "C" const char __executable_start; // NOLINT
extern "C" const char etext;              // NOLINT

namespace umwelt::rank_host
{

namespace
{

constexpr SimTime tick = 2 * sim::millisecond; // of CPU time; the kernel may make it 4
constexpr unsigned most_steps = 320;           // 1 us each on bare metal, 9 us under nested virtualisation
constexpr unsigned most_further_steps = 480;   // of code that has come back once
constexpr unsigned proof = 8;                  // times round the loop with nothing changed
constexpr unsigned least_proof = 2;            // of a long one
constexpr unsigned enough_steps = 128;         // in all those times
constexpr unsigned enough_visits = 2;          // of a loop that is known, with nothing changed
constexpr unsigned least_misses = 64;          // before a breakpoint is taken away, the first time
constexpr unsigned most_misses = 65536;
constexpr unsigned rarest_check = 64; // ticks
constexpr unsigned first_checks = 24; // of threads that make a call between two ticks
// Where a run must be the same every time, a loop that ends by itself must not be taken for one that waits just because
// a tick happened to come. MPI libraries look at memory for microseconds before they ask the network.
constexpr unsigned first_check = 25; // ticks
// A loop with `pause` may count its rounds and go to sleep, after a million of them (40 ms), say. It is to be found out
// the first time, or not at all.
constexpr unsigned first_pause_check = 3;    // ticks
constexpr std::uintptr_t largest_loop = 128; // bytes to either side
// Where computing takes no simulated time, a thread that goes on for this long without a call may be waiting for time.
constexpr unsigned last_resort = 500; // ticks
// How often a thread that is let go on passes the `pause` of its loop, the first time and at most. That must not depend
// on ticks where a run must be the same every time; but after so many times it is as good as lost.
constexpr unsigned first_passes = 16;
constexpr unsigned most_passes = 1024;
constexpr unsigned most_counted = 64;
constexpr greg_t trap_flag = 0x100;

// Resume flag, and the trap flag itself: not the program's.
constexpr greg_t program_flags = ~(greg_t{0x10000} | trap_flag);

void set_trap_flag(ucontext_t& context, bool on)
{
  greg_t& flags = context.uc_mcontext.gregs[REG_EFL];
  flags = on ? flags | trap_flag : flags & ~trap_flag;
}

// Often at first, then rarely.
bool is_due(unsigned number)
{
  return number <= first_checks || number % rarest_check == 0;
}

std::uintptr_t pc_of(const ucontext_t& context)
{
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

// Bytes of the vector state behind context.uc_mcontext.fpregs (arch/x86/include/uapi/asm/sigcontext.h, struct
// _fpx_sw_bytes).
std::size_t extended_bytes(const ucontext_t& context)
{
  struct Software {
    std::uint32_t magic;
    std::uint32_t extended_size;
    std::uint64_t features;
    std::uint32_t state_size;
  } software{};
  constexpr std::uint32_t magic = 0x46505853;
  constexpr std::size_t legacy = 512;
  constexpr std::size_t software_offset = 464;
  std::memcpy(&software, reinterpret_cast<const char*>(context.uc_mcontext.fpregs) + software_offset, sizeof software);
  return software.magic == magic ? software.state_size : legacy;
}

bool is_pause(const unsigned char* code)
{
  return code[0] == 0xf3 && code[1] == 0x90;
}

// Whether there is a `pause`, or what may be one, not far from there; within its page, which is in memory.
bool is_near_pause(std::uintptr_t pc)
{
  constexpr std::uintptr_t page = 4096;
  const std::uintptr_t begin = std::max(pc & ~(page - 1), pc - largest_loop);
  const std::uintptr_t end = std::min((pc & ~(page - 1)) + page, pc + largest_loop) - 1;
  for (std::uintptr_t at = begin; at < end; ++at)
    if (is_pause(reinterpret_cast<const unsigned char*>(at)))
      return true;
  return false;
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
    : rank_host_(rank_host), traced_(is_traced()),
      ticks_per_quantum_(static_cast<unsigned>(std::max<SimTime>(quantum / tick, 1)))
{
  if (!traced_)
    measure_trap();
  own_code_ = {reinterpret_cast<std::uintptr_t>(&__executable_start), reinterpret_cast<std::uintptr_t>(&etext)};
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

namespace
{
volatile std::uint64_t trapped_at = 0;
bool calibrating = false;
} // namespace

bool Slices::calibrates()
{
  if (calibrating)
    trapped_at = engine::BurstMeter::ticks();
  return calibrating;
}

bool Slices::is_step(const siginfo_t& information)
{
  return information.si_code > 0 && information.si_code != SI_KERNEL;
}

void Slices::measure_trap()
{
  calibrating = true;
  trap_entry_ = trap_exit_ = ~std::uint64_t{0};
  for (int i = 0; i < 32; ++i) { // the best of them: the others were disturbed
    const std::uint64_t begin = engine::BurstMeter::ticks();
    asm volatile("int3" : : : "memory");
    const std::uint64_t end = engine::BurstMeter::ticks();
    trap_entry_ = std::min(trap_entry_, trapped_at - begin);
    trap_exit_ = std::min(trap_exit_, end - trapped_at);
  }
  calibrating = false;
}

Slices::~Slices()
{
  timer_delete(timer_);
}

bool Slices::no_preempt(const Thread& thread, const ucontext_t& context) const
{
  const umw_gate& gate = thread.rank.gate;
  if (gate.running == 0 || gate.no_preempt != 0 || RankHost::must_not_switch() ||
      Signals::on_stack(static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP])))
    return true;
  const std::uintptr_t pc = pc_of(context);
  const auto has = [pc](const loader::AddressRange& range) { return pc >= range.begin && pc < range.end; };
  return has(own_code_) || std::any_of(thread.rank.uninterruptible.begin(), thread.rank.uninterruptible.end(), has);
}

void Slices::on_tick(ucontext_t& context)
{
  if (engine::in_runtime())
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
  if (thread.rank.gate.no_preempt == 0 && !std::exchange(forking_, false))
    breakpoints_.put_back();
  const std::uintptr_t pc = pc_of(context);
  watch.history[watch.ticks++ % watch.history.size()] = {rank_host_.cpu().now(), pc};
  if (no_preempt(thread, context))
    return;
  // It may spin again and again, and never for long enough to be seen by two ticks.
  const bool lone =
      watch.ticks == 1 && thread.rank.gate.alone != 0 && rank_host_.cpu().measured() && is_due(++thread.lone_ticks);
  if (traced_) {
    if (watch.ticks > 1)
      cut(thread, context);
  } else if (lone || watch.ticks > watch.next_check || (watch.ticks > 1 && known_.contains(pc))) {
    watch.next_check = watch.ticks + std::min(watch.ticks, rarest_check);
    begin_steps(thread, context);
  } else if (watch.ticks == watch.next_pause_check) {
    watch.next_pause_check *= 2;
    if (is_near_pause(pc)) {
      begin_steps(thread, context);
      only_pause_ = true;
    }
  } else if (watch.ticks % (rank_host_.cpu().measured() ? ticks_per_quantum_ : last_resort) == 0) {
    cut(thread, context);
  }
}

void Slices::on_hurry(ucontext_t& context)
{
  if (engine::in_runtime() || stepping_)
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
  thread.watch.next_check = rank_host_.cpu().measured() ? 1 : first_check;
}

void Slices::begin_steps(Thread& thread, ucontext_t& context)
{
  stepping_ = true;
  watched_ = &thread;
  steps_ = periods_ = pauses_ = 0;
  anchor_ = 0;
  anchored_ = only_pause_ = false;
  steps_begin_ = rank_host_.cpu().now();
  seen_ = __atomic_load_n(&thread.rank.gate.changes, __ATOMIC_ACQUIRE);
  rank_host_.pause_burst(watched_->rank);
  loop_.clear();
  remember(context);
  set_trap_flag(context, true);
}

// Single steps are not the program's computing.
void Slices::end_steps(ucontext_t& context)
{
  stepping_ = false;
  set_trap_flag(context, false);
  if (watched_ != nullptr)
    rank_host_.resume_burst(watched_->rank);
}

void Slices::remember(const ucontext_t& context)
{
  std::memcpy(state_.registers, context.uc_mcontext.gregs, sizeof state_.registers);
  state_.registers[REG_EFL] &= program_flags;
  state_.extended_bytes = std::min(extended_bytes(context), state_.extended.size());
  std::memcpy(state_.extended.data(), context.uc_mcontext.fpregs, state_.extended_bytes);
}

bool Slices::as_remembered(const ucontext_t& context) const
{
  const greg_t* now = context.uc_mcontext.gregs;
  for (int i = REG_R8; i <= REG_RIP; ++i)
    if (now[i] != state_.registers[i])
      return false;
  return (now[REG_EFL] & program_flags) == state_.registers[REG_EFL] &&
         std::memcmp(state_.extended.data(), context.uc_mcontext.fpregs, state_.extended_bytes) == 0;
}

bool Slices::is_below_remembered(const ucontext_t& context) const
{
  const greg_t* now = context.uc_mcontext.gregs;
  return std::lexicographical_compare(now, now + REG_RIP, state_.registers, state_.registers + REG_RIP);
}

void Slices::step(ucontext_t& context)
{
  Thread& thread = *rank_host_.running();
  const std::uintptr_t pc = pc_of(context);
  if (&thread != watched_ || thread.watch.crossings != thread.rank.gate.crossings || no_preempt(thread, context) ||
      ++steps_ > (periods_ > 0 ? most_steps + most_further_steps : most_steps)) {
    if (thread.rank.gate.shows_state == 0 ||
        thread.rank.gate.quick_polls == 0) // else it is let round, and its polls tell
      thread.rank.gate.made_progress = 1;  // it was no loop, or is one no longer
    end_steps(context);
    return;
  }
  if (waits(context)) {
    anchor_ = 0;
    if (set_breakpoint(thread.rank, pc))
      breakpoints_.find(pc)->round = round_;
    loop_.push_back(pc);
    park(thread, context);
    return;
  }
  if (only_pause_) {
    loop_.push_back(pc);
    return;
  }
  if (as_remembered(context)) {
    const auto length = static_cast<unsigned>(loop_.size() + 1);
    if (++periods_ < std::clamp(enough_steps / length, least_proof, proof))
      return;
    periods_ = proof;
    if (anchored_) {
      park(thread, context);
      return;
    }
    anchor_ = std::min(pc, *std::min_element(loop_.begin(), loop_.end()));
  }
  // Where in its loop a tick happened to find it must not show. It may come to the anchor more than once each time
  // round (as who looks at several variables in turn does): the one with the lowest registers counts.
  if (pc == anchor_ && (!anchored_ || is_below_remembered(context))) {
    anchored_ = true;
    remember(context);
    periods_ = proof - 1;
  }
  if (periods_ > 0)
    return;
  loop_.push_back(pc);
  if ((steps_ & (steps_ - 1)) == 0) { // the first state may have been on the way into the loop (Brent's algorithm)
    loop_.clear();
    remember(context);
  }
}

// A thread that spins; it goes on, step by step, when something can have changed.
void Slices::park(Thread& thread, ucontext_t& context)
{
  Rank& rank = thread.rank;
  stepping_ = false;
  loop_.push_back(static_cast<std::uintptr_t>(state_.registers[REG_RIP]));
  known_.insert(loop_.begin(), loop_.end());
  const std::uintptr_t low = *std::min_element(loop_.begin(), loop_.end());
  const std::uintptr_t high = *std::max_element(loop_.begin(), loop_.end());
  // It has spun since the earliest tick that found it here without interruption; if that was the first since its last
  // call, since then, as far as anybody knows.
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
    const SimTime spun = rank_host_.cpu().charge(steps_begin_ - since, true);
    clock.debt_ps = std::max<SimTime>(clock.debt_ps - static_cast<SimTime>(static_cast<double>(spun) / rank.speed), 0);
  }
  clock.burst_start = engine::BurstMeter::ticks();
  // What it has done before it came here others may wait for; nothing, if it is still in the same loop.
  bool still = steps_ <= (proof + 5) * loop_.size();
  const std::uintptr_t pc = pc_of(context);
  const bool looks = steps_only_look();
  const bool known = pc == anchor_ && (rank.gate.alone != 0 || looks) && set_breakpoint(rank, pc);
  if (known)
    breakpoints_.find(pc)->looks = looks;
  if (known) // it may have been let go since it was last seen here
    still = same_visit(thread, context, *breakpoints_.find(pc)) && still;
  thread.idle = known;
  interrupt(thread);
  umw_args_umw_slice_park arguments{0, seen_, still};
  rank_host_.request(thread, UMW_OP_umw_slice_park, &arguments);
  thread.changes_seen = __atomic_load_n(&rank.gate.changes, __ATOMIC_ACQUIRE);
  thread.debt_before = clock.debt_ps;
  begin_watch(thread);
  if (known) {
    end_steps(context);
    if (arguments.result != 0)
      wake_up_spinner(thread, pc);
    else
      thread.forced_wakeups = 0;
    if (rank.gate.signal_due != 0)
      rank_host_.deliver_pending(thread, &context);
    if (breakpoints_.contains(pc))
      step_over(context, pc);
  } else if (rank.gate.signal_due != 0) {
    end_steps(context);
    rank_host_.deliver_pending(thread, &context);
  } else if (arguments.result != 0) { // let go
    end_steps(context);
  } else {
    begin_steps(thread, context);
  }
}

// The end of a burst that is not the program's doing. What the kernel needs to get here, and to get back from here the
// last time, was no computing.
void Slices::interrupt(Thread& thread)
{
  std::uint64_t& begin = thread.rank.gate.clock.burst_start;
  begin = std::min(begin + trap_entry_ + (std::exchange(thread.trapped, true) ? trap_exit_ : 0),
                   engine::BurstMeter::ticks());
  thread.rank.gate.no_switch = 0;
}

// Others run, and what the thread has computed so far becomes simulated time.
void Slices::cut(Thread& thread, ucontext_t& context)
{
  interrupt(thread);
  umw_args_umw_slice_cut arguments{};
  rank_host_.request(thread, UMW_OP_umw_slice_cut, &arguments);
  thread.watch.crossings = thread.rank.gate.crossings;
  rank_host_.deliver_pending(thread, &context);
}

bool Slices::waits(const ucontext_t& context)
{
  const std::uintptr_t pc = pc_of(context);
  const auto* code = reinterpret_cast<const unsigned char*>(pc);
  if (!is_pause(code))
    return false;
  pauses_ = pc == pause_ ? pauses_ + 1 : 1;
  pause_ = pc;
  const greg_t* registers = context.uc_mcontext.gregs;
  Registers round{};
  for (std::size_t i = 0; i < round.size(); ++i)
    round[i] = registers[i] - at_pause_[i];
  round_ = pauses_ < 3 || round == round_ ? round : Registers{};
  std::copy_n(registers, at_pause_.size(), at_pause_.begin());
  return pauses_ >= proof;
}

// Nothing can come of the loop that has just been found out but that it ends: of one of a few instructions.
bool Slices::steps_only_look() const
{
  constexpr std::size_t most = 8; // instructions
  return loop_.size() <= most && std::all_of(loop_.begin(), loop_.end(), [this](std::uintptr_t pc) {
           Breakpoints::Code code{};
           return only_looks({code.data(), breakpoints_.read_code(pc, code)});
         });
}

// It is a loop that waits, whoever else comes here.
bool Slices::set_breakpoint(const Rank& rank, std::uintptr_t pc)
{
  if (breakpoints_.stands(pc))
    return true;
  unsigned& misses = most_misses_[pc];
  misses = std::min(std::max(2 * misses, least_misses), most_misses);
  return breakpoints_.set(pc, rank, misses);
}

void Slices::step_over(ucontext_t& context, std::uintptr_t pc)
{
  breakpoints_.step_over(pc);
  set_trap_flag(context, true);
}

void Slices::original_code(const Rank& rank, bool original)
{
  forking_ = original;
  time_stamps_.original_code(rank, original);
  if (original)
    breakpoints_.lift_all(rank);
  else
    breakpoints_.put_back();
}

void Slices::take_over_time_stamps(const Rank& rank, const r_debug& objects)
{
  if (!traced_)
    time_stamps_.take_over(rank, objects);
}

// As preload/time/clock.c does for the C library's clocks.
void Slices::tell_time_stamp(Thread& thread, ucontext_t& context, unsigned bytes, std::uint64_t begin)
{
  umw_gate& gate = thread.rank.gate;
  umw_clock& clock = gate.clock;
  const bool measured = clock.ps_per_tick > 0;
  ++clock.looks;
  interrupt(thread);
  const auto since = [&clock, measured](std::uint64_t now) {
    return measured ? static_cast<SimTime>(static_cast<double>(static_cast<std::int64_t>(now - clock.burst_start)) *
                                           clock.ps_per_tick)
                    : 0;
  };
  if (!measured)
    clock.debt_ps += clock.read_cost_ps;
  SimTime time = clock.now_ps + clock.debt_ps + since(begin);
  const bool settles = measured ? begin - clock.burst_start > clock.settle_ticks && begin > clock.burst_start
                                : clock.debt_ps > static_cast<SimTime>(clock.settle_ticks);
  if (settles && !no_preempt(thread, context)) {
    umw_args_umw_clock_settle arguments{};
    rank_host_.call(thread, UMW_OP_umw_clock_settle, &arguments);
    time = clock.now_ps + clock.debt_ps;
  } else {
    clock.burst_start = rank_host_.cpu().exclude(clock.burst_start, begin);
  }
  clock.shown_ps = std::max<SimTime>(clock.shown_ps, time);
  const auto stamp = static_cast<std::uint64_t>(
      (static_cast<double>(clock.uptime_origin_ns) * 1e3 + static_cast<double>(clock.shown_ps)) /
      rank_host_.cpu().ps_per_time_stamp());
  greg_t* registers = context.uc_mcontext.gregs;
  registers[REG_RAX] = static_cast<greg_t>(stamp & 0xffffffff);
  registers[REG_RDX] = static_cast<greg_t>(stamp >> 32);
  if (bytes == 3) // IA32_TSC_AUX, as Linux sets it: node and core
    registers[REG_RCX] = gate.core;
}

bool Slices::on_trap(const siginfo_t& information, ucontext_t& context)
{
  const std::uint64_t begin = engine::BurstMeter::ticks();
  const bool of_rank = !engine::in_runtime();
  const engine::Crossing crossing; // from here on no tick cuts the thread, in a system call on a breakpoint say, and
                                   // others find that half done
  const auto not_computed = [this, begin] {
    Thread& thread = *rank_host_.running();
    interrupt(thread);
    std::uint64_t& burst = thread.rank.gate.clock.burst_start;
    burst = rank_host_.cpu().exclude(burst, begin);
  };
  if (is_step(information)) {
    const bool over = breakpoints_.stepped_over() && !stepping_;
    if (!stepping_) { // otherwise left over: the runtime was entered with the flag set
      set_trap_flag(context, false);
      if (over && of_rank)
        not_computed();
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
  const unsigned bytes = time_stamps_.at(pc);
  if (bytes == 0 && !breakpoints_.contains(pc))
    return false;
  set_trap_flag(context, false);
  if (stepping_)
    end_steps(context);
  Thread& thread = *rank_host_.running();
  if (bytes != 0) {
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc + bytes);
    tell_time_stamp(thread, context, bytes, begin);
    return true;
  }
  const std::uint64_t crossings = thread.rank.gate.crossings;
  on_breakpoint(thread, context, pc);
  if (thread.rank.gate.crossings == crossings)
    not_computed();
  return true;
}

namespace
{

// Whether registers have changed from `before` to `now` as by going round the loop some times.
bool went_round(const greg_t* before, const greg_t* now, const std::array<std::int64_t, 15>& round)
{
  std::int64_t times = 0;
  for (std::size_t i = 0; i < round.size(); ++i) {
    const greg_t change = now[i] - before[i];
    if (times == 0 && round[i] != 0)
      times = change / round[i];
    if (change != times * round[i] || (round[i] != 0 && times <= 0))
      return false;
  }
  return now[REG_RSP] == before[REG_RSP] && now[REG_RIP] == before[REG_RIP];
}

} // namespace

// Whether the thread has come to a breakpoint with the registers of the last time, or with those of one that does
// nothing but count its rounds.
bool Slices::same_visit(Thread& thread, const ucontext_t& context, const Breakpoints::Point& point)
{
  const bool pause = point.pause;
  const greg_t* registers = context.uc_mcontext.gregs;
  bool same = went_round(thread.at_breakpoint, registers, point.round);
  std::memcpy(thread.at_breakpoint, registers, sizeof thread.at_breakpoint);
  if (!pause) {
    const auto* extended = reinterpret_cast<const unsigned char*>(context.uc_mcontext.fpregs);
    const std::size_t bytes = std::min(extended_bytes(context), state_.extended.size());
    same = same && thread.extended.size() == bytes && std::memcmp(thread.extended.data(), extended, bytes) == 0;
    if (!same)
      thread.extended.assign(extended, extended + bytes);
  }
  thread.same_visits = same ? thread.same_visits + 1 : 0;
  return same;
}

void Slices::on_breakpoint(Thread& thread, ucontext_t& context, std::uintptr_t pc)
{
  const bool pause = breakpoints_.find(pc)->pause;
  if (!pause)
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
  if (!no_preempt(thread, context))
    visit(thread, context, pc);
  if (!pause && breakpoints_.contains(pc))
    step_over(context, pc);
}

void Slices::visit(Thread& thread, ucontext_t& context, std::uintptr_t pc)
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
  interrupt(thread);
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

// It is to go on for a while. A loop without `pause` may be one that counts in memory: it is watched from the beginning
// again.
void Slices::wake_up_spinner(Thread& thread, std::uintptr_t pc)
{
  if (const Breakpoints::Point* point = breakpoints_.find(pc);
      point != nullptr && !point->pause && !rank_host_.cpu().measured()) {
    breakpoints_.clear(pc);
  } else if (!rank_host_.cpu().measured() && thread.forced_wakeups < most_counted) {
    thread.passes = std::min(first_passes << std::min(thread.forced_wakeups, 16U), most_passes);
    thread.passes_since = thread.rank.gate.crossings;
    ++thread.forced_wakeups;
  } else {
    breakpoints_.lift(pc);
  }
}

} // namespace umwelt::rank_host
