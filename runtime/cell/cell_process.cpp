// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cell/cell_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cell/arguments.h"
#include "runtime/base/exit_codes.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/fatal.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/world/cross.h"
#include "runtime/world/signals.h"

namespace umwelt::cell
{

namespace
{

constexpr std::int64_t look_up = 1'000'000'000; // ns between looks around when nothing is heard
// A thread that was let in between others' computing is often let go on again at once.
constexpr std::int64_t patience = 30'000; // ns

CellProcess* cell = nullptr;

void on_report_signal(int, siginfo_t*, void* context)
{
  const engine::Crossing crossing;
  cell->on_report(*static_cast<const ucontext_t*>(context), crossing.from_rank());
}

constexpr bool ends_thread(std::uint32_t operation)
{
  return operation == UMW_OP_umw_exit || operation == UMW_OP_umw_died || operation == UMW_OP_umw_thread_end ||
         operation == UMW_OP_umw_not_loaded;
}

} // namespace

CellProcess::CellProcess(Cells& cells, unsigned index, world::Cpu& cpu)
    : Carrier(scheduler, cpu), cells_(cells), index_(index), mailbox_(cells.board().mailbox(index)),
      threads_(slots_per_cell), turn_(slots_per_cell)
{
  cell = this;
}

void CellProcess::run(const std::vector<Seat>& seats, world::SimTime quantum)
{
  const world::Signals signals(*this);
  engine::install_handler(Cells::report_signal(), on_report_signal, SA_ONSTACK | SA_RESTART);
  scheduler.on_stall = [this] { return hear(); };
  begin_slices(quantum);
  for (const Seat& seat : seats) {
    seat.rank->gate.cross = world::umwelt_cross;
    world::Thread& main = add_thread(*seat.rank);
    begin(main, seat.slot, world::main_stack(), [this, &main] { live(main); });
  }
  scheduler.run();
  for (;;)
    pause(); // every thread has ended; the runtime ends the cell
}

void CellProcess::begin(world::Thread& thread, unsigned slot, std::size_t stack_bytes, std::function<void()> body)
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

world::Thread* CellProcess::running() const
{
  const engine::Actor* fiber = scheduler.current();
  return fiber != nullptr ? static_cast<world::Thread*>(fiber->owner) : nullptr;
}

// --- requests --------------------------------------------------------------------------------------------------------

void CellProcess::request(world::Thread& thread, std::uint32_t operation, void* arguments)
{
  if (operation == UMW_OP_umw_slice_cut && may_go_ahead(thread)) {
    take_turns(thread);
    return;
  }
  cells_.board().slot(index_, thread.slot).burst = end_burst(thread);
  if (operation == UMW_OP_umw_thread_create)
    create_thread(thread, *static_cast<umw_args_umw_thread_create*>(arguments));
  else
    send(thread, operation, arguments);
  begin_burst(thread);
}

void CellProcess::send(world::Thread& thread, std::uint32_t operation, void* arguments)
{
  Slot& slot = cells_.board().slot(index_, thread.slot);
  Arguments copied(slot, operation, arguments);
  if (!copied.fit()) {
    const std::string text =
        fmt::format("a request of {} bytes; ranks in cells can make requests of {} KiB. Next step: "
                    "--cells 0, if there are few ranks",
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
    slot.burst = 0;
    slot.turn = Slot::Turn::delivered;
    hand_over(thread);
  }
  copied.bring_back();
}

void CellProcess::create_thread(world::Thread& creator, umw_args_umw_thread_create& arguments)
{
  clear_away_ended(creator.rank);
  world::Thread& thread = add_thread(creator.rank);
  thread.thread_pointer = arguments.thread_pointer;
  thread.kernel_id = arguments.kernel_tid;
  send(creator, UMW_OP_umw_thread_create, &arguments);
  if (arguments.result < 0) {
    remove_thread(thread);
    return;
  }
  const auto slot = static_cast<unsigned>(cells_.board().slot(index_, creator.slot).result);
  begin(thread, slot, std::max<std::size_t>(arguments.stack_bytes, world::smallest_stack),
        [this, &thread, start = arguments.start, argument = arguments.argument] { live(thread, start, argument); });
}

// Nobody looks at the main thread's any more either, but its stack is the rank's.
void CellProcess::clear_away_ended(const world::Rank& rank)
{
  for (std::size_t i = rank.threads.size(); i-- > 1;) {
    const world::Thread& thread = *rank.threads[i];
    if (thread.fiber == nullptr || thread.fiber->state() != engine::Actor::State::ended) // null: it is being made
      continue;
    if (threads_[thread.slot] == &thread)
      threads_[thread.slot] = nullptr;
    scheduler.release(*thread.fiber);
    remove_thread(thread);
  }
}

void CellProcess::hand_over(const world::Thread& thread)
{
  mailbox_.computing.store(0, std::memory_order_relaxed);
  mailbox_.to_runtime.push(thread.slot);
  cells_.board().doorbell().ring();
  prefer_urgent();
}

void CellProcess::await_turn(const world::Thread& thread)
{
  // Until the runtime says that it waits (Rank::leave_standing), nobody else runs.
  while (thread.rank.gate.stays != 0 && !turn_[thread.slot])
    listen(look_up);
  while (!turn_[thread.slot])
    scheduler.block();
  turn_[thread.slot] = false;
  begin_turn(thread);
}

void CellProcess::begin_turn(const world::Thread& thread)
{
  mailbox_.computing.store(++turns_ << 32 | (thread.slot + 1), std::memory_order_release);
}

bool CellProcess::may_go_ahead(const world::Thread& thread)
{
  const umw_gate& gate = thread.rank.gate;
  return cpu().measured() && gate.clock.debt_ps < __atomic_load_n(&gate.ahead_ps, __ATOMIC_RELAXED);
}

// The burst goes on when others of the cell have had their turn.
void CellProcess::take_turns(const world::Thread& thread)
{
  world::Rank& rank = thread.rank;
  pause_burst(rank);
  Slot& slot = cells_.board().slot(index_, thread.slot);
  mailbox_.computing.store(0, std::memory_order_relaxed);
  slot.computed.store(rank.gate.clock.debt_ps, std::memory_order_release);
  const bool hurried = prefer_urgent();
  do
    scheduler.yield();
  while (hurried && listen(patience));
  begin_turn(thread);
  begin_burst(thread);
}

// False: nobody is in a hurry.
bool CellProcess::prefer_urgent()
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
bool CellProcess::hear_of_one()
{
  std::uint32_t slot = 0;
  if (!mailbox_.to_cell.pop(slot))
    return false;
  turn_[slot] = true;
  scheduler.wake(*threads_[slot]->fiber);
  return true;
}

// The same, or waits for that; false: for so many nanoseconds in vain.
bool CellProcess::listen(std::int64_t nanoseconds)
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
bool CellProcess::hear()
{
  while (!listen(look_up))
    continue;
  return true;
}

// --- signals ---------------------------------------------------------------------------------------------------------

// They reach the runtime as well, which ends the cells.
void CellProcess::on_request(int, const ucontext_t*)
{
}

void CellProcess::on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context)
{
  world::Thread* thread = running();
  if (thread != nullptr && signal != SIGABRT && signal != SIGPIPE)
    die(*thread, signal, &information, &context); // its arguments were looked at
  std::array<char, 256> text;
  const auto end =
      fmt::format_to_n(text.begin(), text.size(), "umwelt: cell {} failed with signal {} ({}): a bug of Umwelt\n",
                       index_, signal, sigdescr_np(signal));
  diagnose::write_raw({text.data(), static_cast<std::size_t>(end.out - text.begin())});
  diagnose::end_with_backtrace(context, exit_code::failure);
}

void CellProcess::on_report(const ucontext_t& context, bool in_rank)
{
  if (in_rank) {
    report(&context);
    return;
  }
  report_wanted_ = 1;
  mailbox_.doorbell.ring();
}

// `interrupted`: where the running thread was; null: no rank runs.
void CellProcess::report(const ucontext_t* interrupted)
{
  report_wanted_ = 0;
  const std::uint32_t wanted = mailbox_.reports_wanted.load();
  if (mailbox_.reports.load() == wanted) // it was asked twice for the same
    return;
  const int file = cells_.report_file(index_);
  std::string text;
  for (const world::Thread* thread : threads_) {
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

} // namespace umwelt::cell
