// SPDX-License-Identifier: LGPL-2.1-or-later
// A cell: a process that carries ranks for the runtime. Its threads run on fibers, one at a time; each sends its requests to the
// runtime and goes on when they are served.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/timeline.h"
#include "runtime/cell/cells.h"
#include "runtime/world/carrier.h"

namespace umwelt::cell
{

namespace detail
{
struct Fibers { // no time passes in a cell
  sim::Timeline timeline;
  engine::Scheduler scheduler{timeline};
};
} // namespace detail

class CellProcess final : private detail::Fibers, public world::Carrier
{
public:
  CellProcess(Cells& cells, unsigned index, world::Cpu& cpu);

  struct Seat {
    world::Rank* rank;
    unsigned slot; // of its main thread
  };
  // Runs them until the process is ended. `quantum`: time slices.
  [[noreturn]] void run(const std::vector<Seat>& seats, world::SimTime quantum);

  [[nodiscard]] world::Thread* running() const override;
  void request(world::Thread& thread, std::uint32_t operation, void* arguments) override;
  void on_request(int signal, const ucontext_t* context) override;
  void on_hurry() override { mailbox_.hurried.store(0); }
  [[noreturn]] void on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context) override;
  // A signal handler: the runtime wants to know where everyone is. If it interrupts this process rather than a rank, which may be in
  // malloc, the report is made as soon as it listens.
  void on_report(const ucontext_t& context, bool in_rank);

private:
  void report(const ucontext_t* interrupted);
  void begin(world::Thread& thread, unsigned slot, std::size_t stack_bytes, std::function<void()> body);
  void create_thread(world::Thread& creator, umw_args_umw_thread_create& arguments);
  void clear_away_ended(const world::Rank& rank);
  void send(world::Thread& thread, std::uint32_t operation, void* arguments);
  void hand_over(const world::Thread& thread);
  void await_turn(const world::Thread& thread);
  [[nodiscard]] bool may_go_ahead(const world::Thread& thread);
  void take_turns(const world::Thread& thread);
  void begin_turn(const world::Thread& thread);
  bool hear_of_one();
  bool prefer_urgent();
  bool listen(std::int64_t nanoseconds);
  bool hear();

  Cells& cells_;
  const unsigned index_;
  Mailbox& mailbox_;
  std::vector<world::Thread*> threads_; // by slot
  std::vector<bool> turn_;              // by slot: may go on
  std::uint64_t turns_ = 0;
  volatile std::sig_atomic_t report_wanted_ = 0;
};

} // namespace umwelt::cell
