// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/rank_host.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loader/high_memory.h"
#include "loader/linker.h"
#include "loader/namespace.h"
#include "loader/program.h"
#include "runtime/base/exit_codes.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/symbols.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/rank_host/descriptors.h"
#include "runtime/rank_host/folding.h"
#include "runtime/rank_host/kernel_calls.h"
#include "runtime/rank_host/mpi_counts.h"
#include "runtime/rank_host/path_ends.h"
#include "runtime/rank_host/program_change.h"
#include "runtime/rank_host/signals.h"
#include "runtime/rank_host/slices.h"

namespace umwelt::rank_host
{

namespace
{

// What lies far below where the thread stands was used once: the start of an MPI library goes some 900 KiB deep, and
// most programs never again.
void give_back_stack(const Thread& thread)
{
  constexpr std::uintptr_t page = 4096;
  constexpr std::uintptr_t kept = 64 << 10;
  const auto [bottom, top] = thread.stack_words();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bottom) + page - 1) / page * page;
  const std::uintptr_t end = (here - kept) / page * page;
  if (here < reinterpret_cast<std::uintptr_t>(top) && end > begin)
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

} // namespace

std::size_t main_stack()
{
  constexpr std::size_t largest = 1UL << 30; // for "unlimited"
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  return std::clamp<std::size_t>(limit.rlim_cur, smallest_stack, largest);
}

RankHost* RankHost::here_ = nullptr;

RankHost::RankHost(engine::Scheduler& fibers, Cpu& cpu) : fibers_(fibers), cpu_(cpu)
{
  here_ = this;
  loader::high_memory(); // before anything is loaded
}

RankHost::~RankHost() = default;

void RankHost::begin_slices(const Work& work)
{
  slices_ = std::make_unique<Slices>(*this, work.quantum);
  if (work.kernels)
    kernel_calls_ = std::make_unique<KernelCalls>(*this, work.kernels);
  if (work.folding)
    folding_ = std::make_unique<Folding>(*this, work.folding);
  events_ = work.events;
  if (cpu_.pace().instruction > 0 && !slices_->traced()) {
    path_times_ = std::make_unique<PathTimes>();
    step_count_ = std::make_unique<StepCount>(cpu_.pace(), cpu_.ticks_per_ps());
  }
}

void RankHost::end_slices()
{
  slices_.reset();
  use_file_mask(own_file_mask_);
  if (std::exchange(dispatching_, false))
    engine::disable_syscall_dispatch();
}

void RankHost::call(Thread& thread, std::uint32_t operation, void* arguments)
{
  umw_gate& gate = thread.rank.gate;
  thread.trapped = false;
  if (!thread.kernels.empty()) [[unlikely]]
    KernelCalls::forget_left(thread, thread.first_depth - thread.depth);
  StepCount* const count = step_count();
  if (count != nullptr && operation == UMW_OP_umw_pause_was_long) { // by the steps; they are counted nevertheless
    static_cast<umw_args_umw_pause_was_long*>(arguments)->result = 0;
    return;
  }
  if (count != nullptr)
    counted_ = count->end();
  if (serve_here(thread, operation, arguments)) {
    if (counted_) // the burst goes on
      thread.counted_in_vain = std::exchange(counted_, std::nullopt)->steps;
    return;
  }
  ++gate.crossings;
  if (folding_)
    folding_->crossed(thread.rank);
  gate.no_switch = must_not_switch();
  if (!path_times_) {
    request(thread, operation, arguments);
    return;
  }
  thread.to = path_ends(operation, arguments, thread.depth, gate.quick_polls - thread.polls);
  request(thread, operation, arguments);
  thread.from = path_begins(operation, arguments, thread.depth);
  thread.polls = gate.quick_polls;
  gate.clock.path_ticks = 0;
}

namespace
{

int write_scope_file(const Rank& rank, const char* objects, std::uintptr_t initialiser, char* path)
{
  std::vector<std::string> names;
  for (; *objects != '\0'; objects += names.back().size() + 1)
    names.emplace_back(objects);
  try {
    const std::string file = loader::Namespace::write_scope(rank.gate, rank.loading_directory, names, initialiser);
    if (file.size() >= PATH_MAX)
      return -ENAMETOOLONG;
    std::memcpy(path, file.c_str(), file.size() + 1);
    return 0;
  } catch (const std::system_error& error) {
    return -error.code().value();
  }
}

} // namespace

// What does not concern the simulation. True: the call is served.
bool RankHost::serve_here(Thread& thread, std::uint32_t operation, void* arguments)
{
  Rank& rank = thread.rank;
  switch (operation) {
  case UMW_OP_umw_burst_paused: {
    auto* a = static_cast<umw_args_umw_burst_paused*>(arguments);
    if (a->begin != 0)
      pause_burst(rank);
    else
      resume_burst(rank);
    a->result = 0;
    return true;
  }
  case UMW_OP_umw_mpi_events: {
    auto* a = static_cast<umw_args_umw_mpi_events*>(arguments);
    pause_burst(rank);
    keep_events(rank, a->events, a->bytes);
    resume_burst(rank);
    a->result = 0;
    return true;
  }
  case UMW_OP_umw_pause_was_long: {
    auto* a = static_cast<umw_args_umw_pause_was_long*>(arguments);
    rank.gate.clock.burst_start = cpu_.exclude(rank.gate.clock.burst_start, a->begin);
    a->result = 0;
    return true;
  }
  case UMW_OP_umw_scope_file: {
    auto* a = static_cast<umw_args_umw_scope_file*>(arguments);
    pause_burst(rank);
    a->result = write_scope_file(rank, a->objects, a->initialiser, a->path);
    resume_burst(rank);
    return true;
  }
  case UMW_OP_umw_clock_path:
    settle_path(thread);
    static_cast<umw_args_umw_clock_path*>(arguments)->result = 0;
    return true;
  case UMW_OP_umw_original_code: {
    auto* a = static_cast<umw_args_umw_original_code*>(arguments);
    if (slices_)
      slices_->original_code(rank, a->original != 0);
    if (kernel_calls_)
      KernelCalls::lead(thread, a->original != 0);
    a->result = 0;
    return true;
  }
  case UMW_OP_umw_stack_top:
    static_cast<umw_args_umw_stack_top*>(arguments)->result =
        reinterpret_cast<std::uint64_t>(thread.fiber->stack().top());
    return true;
  case UMW_OP_umw_file_mask: {
    auto* a = static_cast<umw_args_umw_file_mask*>(arguments);
    a->result = static_cast<int>(std::exchange(rank.file_mask, static_cast<mode_t>(a->mask)));
    use_file_mask(rank.file_mask);
    return true;
  }
  case UMW_OP_umw_change_directory: {
    auto* a = static_cast<umw_args_umw_change_directory*>(arguments);
    a->result = change_directory(rank, a->path, a->fd);
    return true;
  }
  case UMW_OP_umw_exec_find: {
    auto* a = static_cast<umw_args_umw_exec_find*>(arguments);
    a->result = find_program(thread, a->path, a->argv, a->environment);
    return true;
  }
  case UMW_OP_umw_exec:
    change_program(thread);
  case UMW_OP_umw_die: {
    const auto* a = static_cast<const umw_args_umw_die*>(arguments);
    die(thread, a->number, static_cast<const siginfo_t*>(a->information), static_cast<const ucontext_t*>(a->context));
  }
  case UMW_OP_umw_fence:
    give_back_stack(thread);
    return false;
  case UMW_OP_umw_exit:
    if (kernel_calls_)
      kernel_calls_->tell_totals(thread);
    if (folding_)
      folding_->tell_totals(thread);
    tell_mpi_totals(*this, thread);
    keep_last_events(rank);
    close_descriptors(rank.gate);
    return false;
  default:
    return folding_ && folding_->serve(thread, operation, arguments);
  }
}

void RankHost::give_up_count(Thread& thread)
{
  if (StepCount* const count = step_count())
    thread.counted_in_vain = std::max<std::uint64_t>(count->end().steps, 1);
}

void RankHost::end_misused(Thread& thread, const std::string& text)
{
  umw_args_umw_exit end{0, exit_code::usage, UMW_EXIT_MISUSE, text.c_str()};
  call(thread, UMW_OP_umw_exit, &end);
  __builtin_unreachable();
}

bool RankHost::begin_count(Thread& thread)
{
  // The way back from a kernel leads through the runtime, where it cannot be followed.
  if (!path_times_ || thread.rank.gate.running == 0 || !thread.kernels.empty() ||
      !path_times_->wants_count(thread.from))
    return false;
  step_count_->begin(thread);
  return true;
}

bool RankHost::must_not_switch()
{
  return Signals::on_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

// --- life of a rank --------------------------------------------------------------------------------------------------

Thread::Thread(Rank& of) : rank(of)
{
}
Thread::~Thread() = default;

Thread::StackWords Thread::stack_words() const
{
  const engine::Stack& stack = fiber->stack();
  const char* const top = static_cast<const char*>(stack.top());
  return {reinterpret_cast<const std::uint64_t*>(top - stack.size()),
          static_cast<const std::uint64_t*>(base != nullptr ? base : stack.top())};
}

Rank::Rank(umw_gate& g) : gate(g)
{
  if (gate.clock.speed == 0) // nobody has said how fast it is (Cpu::use)
    gate.clock.speed = gate.clock.pace = 1;
}
Rank::~Rank() = default;

void RankHost::live(Thread& main)
{
  Rank& rank = main.rank;
  main.base = __builtin_frame_address(0);
  if (const auto failure = load(main); !failure.text.empty()) {
    umw_args_umw_not_loaded arguments{0, failure.text.c_str(), static_cast<int>(failure.gave_up)};
    request(main, UMW_OP_umw_not_loaded, &arguments);
  }
  begin_burst(main);
  rank.loader->go_on(engine::detail::have_fsgsbase);
}

void RankHost::await_linker(Thread& main)
{
  while (loader::Namespace::turn().owner != 0) {
    constexpr std::int64_t a_while = 1'000'000; // ps
    umw_args_umw_thread_wait arguments{0, main.rank.gate.wakes, a_while, 0, 0};
    request(main, UMW_OP_umw_thread_wait, &arguments);
  }
}

loader::RankLoader::Failure RankHost::load(Thread& main)
{
  Rank& rank = main.rank;
  if (rank.gate.loader == UMW_LOADER_NAMESPACE) {
    await_linker(main);
    rank.loader = std::make_unique<loader::Namespace>(rank.gate, rank.loading_directory);
  } else {
    rank.loader = std::make_unique<loader::Linker>(rank.gate);
  }
  rank.gate.high_memory = &loader::high_memory();
  rank.gate.descriptor_owners = descriptor_owners();
  rank.gate.openers = openers();
  const engine::Stack& stack = main.fiber->stack();
  loader::LoadStart start{rank.interpreter,
                          rank.preloaded,
                          rank.program_path,
                          rank.libraries,
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
  begin_burst(main); // in the rank's directory
  auto failure = rank.loader->load(start);
  if (!failure.text.empty())
    return failure;
  main.thread_pointer = rank.loader->thread_pointer();
  main.kernel_id = rank.loader->kernel_id();
  diagnose::add_rank(rank.gate, *rank.loader, rank.program_path);
  rank.of_process = rank.loader->code_of_process();
  rank.uninterruptible = rank.loader->code_of_shim();
  rank.uninterruptible.insert(rank.uninterruptible.end(), rank.of_process.begin(), rank.of_process.end());
  rank.locking = rank.loader->code_of_c_library();
  rank.code = rank.loader->code_of_program();
  if (kernel_calls_) {
    kernel_calls_->take_over(main);
    KernelCalls::lead(main, false);
  }
  if (slices_) // then its linker may call KernelCalls when it has opened something, and they say so
    slices_->take_over_time_stamps(rank);
  return {};
}

int RankHost::find_program(Thread& thread, const char* path, const void* argv, const void* environment)
{
  Rank& rank = thread.rank;
  umw_args_umw_exec_allowed question{0, 0};
  request(thread, UMW_OP_umw_exec_allowed, &question);
  if (question.result != 0)
    return question.result;
  const auto refuse = [&](int error, const std::string& why) {
    umw_args_umw_warn line{0, why.c_str()};
    request(thread, UMW_OP_umw_warn, &line);
    return -error;
  };
  pause_burst(rank);
  int error = 0;
  std::string why;
  try {
    rank.next = std::make_unique<ProgramChange>(
        ProgramChange::find(path, static_cast<const char* const*>(argv), static_cast<const char* const*>(environment)));
    if (rank.gate.loader == UMW_LOADER_NAMESPACE && !loader::Namespace::is_one_left()) {
      error = ENOMEM;
      why = fmt::format("exec of {} refused (ENOMEM): with --loader dlmopen a process has {} namespaces, and all are "
                        "used. Next step: --loader linker, or --workers with more processes",
                        path, loader::Namespace::capacity);
    } else if (!loader::RankLoader::has_place(rank.next->linked_at)) {
      error = ENOMEM;
      why = fmt::format(
          "exec of {} refused (ENOMEM): it is not position-independent (ET_EXEC), and the place that it needs in its "
          "process is taken. Next step: link it with -pie, or give it to umwelt run itself",
          path);
    }
  } catch (const loader::Refusal& refusal) {
    error = refusal.kind() == loader::Refusal::Kind::not_found ? ENOENT : ENOEXEC;
    if (error == ENOEXEC)
      why = fmt::format("exec refused (ENOEXEC): {}", refusal.what());
  } catch (const std::exception& failure) {
    error = ENOMEM;
    why = fmt::format("exec of {} failed (ENOMEM): {}", path, failure.what());
  }
  resume_burst(rank);
  return why.empty() ? -error : refuse(error, why);
}

namespace
{

// Calls `function` with the stack as it was when the fiber began; what lies below is given up.
[[noreturn]] void begin_again(void* base, void (*function)(void*), void* argument)
{
  constexpr std::uintptr_t gap = 1024; // what the frame at `base` itself has
  asm volatile("mov %0, %%rsp\n\t"
               "xor %%ebp, %%ebp\n\t"
               "call *%1"
               :
               : "r"((reinterpret_cast<std::uintptr_t>(base) - gap) & ~std::uintptr_t{15}), "r"(function), "D"(argument)
               : "memory");
  __builtin_unreachable();
}

} // namespace

void RankHost::abandon(Thread& thread)
{
  fibers_.kill(*thread.fiber);
}

// Its memory, and the thread that its dynamic linker began in, stay behind: there is no telling what else of the
// process knows of them.
void RankHost::change_program(Thread& main)
{
  Rank& rank = main.rank;
  umw_gate& gate = rank.gate;
  tell_mpi_totals(*this, main);
  keep_last_events(rank);
  {
    const std::string text = rank.next->packed();
    umw_args_umw_exec_done news{0, text.data(), text.size()};
    request(main, UMW_OP_umw_exec_done, &news);
  }
  for (const auto& thread : rank.threads)
    if (thread.get() != &main && thread->fiber != nullptr)
      abandon(*thread);
  std::exchange(rank.next, nullptr)->apply(rank);
  if (folding_)
    folding_->program_changed(main);
  gate.deliver_signal = nullptr;
  gate.deliver_pending = nullptr;
  gate.find_object = nullptr;
  gate.no_preempt = 0;
  end_opening(gate);
  gate.line_open = 0;
  gate.handover = {};
  for (umw_shared_range& range : gate.shared)
    range = {};
  for (umw_mpi_call& call : gate.mpi_calls)
    call = {};
  rank.uninterruptible.clear();
  rank.of_process.clear();
  rank.locking.clear();
  main.watch = {};
  struct Again {
    RankHost* rank_host;
    Thread* main;
  };
  static Again again; // one at a time, and nothing runs in between
  again = {this, &main};
  begin_again(
      main.base, [](void* what) { static_cast<Again*>(what)->rank_host->live(*static_cast<Again*>(what)->main); },
      &again);
}

Thread& RankHost::add_thread(Rank& rank)
{
  rank.threads.push_back(std::make_unique<Thread>(rank));
  if (rank.threads.size() > 1 && !dispatching_ && engine::have_syscall_dispatch())
    dispatching_ = engine::enable_syscall_dispatch();
  return *rank.threads.back();
}

void RankHost::remove_thread(const Thread& thread)
{
  if (slices_)
    slices_->forget(thread);
  std::erase_if(thread.rank.threads, [&thread](const auto& each) { return each.get() == &thread; });
}

void RankHost::live(Thread& thread, umw_thread_start start, void* argument)
{
  if (kernel_calls_)
    KernelCalls::lead(thread, false);
  begin_burst(thread);
  {
    const engine::Excursion excursion(thread.thread_pointer, dispatches(thread.rank));
    start(argument);
  }
  __builtin_unreachable(); // it ends with umw_thread_end
}

bool RankHost::deliver_pending(Thread& thread, void* context)
{
  umw_gate& gate = thread.rank.gate;
  if (gate.signal_due == 0 || gate.deliver_pending == nullptr)
    return false;
  const engine::Excursion excursion(thread.thread_pointer, dispatches(thread.rank));
  return gate.deliver_pending(context);
}

// The message: what belongs to the first line, then the rest of the report.
void RankHost::die(Thread& thread, int signal, const siginfo_t* information, const ucontext_t* context)
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
  close_descriptors(thread.rank.gate);
  umw_args_umw_died arguments{0, signal, text.c_str()};
  request(thread, UMW_OP_umw_died, &arguments);
  __builtin_unreachable();
}

// --- what a process has only once ------------------------------------------------------------------------------------

void RankHost::use_directory_of(const Rank& rank)
{
  if (fchdir(rank.directory->fd()) == 0)
    current_directory_ = rank.directory;
}

void RankHost::use_file_mask(mode_t mask)
{
  umask(mask);
  current_file_mask_ = mask;
}

int RankHost::change_directory(Rank& rank, const char* path, int fd)
{
  if (rank.directory != current_directory_)
    use_directory_of(rank);
  auto directory = std::make_shared<Directory>(path != nullptr ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)
                                                               : openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory->fd() < 0 || fchdir(directory->fd()) != 0)
    return -errno;
  rank.directory = current_directory_ = std::move(directory);
  return 0;
}

} // namespace umwelt::rank_host
