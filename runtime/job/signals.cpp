// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/signals.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/diagnose/backtrace.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

constexpr std::size_t signal_stack_bytes = 512 * 1024; // backtraces are made on it
constexpr std::array faults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE};
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
  const engine::ThreadPointer before = engine::read_thread_pointer();
  engine::write_thread_pointer(engine::runtime_thread_pointer());
  Rank* rank = before == engine::runtime_thread_pointer() ? nullptr : job->current();
  if (rank == nullptr)
    die_in_runtime(signal, information, *static_cast<ucontext_t*>(context));
  bool handled = false;
  if (rank->gate.deliver_signal != nullptr) {
    const engine::Excursion excursion(before);
    handled = rank->gate.deliver_signal(signal, information, context);
  }
  if (!handled)
    job->died(*rank, signal, information, static_cast<ucontext_t*>(context));
  engine::write_thread_pointer(before);
}

void on_request(int signal, siginfo_t*, void*)
{
  const engine::ThreadPointer before = engine::read_thread_pointer();
  engine::write_thread_pointer(engine::runtime_thread_pointer());
  const bool in_rank = before != engine::runtime_thread_pointer() && job->scheduler().current() != nullptr;
  if (job->scheduler().stopping() && !in_rank)
    _exit(cli::exit_code::signalled + signal); // asked twice: the runtime does not come round
  job->interrupt(signal);
  alarm(1); // the second request, should the first not be heeded
  if (in_rank)
    job->abandon();
  engine::write_thread_pointer(before);
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
  struct sigaction action {
  };
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  action.sa_sigaction = on_fault;
  for (const int signal : faults)
    sigaction(signal, &action, nullptr);
  action.sa_flags |= SA_RESTART;
  action.sa_sigaction = on_request;
  for (const int signal : requests)
    sigaction(signal, &action, nullptr);
}

Signals::~Signals()
{
  for (const int signal : faults)
    ::signal(signal, SIG_DFL);
  for (const int signal : requests)
    ::signal(signal, SIG_DFL);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(stack_, signal_stack_bytes);
}

} // namespace umwelt::job
