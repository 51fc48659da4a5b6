// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/worker/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/base/exit_codes.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/fatal.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/rank_host/cross.h"
#include "runtime/rank_host/signals.h"
#include "runtime/worker/arguments.h"

namespace umwelt::worker
{

namespace
{

constexpr std::int64_t look_up = 1'000'000'000; // ns between looks around when nothing is heard
// A thread that was let in between others' computing is often let go on again at once.
constexpr std::int64_t spin_ns = 30'000; // ns

WorkerProcess* worker = nullptr;

void on_report_signal(int, siginfo_t*, void* context)
{
  const engine::Crossing crossing;
  worker->on_report(*static_cast<const ucontext_t*>(context), crossing.from_rank());
}

constexpr bool ends_thread(std::uint32_t operation)
{
  return operation == UMW_OP_umw_exit || operation == UMW_OP_umw_died || operation == UMW_OP_umw_thread_end ||
         operation == UMW_OP_umw_not_loaded;
}

} // namespace

WorkerProcess::WorkerProcess(Workers& workers, unsigned index, rank_host::Cpu& cpu)
    : RankHost(scheduler, cpu), workers_(workers), index_(index), mailbox_(workers.board().mailbox(index)),
      threads_(slots_per_worker), turn_(slots_per_worker), owes_(slots_per_worker)
{
  worker = this;
}

void WorkerProcess::run(const std::vector<Seat>& seats, const rank_host::Work& work)
{
  const rank_host::Signals signals(*this);
  engine::install_handler(Workers::report_signal(), on_report_signal, SA_ONSTACK | SA_RESTART);
  scheduler.on_stall = [this] { return hear(); };
  begin_slices(work);
  for (const Seat& seat : seats) {
    seat.rank->gate.cross = rank_host::umwelt_cross;
    rank_host::Thread& main = add_thread(*seat.rank);
    begin(main, seat.slot, rank_host::main_stack(), [this, &main] { live(main); });
  }
  scheduler.run();
  for (;;)
    pause(); // every thread has ended; the runtime ends the worker process
}

void WorkerProcess::begin(rank_host::Thread& thread, unsigned slot, std::size_t stack_bytes, std::function<void()> body)
{
  thread.slot = slot;
  threads_[slot] = &thread;
  turn_[slot] = false;
  thread.fiber = &scheduler.spawn(
      {},
      [this, &thread, run = std::move(body)] {
        await_turn(thread);
        run();
      },
      stack_bytes);
  thread.fiber->owner = &thread;
}

rank_host::Thread* WorkerProcess::running() const
{
  const engine::Actor* fiber = scheduler.current();
  return fiber != nullptr ? static_cast<rank_host::Thread*>(fiber->owner) : nullptr;
}

// --- requests --------------------------------------------------------------------------------------------------------

void WorkerProcess::request(rank_host::Thread& thread, std::uint32_t operation, void* arguments)
{
  if (operation == UMW_OP_umw_slice_cut && may_go_ahead(thread)) {
    take_turns(thread);
    return;
  }
  workers_.board().slot(index_, thread.slot).burst = end_burst(thread);
  if (operation == UMW_OP_umw_thread_create)
    create_thread(thread, *static_cast<umw_args_umw_thread_create*>(arguments));
  else
    send(thread, operation, arguments);
  begin_burst(thread);
}

void WorkerProcess::send(rank_host::Thread& thread, std::uint32_t operation, void* arguments)
{
  Slot& slot = workers_.board().slot(index_, thread.slot);
  Arguments copied(slot, operation, arguments);
  if (!copied.fit()) {
    const std::string text =
        fmt::format("a request of {} bytes; ranks in worker processes can make requests of {} KiB. Next step: "
                    "--workers 0, if there are few ranks",
                    copied.needed(), arena_bytes >> 10);
    slot.used = 0;
    umw_args_umw_exit refusal{0, exit_code::failure, UMW_EXIT_ABORT, text.c_str()};
    send(thread, UMW_OP_umw_exit, &refusal);
  }
  slot.operation = operation;
  slot.arguments = copied.copy();
  slot.turn = Slot::Turn::request;
  hand_over(thread);
  if (ends_thread(operation))
    scheduler.end_current();
  for (await_turn(thread); slot.turn == Slot::Turn::deliver; await_turn(thread)) {
    begin_burst(thread);
    slot.result = deliver_pending(thread, nullptr);
    slot.burst = {};
    slot.turn = Slot::Turn::delivered;
    hand_over(thread);
  }
  copied.bring_back();
}

void WorkerProcess::create_thread(rank_host::Thread& creator, umw_args_umw_thread_create& arguments)
{
  clear_away_ended(creator.rank);
  rank_host::Thread& thread = add_thread(creator.rank);
  thread.thread_pointer = arguments.thread_pointer;
  thread.kernel_id = arguments.kernel_tid;
  send(creator, UMW_OP_umw_thread_create, &arguments);
  if (arguments.result < 0) {
    remove_thread(thread);
    return;
  }
  const auto slot = static_cast<unsigned>(workers_.board().slot(index_, creator.slot).result);
  begin(thread, slot, std::max<std::size_t>(arguments.stack_bytes, rank_host::smallest_stack),
        [this, &thread, start = arguments.start, argument = arguments.argument] { live(thread, start, argument); });
}

// Nobody looks at the main thread's any more either, but its stack is the rank's.
void WorkerProcess::clear_away_ended(const rank_host::Rank& rank)
{
  for (std::size_t i = rank.threads.size(); i-- > 1;) {
    const rank_host::Thread& thread = *rank.threads[i];
    if (thread.fiber == nullptr || thread.fiber->state() != engine::Actor::State::ended) // null: it is being made
      continue;
    if (threads_[thread.slot] == &thread)
      threads_[thread.slot] = nullptr;
    scheduler.release(*thread.fiber);
    remove_thread(thread);
  }
}

void WorkerProcess::hand_over(const rank_host::Thread& thread)
{
  mailbox_.computing.store(0, std::memory_order_relaxed);
  answer(thread);
  prefer_urgent();
}

// The runtime counts those that it has let go on (Workers::collect).
void WorkerProcess::answer(const rank_host::Thread& thread)
{
  owes_[thread.slot] = false;
  mailbox_.to_runtime.push(thread.slot);
  workers_.board().doorbell().ring();
}

void WorkerProcess::abandon(rank_host::Thread& thread)
{
  const bool ended = thread.fiber->state() == engine::Actor::State::ended;
  RankHost::abandon(thread);
  if (ended)
    return; // the slot may be another's
  turn_[thread.slot] = false;
  if (owes_[thread.slot])
    answer(thread);
}

void WorkerProcess::await_turn(const rank_host::Thread& thread)
{
  // Until the runtime says that it waits (Rank::allow_switch), nobody else runs.
  while (thread.rank.gate.no_switch != 0 && !turn_[thread.slot])
    listen(look_up);
  while (!turn_[thread.slot])
    scheduler.block();
  turn_[thread.slot] = false;
  begin_turn(thread);
}

void WorkerProcess::begin_turn(const rank_host::Thread& thread)
{
  mailbox_.computing.store(++turns_ << 32 | (thread.slot + 1), std::memory_order_release);
}

bool WorkerProcess::may_go_ahead(const rank_host::Thread& thread)
{
  const umw_gate& gate = thread.rank.gate;
  return rank_host::Cpu::measures(gate.clock) && gate.clock.debt_ps < __atomic_load_n(&gate.ahead_ps, __ATOMIC_RELAXED);
}

// The burst goes on when others of the worker process have had their turn.
void WorkerProcess::take_turns(rank_host::Thread& thread)
{
  rank_host::Rank& rank = thread.rank;
  if (thread.held == 0)
    pause_burst(rank);
  Slot& slot = workers_.board().slot(index_, thread.slot);
  mailbox_.computing.store(0, std::memory_order_relaxed);
  slot.computed.store(rank.gate.clock.debt_ps, std::memory_order_release);
  const bool hurried = prefer_urgent();
  do
    scheduler.yield();
  while (hurried && listen(spin_ns));
  begin_turn(thread);
  begin_burst(thread);
}

// False: nobody is in a hurry.
bool WorkerProcess::prefer_urgent()
{
  while (hear_of_one())
    continue;
  const std::uint32_t urgent = mailbox_.urgent.exchange(0, std::memory_order_acquire);
  if (urgent == 0)
    return false;
  if (threads_[urgent - 1] != nullptr)
    scheduler.prefer(*threads_[urgent - 1]->fiber);
  return true;
}

// Takes note of a thread that may go on, if there is one.
bool WorkerProcess::hear_of_one()
{
  std::uint32_t slot = 0;
  if (!mailbox_.to_worker.pop(slot))
    return false;
  turn_[slot] = true;
  owes_[slot] = true;
  scheduler.wake(*threads_[slot]->fiber);
  return true;
}

// The same, or waits for that; false: for so many nanoseconds in vain.
bool WorkerProcess::listen(std::int64_t nanoseconds)
{
  const std::uint32_t seen = mailbox_.doorbell.rings();
  if (report_wanted_ != 0)
    report(nullptr);
  if (hear_of_one())
    return true;
  mailbox_.doorbell.wait(seen, nanoseconds);
  return false;
}

// No thread can go on: waits until the runtime lets one.
bool WorkerProcess::hear()
{
  while (!listen(look_up))
    continue;
  return true;
}

// --- signals ---------------------------------------------------------------------------------------------------------

// They reach the runtime as well, which ends the worker processes.
void WorkerProcess::on_request(int, const ucontext_t*)
{
}

void WorkerProcess::on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context)
{
  rank_host::Thread* thread = running();
  if (thread != nullptr && signal != SIGABRT && signal != SIGPIPE)
    die(*thread, signal, &information, &context); // its arguments were looked at
  std::array<char, 256> text;
  const auto end = fmt::format_to_n(text.begin(), text.size(),
                                    "umwelt: worker process {} failed with signal {} ({}): a bug of Umwelt\n", index_,
                                    signal, sigdescr_np(signal));
  diagnose::write_raw({text.data(), static_cast<std::size_t>(end.out - text.begin())});
  diagnose::end_with_backtrace(context, exit_code::failure);
}

void WorkerProcess::on_report(const ucontext_t& context, bool in_rank)
{
  if (in_rank) {
    report(&context);
    return;
  }
  report_wanted_ = 1;
  mailbox_.doorbell.ring();
}

// `interrupted`: where the running thread was; null: no rank runs.
void WorkerProcess::report(const ucontext_t* interrupted)
{
  report_wanted_ = 0;
  const std::uint32_t wanted = mailbox_.reports_wanted.load();
  if (mailbox_.reports.load() == wanted) // it was asked twice for the same
    return;
  const int file = workers_.report_file(index_);
  std::string text;
  for (const rank_host::Thread* thread : threads_) {
    if (thread == nullptr || thread->fiber->state() == engine::Actor::State::ended)
      continue;
    text += fmt::format("{}\n", thread->slot);
    if (interrupted != nullptr && thread == running())
      text += diagnose::backtrace_of(*interrupted);
    else
      scheduler.visit(*thread->fiber, [&text] { text += diagnose::backtrace_here(); });
  }
  if (ftruncate(file, 0) == 0 && pwrite(file, text.data(), text.size(), 0) >= 0)
    mailbox_.reports.store(wanted);
}

} // namespace umwelt::worker
