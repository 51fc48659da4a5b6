// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/world/carrier.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loader/high_memory.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/symbols.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/world/signals.h"
#include "runtime/world/slices.h"

namespace umwelt::world
{

std::size_t main_stack()
{
  constexpr std::size_t largest = 1UL << 30; // for "unlimited"
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  return std::clamp<std::size_t>(limit.rlim_cur, smallest_stack, largest);
}

Carrier::Carrier(engine::Scheduler& fibers, Cpu& cpu) : fibers_(fibers), cpu_(cpu)
{
  loader::high_memory(); // before anything is loaded
}

Carrier::~Carrier() = default;

void Carrier::begin_slices(SimTime quantum)
{
  slices_ = std::make_unique<Slices>(*this, quantum);
}

void Carrier::end_slices()
{
  slices_.reset();
  use_file_mask(own_file_mask_);
  if (std::exchange(dispatching_, false))
    engine::disable_syscall_dispatch();
}

void Carrier::call(Thread& thread, std::uint32_t operation, void* arguments)
{
  Rank& rank = thread.rank;
  thread.trapped = false;
  switch (operation) {
  case UMW_OP_umw_burst_paused: {
    auto* a = static_cast<umw_args_umw_burst_paused*>(arguments);
    if (a->begin != 0)
      pause_burst(rank);
    else
      resume_burst(rank);
    a->result = 0;
    return;
  }
  case UMW_OP_umw_file_mask: {
    auto* a = static_cast<umw_args_umw_file_mask*>(arguments);
    a->result = static_cast<int>(std::exchange(rank.file_mask, static_cast<mode_t>(a->mask)));
    use_file_mask(rank.file_mask);
    return;
  }
  case UMW_OP_umw_change_directory: {
    auto* a = static_cast<umw_args_umw_change_directory*>(arguments);
    a->result = change_directory(rank, a->path, a->fd);
    return;
  }
  case UMW_OP_umw_die: {
    const auto* a = static_cast<const umw_args_umw_die*>(arguments);
    die(thread, a->number, static_cast<const siginfo_t*>(a->information), static_cast<const ucontext_t*>(a->context));
  }
  default:
    break;
  }
  ++rank.gate.crossings;
  rank.gate.stays = must_stay();
  request(thread, operation, arguments);
}

bool Carrier::must_stay()
{
  return Signals::on_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

// --- life of a rank --------------------------------------------------------------------------------------------------

void Carrier::live(Thread& main)
{
  Rank& rank = main.rank;
  if (const auto failure = load(main); !failure.text.empty()) {
    umw_args_umw_not_loaded arguments{0, failure.text.c_str(), static_cast<int>(failure.gave_up)};
    request(main, UMW_OP_umw_not_loaded, &arguments);
  }
  begin_burst(main);
  rank.linker.go_on(engine::detail::have_fsgsbase);
}

loader::Linker::Failure Carrier::load(Thread& main)
{
  Rank& rank = main.rank;
  rank.gate.high_memory = &loader::high_memory();
  const engine::Stack& stack = main.fiber->stack();
  loader::LinkerStart start{rank.interpreter,
                            rank.shim,
                            rank.program_path,
                            {},
                            {},
                            rank.linked_at,
                            static_cast<char*>(stack.top()) - stack.size()};
  for (std::string& word : rank.argv)
    start.argv.push_back(word.data());
  start.argv.push_back(nullptr);
  for (std::string& entry : rank.environment)
    start.envp.push_back(entry.data());
  start.envp.push_back(nullptr);
  begin_burst(main); // in the rank's folder
  auto failure = rank.linker.load(start);
  cpu_.skip(); // files were read
  if (!failure.text.empty())
    return failure;
  main.thread_pointer = rank.linker.thread_pointer();
  main.kernel_id = rank.linker.kernel_id();
  diagnose::add_rank(rank.gate, *rank.linker.debug(), rank.program_path);
  rank.uninterruptible = rank.linker.code_of_shim();
  return {};
}

Thread& Carrier::add_thread(Rank& rank)
{
  rank.threads.push_back(std::make_unique<Thread>(rank));
  if (rank.threads.size() > 1 && !dispatching_ && engine::have_syscall_dispatch())
    dispatching_ = engine::enable_syscall_dispatch();
  return *rank.threads.back();
}

void Carrier::live(Thread& thread, umw_thread_start start, void* argument)
{
  begin_burst(thread);
  {
    const engine::Excursion excursion(thread.thread_pointer, dispatches(thread.rank));
    start(argument);
  }
  __builtin_unreachable(); // it ends with umw_thread_end
}

bool Carrier::deliver_pending(Thread& thread, void* context)
{
  umw_gate& gate = thread.rank.gate;
  if (gate.signal_due == 0 || gate.deliver_pending == nullptr)
    return false;
  const engine::Excursion excursion(thread.thread_pointer, dispatches(thread.rank));
  return gate.deliver_pending(context);
}

// The message: what belongs to the first line, then the rest of the report.
void Carrier::die(Thread& thread, int signal, const siginfo_t* information, const ucontext_t* context)
{
  std::string text;
  const bool at_address = information != nullptr && (signal == SIGSEGV || signal == SIGBUS);
  if (at_address)
    text = fmt::format(" at address {}", information->si_addr);
  else if (information != nullptr && signal == SIGTRAP)
    text = fmt::format(", si_code {}", information->si_code);
  text += '\n';
  const engine::Stack& stack = thread.fiber->stack();
  if (at_address && stack.guards(information->si_addr))
    text += fmt::format("    its stack of {} MiB is used up. Next step: ulimit -s with a larger value, or unlimited\n",
                        stack.size() >> 20);
  text += context != nullptr ? diagnose::backtrace_of(*context) : diagnose::backtrace_here();
  umw_args_umw_died arguments{0, signal, text.c_str()};
  request(thread, UMW_OP_umw_died, &arguments);
  __builtin_unreachable();
}

// --- bursts ------------------------------------------------------------------------------------------------------------

void Carrier::begin_burst(const Thread& thread)
{
  const Rank& rank = thread.rank;
  if (rank.folder != current_folder_) [[unlikely]]
    use_folder_of(rank);
  if (rank.file_mask != current_file_mask_) [[unlikely]]
    use_file_mask(rank.file_mask);
  rank.gate.kernel_tid = thread.kernel_id;
  if (cpu_.measured())
    rank.gate.clock.burst_start = engine::BurstMeter::ticks();
}

void Carrier::pause_burst(Rank& rank)
{
  if (!cpu_.measured())
    return;
  const SimTime burst = cpu_.charge(cpu_.measure(rank.gate.clock.burst_start), true);
  rank.gate.clock.debt_ps += static_cast<SimTime>(static_cast<double>(burst) / rank.speed);
}

void Carrier::resume_burst(Rank& rank)
{
  cpu_.skip();
  rank.gate.clock.burst_start = engine::BurstMeter::ticks();
}

// --- what a process has only once ---------------------------------------------------------------------------------------

void Carrier::use_folder_of(const Rank& rank)
{
  if (fchdir(rank.folder->fd()) == 0)
    current_folder_ = rank.folder;
}

void Carrier::use_file_mask(mode_t mask)
{
  umask(mask);
  current_file_mask_ = mask;
}

int Carrier::change_directory(Rank& rank, const char* path, int fd)
{
  if (rank.folder != current_folder_)
    use_folder_of(rank);
  auto folder = std::make_shared<Folder>(path != nullptr ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)
                                                         : openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder->fd() < 0 || fchdir(folder->fd()) != 0)
    return -errno;
  rank.folder = current_folder_ = std::move(folder);
  return 0;
}

} // namespace umwelt::world
