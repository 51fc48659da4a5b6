// SPDX-License-Identifier: LGPL-2.1-or-later
// One run: the ranks, the simulated machine they run on, and how it all ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "net_models/core/timeline.h"
#include "net_models/model.h"
#include "runtime/bootstrap/fence.h"
#include "runtime/bootstrap/keys.h"
#include "runtime/bootstrap/pmi.h"
#include "runtime/engine/scheduler.h"
#include "runtime/job/cores.h"
#include "runtime/job/cpu.h"
#include "runtime/job/futexes.h"
#include "runtime/job/message_counter.h"
#include "runtime/job/plan.h"
#include "runtime/job/polling.h"
#include "runtime/job/portals_host.h"
#include "runtime/job/rank.h"
#include "runtime/job/slices.h"
#include "runtime/observe/progress.h"
#include "runtime/portals/fabric.h"

namespace umwelt::job
{

struct Outcome {
  int exit_code = 0;
  std::string ending = "completed"; // or one line that says why not
};

class Job
{
public:
  // Both outlive the job. Throws cli::UsageError and std::exception for what cannot work.
  Job(const Plan& plan, loader::PrivateFolder& folder);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Runs all ranks to their end, or the job to its; inside a SimGrid actor (platforms/simgrid.h).
  Outcome run();
  [[nodiscard]] observe::JobRecord record(const Outcome& outcome, double wall_seconds) const;

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] engine::Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] Cpu& cpu() { return cpu_; }
  [[nodiscard]] Cores& cores() { return cores_; }
  [[nodiscard]] Futexes& futexes() { return futexes_; }
  [[nodiscard]] bool running() const { return slices_ != nullptr; }
  [[nodiscard]] Slices& slices() { return *slices_; }
  [[nodiscard]] Polling& polling() { return polling_; }
  [[nodiscard]] bootstrap::Keys& keys() { return keys_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Rank>>& ranks() const { return ranks_; }
  // The rank whose world or request is being served; null in the main loop.
  [[nodiscard]] Rank* current() const;

  // --- services of the gate ---
  void fence(Rank& rank);           // returns when all ranks have arrived
  void arrive_at_fence(Rank& rank); // returns at once
  void lock_loader(Rank& rank);
  void unlock_loader(Rank& rank);
  [[nodiscard]] bool loading(const Rank& rank) const { return loader_owner_ == &rank; }
  [[nodiscard]] std::string new_stub_path();
  int create_thread(Rank& rank, umw_thread_start start, void* argument, std::size_t stack_bytes, std::uint64_t& id);
  [[noreturn]] void end_thread(Rank& rank);
  void join_thread(Rank& rank, std::uint64_t id);
  // Whether the rank's own system calls are to be dispatched (engine/syscalls.h): one that waits must not stop the others.
  [[nodiscard]] bool dispatches(const Rank& rank) const { return dispatching_ && rank.threads.size() > 1; }
  // Cores a thread may use (tid 0: the calling one), as bits of the node's cores. Negative errno.
  int get_affinity(Rank& rank, std::int32_t tid, unsigned char* bits, std::size_t bytes);
  int set_affinity(Rank& rank, std::int32_t tid, const unsigned char* bits, std::size_t bytes);
  // Makes the rank's working directory the process's.
  void use_folder_of(const Rank& rank)
  {
    if (rank.folder != current_folder_)
      change_folder(rank.folder);
  }
  int change_directory(Rank& rank, const char* path, int fd);
  void started(Rank& rank);
  [[noreturn]] void exited(Rank& rank, int status);
  [[noreturn]] void died(Rank& rank, int signal, const siginfo_t* information, const ucontext_t* context);
  [[noreturn]] void aborted(Rank& rank, int status, const char* call, const char* message);
  void warn(const Rank& rank, const std::string& text); // once per text
  // -vv: a line for every call that reaches the runtime.
  [[nodiscard]] bool traces_calls() const { return plan_.options.verbosity >= 2; }
  void trace_call(const Rank& rank, const char* name);

  // --- from signal handlers, in the runtime's world ---
  // The user or the clock ends the run. Safe at any time; takes effect at the next switch. `context`: of the rank that runs, if
  // one does.
  void interrupt(int signal, const ucontext_t* context);
  // Gives up the running rank for the main loop, after interrupt() or stop().
  [[noreturn]] void abandon();

private:
  void make_ranks();
  void make_rank(Rank& rank);
  [[nodiscard]] Thread* find_thread(Rank& rank, std::int32_t tid); // 0: the running one
  Thread& add_thread(Rank& rank, const std::vector<unsigned>& allowed);
  void live(Rank& rank);
  void load(Rank& rank);
  [[noreturn]] void leave_world(Rank& rank);
  void finish(Rank& rank);
  void fence_over();
  void fail(int exit_code, const std::string& ending, const std::string& text);
  bool stalled();
  [[nodiscard]] std::string where_everyone_is();
  void change_folder(const std::shared_ptr<Folder>& folder);
  void say(const std::string& text);
  [[nodiscard]] std::string simulated_now() const;
  [[nodiscard]] SimTime end_of_time() const { return std::min(ended_at_, timeline_.now()); }

  const Plan& plan_;
  loader::PrivateFolder& folder_;
  sim::Timeline timeline_;
  engine::Scheduler scheduler_{timeline_};
  Cores cores_;
  Futexes futexes_;
  std::unique_ptr<Slices> slices_; // while the job runs
  bool dispatching_ = false;       // system calls of ranks with several threads come to the runtime
  Cpu cpu_;
  Polling polling_{*this};
  PortalsHost host_{*this};
  portals::Fabric fabric_;
  std::unique_ptr<net::Model> model_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::unique_ptr<portals::Process>> processes_;
  MessageCounter counter_;
  bootstrap::Keys keys_;
  bootstrap::Fence fence_;
  struct FenceOver final : sim::Event {
    explicit FenceOver(Job& j) : job(j) {}
    void fire() override { job.fence_over(); }
    Job& job;
  } fence_over_{*this};
  observe::Progress progress_;
  std::set<std::string> warned_;
  std::vector<std::string> copies_; // stub of each program's private copy
  std::string node_list_;
  Rank* loader_owner_ = nullptr;
  unsigned loader_depth_ = 0;
  std::vector<Rank*> loader_queue_;
  unsigned stubs_ = 0;
  int thread_ids_ = 0;
  std::vector<std::shared_ptr<Folder>> folders_; // working directory each program starts in
  std::shared_ptr<Folder> current_folder_;       // the process's
  int null_fd_ = -1;
  std::size_t running_ = 0;
  std::size_t loaded_ = 0;
  struct Stall {
    std::uint64_t steps = ~std::uint64_t{0}; // polling_.steps() when it began
    SimTime since = 0;
    unsigned background_rounds = 0;
    std::vector<observe::RankStatistics> statistics; // of that moment
  } stall_;
  SimTime ended_at_ = sim::never;
  int interrupted_ = 0;
  const Thread* interrupted_thread_ = nullptr; // the one that ran then
  std::string interrupted_at_;                 // and where
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool over_ = false;
  Outcome outcome_;
};

} // namespace umwelt::job
