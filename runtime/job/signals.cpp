// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/signals.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/diagnose/backtrace.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

constexpr std::size_t signal_stack_bytes = 512 * 1024; // backtraces are made on it
constexpr std::array faults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE};
constexpr std::array requests = {SIGINT, SIGTERM, SIGHUP, SIGALRM};

Job* job = nullptr;
bool reporting = false;

// A fault while the runtime's own code runs: its state can no longer be trusted, so only a message and the way out. What
// is left on disk the janitor removes.
[[noreturn]] void die_in_runtime(int signal, const siginfo_t* information, const ucontext_t& context)
{
  if (std::exchange(reporting, true))
    _exit(cli::exit_code::failure);
  const Rank* rank = job->current();
  if (signal == SIGPIPE)
    _exit(cli::exit_code::signalled + SIGPIPE);
  if (rank != nullptr && (signal == SIGSEGV || signal == SIGBUS))
    fmt::print(
        stderr,
        "umwelt: {} died of signal {} ({}) while the simulated NIC or runtime worked on its memory in {}: address {} "
        "is not accessible. Next step: check the buffers passed to that call; if they are right, this is a bug of "
        "Umwelt\n{}",
        rank->title(), signal, strsignal(signal), rank->last_call(), information->si_addr,
        diagnose::backtrace_of(context));
  else
    fmt::print(stderr, "umwelt: the simulation itself failed with signal {} ({}): a bug of Umwelt\n{}", signal,
               strsignal(signal), diagnose::backtrace_of(context));
  std::fflush(stderr);
  _exit(rank != nullptr && signal == SIGSEGV ? cli::exit_code::signalled + signal : cli::exit_code::failure);
}

void on_fault(int signal, siginfo_t* information, void* context)
{
  const engine::Crossing crossing;
  Rank* rank = crossing.from_rank() ? job->current() : nullptr;
  if (rank == nullptr)
    die_in_runtime(signal, information, *static_cast<ucontext_t*>(context));
  bool handled = false;
  if (rank->gate.deliver_signal != nullptr) {
    ++rank->gate.uncut; // on the signal stack nobody may be left standing
    const engine::Excursion excursion(crossing.rank());
    handled = rank->gate.deliver_signal(signal, information, context);
    --rank->gate.uncut;
  }
  if (!handled)
    job->died(*rank, signal, information, static_cast<ucontext_t*>(context));
}

void on_request(int signal, siginfo_t*, void* context)
{
  const engine::Crossing crossing;
  const bool in_rank = crossing.from_rank() && job->scheduler().current() != nullptr;
  if (job->scheduler().stopping() && !in_rank)
    _exit(cli::exit_code::signalled + signal); // asked twice: the runtime does not come round
  job->interrupt(signal, in_rank ? static_cast<ucontext_t*>(context) : nullptr);
  alarm(1); // the second request, should the first not be heeded
  if (in_rank)
    job->abandon();
}

// The next three run on the stack they interrupt: the thread may be left standing there while others run.
void on_tick(int, siginfo_t*, void* context)
{
  if (job->running())
    job->slices().on_tick(*static_cast<ucontext_t*>(context));
}

void on_trap(int signal, siginfo_t* information, void* context)
{
  if (Slices::calibrates())
    return;
  if (!job->running() || !job->slices().on_trap(*information, *static_cast<ucontext_t*>(context)))
    on_fault(signal, information, context);
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
    Rank& rank = *job->current();
    rank.set_last_call("futex");
    rank.enter(false);
    registers[REG_RAX] = job->futexes().call(
        rank.running(), reinterpret_cast<std::uint32_t*>(argument(REG_RDI)), static_cast<int>(argument(REG_RSI)),
        static_cast<std::uint32_t>(argument(REG_RDX)), argument(REG_R10),
        reinterpret_cast<std::uint32_t*>(argument(REG_R8)), static_cast<std::uint32_t>(argument(REG_R9)));
    rank.leave();
    return;
  }
  case SYS_exit_group: {
    const engine::Crossing crossing;
    job->exited(*job->current(), static_cast<int>(argument(REG_RDI) & 0xff));
  }
  case SYS_clone:
  case SYS_clone3:
  case SYS_fork:
  case SYS_vfork: // the child must return from it where it stands: once more, without dispatch until the next crossing
    engine::detail::syscall_selector = 0;
    registers[REG_RIP] -= 2;
    return;
  default:
    registers[REG_RAX] =
        engine::umw_raw_syscall(information->si_syscall, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                registers[REG_R10], registers[REG_R8], registers[REG_R9]);
  }
}

} // namespace

Signals::Signals(Job& owner)
{
  job = &owner;
  stack_ = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  stack_t stack{};
  stack.ss_sp = stack_;
  stack.ss_size = signal_stack_bytes;
  sigaltstack(&stack, nullptr);
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
  ::signal(SIGTRAP, SIG_DFL);
  ::signal(SIGSYS, SIG_DFL);
  ::signal(Slices::signal_number(), SIG_IGN); // one may still be on its way
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(stack_, signal_stack_bytes);
}

} // namespace umwelt::job
