// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/world/slices.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/engine/burst_meter.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/world/carrier.h"
#include "runtime/world/signals.h"

// The linker's: where the code of this executable lies.
extern "C" const char __executable_start; // NOLINT
extern "C" const char etext;              // NOLINT

namespace umwelt::world
{

namespace
{

constexpr SimTime tick = 2 * sim::millisecond; // of CPU time; the kernel may make it 4
constexpr unsigned most_steps = 320;           // 1 us each on bare metal, 9 us under nested virtualisation
constexpr unsigned proof = 8;                  // times round the loop with nothing changed
constexpr unsigned rarest_check = 64;          // ticks
// Where a run must be the same every time, a loop that ends by itself must not be taken for one that waits just because a tick
// happened to come. MPI libraries look at memory for microseconds before they ask the network.
constexpr unsigned first_check = 25; // ticks
// Where computing takes no simulated time, a thread that goes on for this long without a call may be waiting for time.
constexpr unsigned last_resort = 500; // ticks
// How often a thread that is let go on passes the `pause` of its loop, the first time and at most. That must not depend on ticks
// where a run must be the same every time; but after so many times it is as good as lost.
constexpr unsigned first_passes = 16;
constexpr unsigned most_passes = 1024;
constexpr unsigned most_counted = 64;
constexpr greg_t trap_flag = 0x100;
constexpr std::uintptr_t page = 4096;

// Resume flag, and the trap flag itself: not the program's.
constexpr greg_t program_flags = ~(greg_t{0x10000} | trap_flag);

void set_trap_flag(ucontext_t& context, bool on)
{
  greg_t& flags = context.uc_mcontext.gregs[REG_EFL];
  flags = on ? flags | trap_flag : flags & ~trap_flag;
}

std::uintptr_t pc_of(const ucontext_t& context)
{
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

// Bytes of the vector state behind context.uc_mcontext.fpregs (arch/x86/include/uapi/asm/sigcontext.h, struct _fpx_sw_bytes).
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

} // namespace

int Slices::signal_number()
{
  return SIGRTMAX - 1;
}

Slices::Slices(Carrier& carrier, SimTime quantum)
    : carrier_(carrier), ticks_per_quantum_(static_cast<unsigned>(std::max<SimTime>(quantum / tick, 1)))
{
  measure_trap();
  // Signal handlers on their way in or out: steps would end with the handler.
  protect(reinterpret_cast<std::uintptr_t>(&__executable_start), reinterpret_cast<std::uintptr_t>(&etext));
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

bool Slices::uncut(const Thread& thread, const ucontext_t& context) const
{
  const umw_gate& gate = thread.rank.gate;
  if (gate.running == 0 || gate.loading != 0 || carrier_.must_stay(thread) ||
      Signals::on_stack(static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP])))
    return true;
  const std::uintptr_t pc = pc_of(context);
  return std::any_of(protected_.begin(), protected_.end(),
                     [pc](const Range& range) { return pc >= range.begin && pc < range.end; });
}

void Slices::on_tick(ucontext_t& context)
{
  if (engine::in_runtime_world())
    return;
  const engine::Crossing crossing;
  Thread& thread = *carrier_.running();
  if (std::exchange(stepping_, false)) { // else the steps were another thread's, which waits in a system call now
    if (&thread == watched_) {
      stepping_ = true;
      return;
    }
  }
  Watch& watch = thread.watch;
  if (watch.crossings != thread.rank.gate.crossings)
    begin_watch(thread);
  for (const std::uintptr_t lifted : std::exchange(lifted_, {}))
    set_breakpoint(lifted);
  const std::uintptr_t pc = pc_of(context);
  watch.history[watch.ticks++ % watch.history.size()] = {engine::BurstMeter::ticks(), pc};
  if (uncut(thread, context))
    return;
  if (watch.ticks > watch.next_check || (watch.ticks > 1 && known_.contains(pc))) {
    watch.next_check = watch.ticks + std::min(watch.ticks, rarest_check);
    begin_steps(thread, context);
  } else if (watch.ticks % (carrier_.cpu().measured() ? ticks_per_quantum_ : last_resort) == 0) {
    cut(thread, context);
  }
}

void Slices::on_hurry(ucontext_t& context)
{
  if (engine::in_runtime_world() || stepping_)
    return;
  const engine::Crossing crossing;
  Thread& thread = *carrier_.running();
  if (!uncut(thread, context))
    cut(thread, context);
}

void Slices::begin_watch(Thread& thread)
{
  thread.watch.crossings = thread.rank.gate.crossings;
  thread.watch.ticks = 0;
  thread.watch.next_check = carrier_.cpu().measured() ? 1 : first_check;
}

void Slices::begin_steps(Thread& thread, ucontext_t& context)
{
  stepping_ = true;
  watched_ = &thread;
  steps_ = periods_ = pauses_ = 0;
  anchor_ = 0;
  steps_begin_ = engine::BurstMeter::ticks();
  carrier_.pause_burst(watched_->rank);
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
    carrier_.resume_burst(watched_->rank);
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

void Slices::step(ucontext_t& context)
{
  Thread& thread = *carrier_.running();
  const std::uintptr_t pc = pc_of(context);
  if (&thread != watched_ || thread.watch.crossings != thread.rank.gate.crossings || uncut(thread, context) ||
      ++steps_ > most_steps) {
    thread.rank.gate.got_on = 1; // it was no loop, or is one no longer
    end_steps(context);
    return;
  }
  if (waits(pc)) {
    set_breakpoint(pc);
    loop_.push_back(pc);
    park(thread, context);
    return;
  }
  if (as_remembered(context)) {
    if (++periods_ < proof)
      return;
    anchor_ = std::min(pc, *std::min_element(loop_.begin(), loop_.end()));
    if (pc == anchor_)
      park(thread, context);
    return;
  }
  if (pc == anchor_) { // where in its loop a tick happened to find it must not show
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
  // It has spun at least since the earliest tick that found it here without interruption.
  std::uint64_t since = steps_begin_;
  const Watch& watch = thread.watch;
  for (unsigned back = 1; back <= std::min<std::size_t>(watch.ticks, watch.history.size()); ++back) {
    const Watch::Tick& seen = watch.history[(watch.ticks - back) % watch.history.size()];
    if (seen.pc < low || seen.pc > high)
      break;
    since = seen.tsc;
  }
  // What it did since then was no computing.
  umw_clock& clock = rank.gate.clock;
  const double spun = static_cast<double>(steps_begin_ - std::min(since, steps_begin_)) * clock.ps_per_tick;
  clock.debt_ps = std::max<SimTime>(clock.debt_ps - static_cast<SimTime>(spun), 0);
  clock.burst_start = engine::BurstMeter::ticks();
  // What it has done before it came here others may wait for; nothing, if it is still in the same loop.
  const bool still = steps_ <= (proof + 5) * loop_.size();
  interrupt(thread);
  umw_args_umw_slice_park arguments{0, rank.gate.changes, still};
  carrier_.request(thread, UMW_OP_umw_slice_park, &arguments);
  begin_watch(thread);
  if (rank.gate.signal_due != 0) {
    end_steps(context);
    carrier_.deliver_pending(thread, &context);
  } else if (arguments.result != 0) { // let go
    end_steps(context);
  } else {
    begin_steps(thread, context);
  }
}

// The end of a burst that is not the program's doing. What the kernel needs to get here, and to get back from here the last time,
// was no computing.
void Slices::interrupt(Thread& thread)
{
  std::uint64_t& begin = thread.rank.gate.clock.burst_start;
  begin = std::min(begin + trap_entry_ + (std::exchange(thread.trapped, true) ? trap_exit_ : 0),
                   engine::BurstMeter::ticks());
  thread.rank.gate.stays = 0;
}

// Others run, and what the thread has computed so far becomes simulated time.
void Slices::cut(Thread& thread, ucontext_t& context)
{
  interrupt(thread);
  umw_args_umw_slice_cut arguments{};
  carrier_.request(thread, UMW_OP_umw_slice_cut, &arguments);
  thread.watch.crossings = thread.rank.gate.crossings;
  carrier_.deliver_pending(thread, &context);
}

bool Slices::waits(std::uintptr_t pc)
{
  const auto* code = reinterpret_cast<const unsigned char*>(pc);
  if (code[0] != 0xf3 || code[1] != 0x90)
    return false;
  pauses_ = pc == pause_ ? pauses_ + 1 : 1;
  pause_ = pc;
  return pauses_ >= proof;
}

namespace
{

bool write_code(std::uintptr_t pc, unsigned char byte)
{
  auto* start = reinterpret_cast<void*>(pc & ~(page - 1));
  if (mprotect(start, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return false;
  *reinterpret_cast<unsigned char*>(pc) = byte;
  mprotect(start, page, PROT_READ | PROT_EXEC);
  return true;
}

} // namespace

// In place of `pause` (f3 90): int3 (cc), and what is left of it does nothing.
void Slices::set_breakpoint(std::uintptr_t pc)
{
  if (write_code(pc, 0xcc))
    breakpoints_.insert(pc);
}

void Slices::clear_breakpoint(std::uintptr_t pc)
{
  write_code(pc, 0xf3);
  breakpoints_.erase(pc);
}

bool Slices::on_trap(const siginfo_t& information, ucontext_t& context)
{
  if (information.si_code == TRAP_TRACE) {
    if (!stepping_) { // left over: the runtime was entered with the flag set
      set_trap_flag(context, false);
      return true;
    }
    if (engine::in_runtime_world()) {
      end_steps(context);
      return true;
    }
    const engine::Crossing crossing;
    step(context);
    return true;
  }
  if (engine::in_runtime_world() || !breakpoints_.contains(pc_of(context) - 1))
    return false;
  engine::Crossing crossing;
  if (stepping_)
    end_steps(context);
  Thread& thread = *carrier_.running();
  const std::uint64_t crossings = thread.rank.gate.crossings;
  if (uncut(thread, context))
    return true; // the rest of the instruction does nothing
  if (thread.passes > 0 && thread.passes_since == crossings) {
    --thread.passes;
    return true;
  }
  // With the same registers it is still in the same loop and has done nothing but look.
  const greg_t* registers = context.uc_mcontext.gregs;
  const bool idle = std::equal(registers, registers + REG_RIP + 1, thread.at_pause);
  std::memcpy(thread.at_pause, registers, sizeof thread.at_pause);
  interrupt(thread);
  umw_args_umw_slice_pause arguments{0, thread.rank.gate.changes, idle};
  carrier_.request(thread, UMW_OP_umw_slice_pause, &arguments);
  if (arguments.result == 0) {
    thread.let_go = 0;
  } else if (!carrier_.cpu().measured() && thread.let_go < most_counted) {
    thread.passes = std::min(first_passes << std::min(thread.let_go, 16U), most_passes);
    thread.passes_since = crossings;
    ++thread.let_go;
  } else {
    const std::uintptr_t pc = pc_of(context) - 1;
    clear_breakpoint(pc);
    lifted_.push_back(pc);
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
  }
  carrier_.deliver_pending(thread, &context);
  return true;
}

} // namespace umwelt::world
