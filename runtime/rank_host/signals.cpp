// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/signals.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loader/parked_thread.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/rank_host/slices.h"
#include "runtime/rank_host/trap_cost.h"

namespace umwelt::rank_host
{

namespace
{

constexpr std::size_t signal_stack_bytes = 512 * 1024; // backtraces are made on it
constexpr std::size_t room_for_report = 128 * 1024;
constexpr std::array faults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE};
constexpr std::array requests = {SIGINT, SIGTERM, SIGHUP, SIGALRM};

RankHost* rank_host = nullptr;
const engine::Stack* stack = nullptr;

std::uintptr_t lowest_of_stack()
{
  return reinterpret_cast<std::uintptr_t>(stack->top()) - stack->size();
}

bool is_readable(std::uintptr_t place)
{
  char byte = 0;
  const iovec to{&byte, 1};
  const iovec from{reinterpret_cast<void*>(place), 1}; // NOLINT(performance-no-int-to-ptr)
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

// A tick's frame is some kilobytes of the stack that is interrupted. Where those are not left the kernel drops the tick
// and sends SIGSEGV instead (force_sigsegv() in Linux' kernel/signal.c), of which a program that is content with what
// it has left must not hear. The same from the same place, again and again with hardly any time between, is a fault of
// the instruction there; two ticks that were held up may come at once.
bool is_tick_without_room(int signal, const siginfo_t& information, const ucontext_t& context)
{
  if (signal != SIGSEGV || information.si_code != SI_KERNEL)
    return false;
  constexpr std::uintptr_t frame = 4096; // at least; more with AVX-512
  constexpr std::uintptr_t red_zone = 128;
  constexpr std::int64_t shortest = 100'000; // ns of CPU time between two ticks
  constexpr unsigned at_once = 3;            // so many ticks never come
  const auto sp = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  // The guard is a page: where the stack pointer has come into it, the frame's end may be in what lies beyond.
  const std::array<std::uintptr_t, 3> places = {sp, sp - red_zone - 1, sp - frame};
  if (std::ranges::all_of(places, is_readable))
    return false;
  static std::uintptr_t last_sp = 0;
  static greg_t last_pc = 0;
  static std::int64_t last_time = 0;
  static unsigned repeats = 0;
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const std::int64_t time = now.tv_sec * 1'000'000'000LL + now.tv_nsec;
  const greg_t pc = context.uc_mcontext.gregs[REG_RIP];
  repeats = sp == last_sp && pc == last_pc && time - last_time < shortest ? repeats + 1 : 0;
  last_sp = sp;
  last_pc = pc;
  last_time = time;
  return repeats < at_once;
}

void on_fault(int signal, siginfo_t* information, void* context)
{
  loader::fault_of_parked_thread(signal);
  const engine::Crossing crossing;
  if (crossing.from_rank() && is_tick_without_room(signal, *information, *static_cast<const ucontext_t*>(context)))
    return;
  if (signal == SIGPIPE && information->si_code == SI_QUEUE) { // nobody reads what ranks print (job/output_relay.h)
    rank_host->on_request(signal, crossing.from_rank() && rank_host->running() != nullptr
                                      ? static_cast<const ucontext_t*>(context)
                                      : nullptr);
    return;
  }
  auto* interrupted = static_cast<ucontext_t*>(context);
  Thread* thread = crossing.from_rank() ? rank_host->running() : nullptr;
  if (thread == nullptr)
    rank_host->on_own_fault(signal, *information, *interrupted);
  umw_gate& gate = thread->rank.gate;
  const bool blocked = (gate.blocked >> (signal - 1) & 1) != 0;
  if (signal == SIGPIPE && blocked) {
    umw_args_umw_signal_send pends{0, gate.pid, gate.tid, signal, information->si_code, 0};
    rank_host->request(*thread, UMW_OP_umw_signal_send, &pends);
    return;
  }
  bool handled = false;
  // Handlers whose faults they handle themselves come to an end when the stack does.
  const bool room = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > lowest_of_stack() + room_for_report;
  // A blocked fault is the end, force_sig_info() of Linux' kernel/signal.c; SIGABRT comes from abort() within the C
  // library, which unblocks it.
  if (gate.deliver_signal != nullptr && room && (!blocked || signal == SIGABRT)) {
    const bool used_up = signal == SIGSEGV && thread->fiber->stack().guards(information->si_addr);
    const engine::Excursion excursion(crossing.rank());
    handled = gate.deliver_signal(signal, information, context, &gate.blocked, used_up);
  }
  // After abort() a handler that returns does not save the process, abort(3).
  if (!handled || signal == SIGABRT)
    rank_host->die(*thread, signal, information, interrupted);
}

void on_request(int signal, siginfo_t*, void* context)
{
  const engine::Crossing crossing;
  rank_host->on_request(signal, crossing.from_rank() && rank_host->running() != nullptr
                                    ? static_cast<const ucontext_t*>(context)
                                    : nullptr);
}

// The next three run on the stack they interrupt: the thread may be left standing there while others run.
void on_tick(int, siginfo_t* information, void* context)
{
  if (information->si_code != SI_TIMER)
    rank_host->on_hurry();
  Slices* const slices = rank_host->slices();
  if (slices == nullptr)
    return;
  if (information->si_code == SI_TIMER)
    slices->on_tick(*static_cast<ucontext_t*>(context));
  else
    slices->on_hurry(*static_cast<ucontext_t*>(context));
}

void on_trap(int signal, siginfo_t* information, void* context)
{
  if (TrapCost::calibrates())
    return;
  Slices* const slices = rank_host->slices();
  const bool done = slices != nullptr ? slices->on_trap(*information, *static_cast<ucontext_t*>(context))
                                      : Slices::is_step(*information);
  if (!done)
    on_fault(signal, information, context);
}

void on_early_trap(int signal, siginfo_t* information, void*)
{
  if (Slices::is_step(*information))
    return;
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// The C library blocks signals while it starts a thread, which inherits that. But for the user's it is as if they were
// not: faults and dispatched system calls may not be blocked.
void take_over_mask(sigset_t& mask)
{
  std::uint64_t now = 0;
  engine::umw_raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<std::int64_t>(&now), sizeof now, 0, 0);
  for (const int signal : requests)
    if ((now >> (signal - 1) & 1) != 0)
      sigaddset(&mask, signal);
    else
      sigdelset(&mask, signal);
}

// Whether a process is made that gets a copy of the memory, clone(2).
bool copies_memory(int number, std::uint64_t first_argument)
{
  switch (number) {
  case SYS_fork:
    return true;
  case SYS_clone:
    return (first_argument & CLONE_VM) == 0;
  case SYS_clone3: // struct clone_args, the first member of which is the flags
    return (*reinterpret_cast<const std::uint64_t*>(first_argument) & CLONE_VM) == 0;
  default:
    return false;
  }
}

// A system call that a rank with several threads makes by itself (engine/syscalls.h).
void on_system_call(int signal, siginfo_t* information, void* context)
{
  if (information->si_code != engine::si_user_dispatch) {
    on_fault(signal, information, context);
    return;
  }
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto argument = [registers](int number) { return static_cast<std::uint64_t>(registers[number]); };
  switch (information->si_syscall) {
  case SYS_futex: {
    const engine::Crossing crossing;
    Thread& thread = *rank_host->running();
    umw_args_umw_futex call{0,
                            reinterpret_cast<std::uint32_t*>(argument(REG_RDI)),
                            static_cast<int>(argument(REG_RSI)),
                            static_cast<std::uint32_t>(argument(REG_RDX)),
                            argument(REG_R10),
                            reinterpret_cast<std::uint32_t*>(argument(REG_R8)),
                            static_cast<std::uint32_t>(argument(REG_R9))};
    do
      rank_host->call(thread, UMW_OP_umw_futex, &call);
    while (!rank_host->deliver_pending(thread, context) && call.result == -EINTR && call.fourth == 0); // SA_RESTART
    registers[REG_RAX] = call.result;
    return;
  }
  case SYS_exit_group: {
    const engine::Crossing crossing;
    umw_args_umw_exit call{0, static_cast<int>(argument(REG_RDI) & 0xff), UMW_EXIT_NORMAL, nullptr};
    rank_host->call(*rank_host->running(), UMW_OP_umw_exit, &call);
    return;
  }
  case SYS_clone:
  case SYS_clone3:
  case SYS_fork:
  case SYS_vfork: // the child must return from it where it stands: once more, without dispatch until the next crossing
    if (copies_memory(information->si_syscall, argument(REG_RDI))) {
      const engine::Crossing crossing;
      if (Slices* const slices = rank_host->slices())
        slices->original_code(rank_host->running()->rank, true);
    }
    engine::detail::syscall_selector = 0;
    registers[REG_RIP] -= 2;
    return;
  default:
    registers[REG_RAX] =
        engine::umw_raw_syscall(information->si_syscall, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                registers[REG_R10], registers[REG_R8], registers[REG_R9]);
  }
  if (information->si_syscall == SYS_rt_sigprocmask)
    take_over_mask(static_cast<ucontext_t*>(context)->uc_sigmask);
}

} // namespace

Signals::Signals(RankHost& owner) : stack_(signal_stack_bytes)
{
  rank_host = &owner;
  stack = &stack_;
  stack_t alternate{};
  alternate.ss_sp = reinterpret_cast<void*>(lowest_of_stack());
  alternate.ss_size = stack->size();
  sigaltstack(&alternate, nullptr);
  for (const int signal : faults)
    engine::install_handler(signal, on_fault, SA_ONSTACK);
  for (const int signal : requests)
    engine::install_handler(signal, on_request, SA_ONSTACK | SA_RESTART);
  engine::install_handler(SIGTRAP, on_trap, 0);
  engine::install_handler(SIGSYS, on_system_call, 0);
  engine::install_handler(Slices::signal_number(), on_tick, SA_RESTART);
}

Signals::~Signals()
{
  for (const int signal : faults)
    ::signal(signal, SIG_DFL);
  for (const int signal : requests)
    ::signal(signal, SIG_DFL);
  tolerate_stray_traps();
  ::signal(SIGSYS, SIG_DFL);
  ::signal(Slices::signal_number(), SIG_IGN); // one may still be on its way
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  stack = nullptr;
}

void Signals::tolerate_stray_traps()
{
  engine::install_handler(SIGTRAP, on_early_trap, 0);
}

bool Signals::on_stack(std::uintptr_t address)
{
  return stack != nullptr && address - lowest_of_stack() <= stack->size();
}

} // namespace umwelt::rank_host
