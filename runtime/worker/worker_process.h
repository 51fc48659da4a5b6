// SPDX-License-Identifier: LGPL-2.1-or-later
// A worker process: a process that carries ranks for the runtime. Its threads run on fibers, one at a time; each sends
// its requests to the runtime and goes on when they are served.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/timeline.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/worker/workers.h"

namespace umwelt::worker
{

namespace detail
{
struct Fibers { // no time passes in a worker process
  sim::Timeline timeline;
  engine::Scheduler scheduler{timeline};
};
} // namespace detail

class WorkerProcess final : private detail::Fibers, public rank_host::RankHost
{
public:
  WorkerProcess(Workers& workers, unsigned index, rank_host::Cpu& cpu);

  struct Seat {
    rank_host::Rank* rank;
    unsigned slot; // of its main thread
  };
  // Runs them until the process is ended.
  [[noreturn]] void run(const std::vector<Seat>& seats, const rank_host::Work& work);

  [[nodiscard]] rank_host::Thread* running() const override;
  void request(rank_host::Thread& thread, std::uint32_t operation, void* arguments) override;
  void abandon(rank_host::Thread& thread) override;
  void on_request(int signal, const ucontext_t* context) override;
  void on_hurry() override { mailbox_.hurried.store(0); }
  [[noreturn]] void on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context) override;
  // A signal handler: the runtime wants to know where everyone is. If it interrupts this process rather than a rank,
  // which may be in malloc, the report is made as soon as it listens.
  void on_report(const ucontext_t& context, bool in_rank);

private:
  void report(const ucontext_t* interrupted);
  void begin(rank_host::Thread& thread, unsigned slot, std::size_t stack_bytes, std::function<void()> body);
  void create_thread(rank_host::Thread& creator, umw_args_umw_thread_create& arguments);
  void clear_away_ended(const rank_host::Rank& rank);
  void send(rank_host::Thread& thread, std::uint32_t operation, void* arguments);
  void hand_over(const rank_host::Thread& thread);
  void answer(const rank_host::Thread& thread);
  void await_turn(const rank_host::Thread& thread);
  [[nodiscard]] bool may_go_ahead(const rank_host::Thread& thread);
  void take_turns(rank_host::Thread& thread);
  void begin_turn(const rank_host::Thread& thread);
  bool hear_of_one();
  bool prefer_urgent();
  bool listen(std::int64_t nanoseconds);
  bool hear();

  Workers& workers_;
  const unsigned index_;
  Mailbox& mailbox_;
  std::vector<rank_host::Thread*> threads_; // by slot
  std::vector<bool> turn_;                  // by slot: may go on
  std::vector<bool> owes_;                  // by slot: has been let go on, and not said anything since
  std::uint64_t turns_ = 0;
  volatile std::sig_atomic_t report_wanted_ = 0;
};

} // namespace umwelt::worker
