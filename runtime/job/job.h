// SPDX-License-Identifier: LGPL-2.1-or-later
// One run: the ranks, the simulated machine they run on, and how it all ends.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/timeline.h"
#include "runtime/bootstrap/fence.h"
#include "runtime/bootstrap/keys.h"
#include "runtime/bootstrap/meetings.h"
#include "runtime/bootstrap/namespaces.h"
#include "runtime/bootstrap/pmi.h"
#include "runtime/bootstrap/published.h"
#include "runtime/engine/host_load.h"
#include "runtime/engine/scheduler.h"
#include "runtime/job/break_points.h"
#include "runtime/job/collectives.h"
#include "runtime/job/control.h"
#include "runtime/job/cores.h"
#include "runtime/job/details.h"
#include "runtime/job/energy.h"
#include "runtime/job/failures.h"
#include "runtime/job/file_locks.h"
#include "runtime/job/futexes.h"
#include "runtime/job/idleness.h"
#include "runtime/job/interruption.h"
#include "runtime/job/lateness.h"
#include "runtime/job/message_counter.h"
#include "runtime/job/network.h"
#include "runtime/job/output_relay.h"
#include "runtime/job/own_process.h"
#include "runtime/job/polling.h"
#include "runtime/job/portals_host.h"
#include "runtime/job/rank.h"
#include "runtime/job/server.h"
#include "runtime/job/shared_memory.h"
#include "runtime/job/shared_objects.h"
#include "runtime/job/socket_host.h"
#include "runtime/job/sysv_host.h"
#include "runtime/observe/progress.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/room.h"
#include "runtime/portals/fabric/fabric.h"
#include "runtime/procfs/node_files.h"
#include "runtime/rank_host/descriptors.h"
#include "runtime/rank_host/program_change.h"
#include "runtime/rank_host/rank_host.h"
#include "runtime/worker/workers.h"

namespace umwelt::job
{

class Channel;
class Job;

// The key-value space of PMI that every rank of a job begins with.
std::string kvs_of(const std::string& job);

struct Outcome {
  int exit_code = 0;
  std::string ending = observe::completed; // or one line that says why not
};

class Job
{
public:
  // Both outlive the job. Throws UsageError and std::exception for what cannot work.
  Job(const plan::Plan& plan, const Server& server, loader::PrivateDirectory& directory);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Runs all ranks to their end, or the job to its; inside a SimGrid actor (platforms/simgrid.h).
  Outcome run();
  // It was asked to end by a signal, --timeout included.
  [[nodiscard]] bool interrupted() const { return interruption_.asked(); }
  // While it runs, `look` is called between events whenever `asked` is not 0, which `look` sets back.
  void watch(const std::atomic<std::uint32_t>& asked, std::function<void()> look);
  // It stands still before a call (--break): which; or empty.
  [[nodiscard]] const std::string& stands_at() const { return held_where_; }
  [[nodiscard]] SimTime now() const { return timeline_.now(); }
  [[nodiscard]] std::uint64_t events() const { return timeline_.fired(); }
  // After run(): says which --break it has not come to.
  void tell_breaks() const;
  // After run(). False: a file of --output-filename is not whole, as has been said then.
  bool finish_output();
  [[nodiscard]] observe::JobRecord record(const Outcome& outcome, double wall_seconds) const;
  // After run(), once: what it has drawn and cost, if that is known.
  void add_energy(observe::JobRecord& record);
  // Of all ranks, in the order of the plan's kernels.
  [[nodiscard]] std::vector<kernels::Totals> kernel_totals() const;
  [[nodiscard]] kernels::Profile profile() const; // of all ranks

  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  [[nodiscard]] const Server& server() const { return server_; }
  [[nodiscard]] engine::Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] rank_host::Cpu& cpu() { return cpu_; }
  [[nodiscard]] Cores& cores() { return cores_; }
  [[nodiscard]] Computing& computing() { return computing_; }
  [[nodiscard]] Network& network() { return *network_; }
  [[nodiscard]] Futexes& futexes() { return futexes_; }
  [[nodiscard]] rank_host::RankHost& rank_host() { return own_process_; }
  [[nodiscard]] worker::Workers* workers()
  {
    return workers_.get();
  } // null: the runtime's own process carries all ranks
  [[nodiscard]] OutputRelay& output() { return output_; }
  [[nodiscard]] Polling& polling() { return polling_; }
  [[nodiscard]] sockets::Stack& sockets() { return sockets_; }
  [[nodiscard]] procfs::NodeFiles& files() { return files_; }
  [[nodiscard]] const net::NodeParameters& node_parameters() const { return node_parameters_; }
  [[nodiscard]] SharedMemory& shared_memory() { return shared_memory_; }
  [[nodiscard]] SysvHost& sysv() { return sysv_; }
  [[nodiscard]] SharedObjects& shared_objects() { return shared_objects_; }
  [[nodiscard]] FileLocks& file_locks() { return file_locks_; }
  // Null: the report has none.
  [[nodiscard]] Details* details() { return details_.get(); }
  // Null: what the machine draws is not known.
  [[nodiscard]] Energy* energy() { return energy_.get(); }
  // What one of both ranks began at that time has come to the other. What went before that; nothing: nobody wants to
  // know, as calls of MPI are not followed.
  std::optional<Exchanges::Exchange> exchanged(std::size_t one, std::size_t other, SimTime began)
  {
    return exchanges_ ? std::optional{exchanges_->replace(one, other, began, scheduler_.now())} : std::nullopt;
  }
  [[nodiscard]] Failures& failures() { return failures_; }
  // Something has come for the rank that it finds when it looks at its descriptors.
  void descriptors_changed(const Rank& rank) { socket_host_.socket_changed(static_cast<std::uint32_t>(rank.index)); }
  // Null: none is modelled.
  [[nodiscard]] Collectives* collectives() { return collectives_.get(); }
  [[nodiscard]] bootstrap::Keys& keys() { return keys_; }
  [[nodiscard]] bootstrap::Spaces& spaces() { return spaces_; }
  [[nodiscard]] bootstrap::Published& published() { return published_; }
  [[nodiscard]] const bootstrap::Namespaces& namespaces() const { return namespaces_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Rank>>& ranks() const { return ranks_; }
  // The living rank that has this process id on this node. Null: there is none. Processes of other nodes are not there
  // for a rank.
  [[nodiscard]] Rank* find_rank(std::uint32_t node, int pid) const;
  // The rank whose world or request is being served; null in the main loop.
  [[nodiscard]] Rank* current() const;

  // --- services of the gate ---
  // The rank calls a function that regions ask for (plan::RegionFunctions), or has come back from it.
  void passed(Rank& rank, std::uint32_t function, bool came_back, std::int64_t level);
  // Returns when all ranks of its job have arrived, but for those that have died; 0, -EOWNERDEAD: one of these since
  // the first has arrived.
  int fence(Rank& rank);
  void arrive_at_fence(Rank& rank); // returns at once
  // The same of these (ranks of the run, ascending, this one among them).
  int meet(Rank& rank, const std::vector<std::size_t>& members);
  // Starts a job: `request` is that of umw_spawn, `name` becomes the job's. 0, or a negative errno; then the log says
  // why.
  int spawn(Rank& parent, std::string_view request, std::string& name);
  int create_thread(Rank& rank, umw_thread_start start, void* argument, std::size_t stack_bytes,
                    std::uint64_t thread_pointer, std::int32_t kernel_id);
  [[noreturn]] void end_thread(Rank& rank);
  // Whether it has ended, after waiting for that if `wait`.
  bool join_thread(Rank& rank, std::uint64_t id, bool wait);
  // A living thread of the rank; 0: the running one. Null: there is none.
  [[nodiscard]] Thread* find_thread(Rank& rank, std::int32_t tid);
  // Cores a thread may use (tid 0: the calling one), as bits of the node's cores. Negative errno.
  int get_affinity(Rank& rank, std::int32_t tid, unsigned char* bits, std::size_t bytes);
  int set_affinity(Rank& rank, std::int32_t tid, const unsigned char* bits, std::size_t bytes);
  // A descriptor of the runtime for what `fd` is in the rank's process; a negative errno.
  int descriptor_of(const Rank& rank, int fd);
  [[noreturn]] void not_loaded(Rank& rank, const char* message, bool gave_up);
  void started(Rank& rank);
  [[noreturn]] void exited(Rank& rank, int status);
  // `report`: the rest of the first line, then more lines.
  [[noreturn]] void died(Rank& rank, int signal, const char* report);
  // What the user asked for cannot be done, as turns out now.
  [[noreturn]] void misused(Rank& rank, const char* message);
  // The rank has come to something that ends the job; `ending`: one line, `text`: the report.
  [[noreturn]] void end_for(Rank& rank, int exit_code, const std::string& ending, const std::string& text);
  [[noreturn]] void aborted(Rank& rank, int status, const char* call, const char* message);
  // The running thread's wait has lasted as long as it was to. Does not return if the job cannot get anywhere any more.
  void timed_out(Thread& thread);
  // The other ranks of its node that wait for a descriptor look again.
  void wake_peers(const Rank& rank);
  // execve(2): 0, or a negative errno; then, from the main thread.
  int may_change_program(Rank& rank);
  void changed_program(Rank& rank, const rank_host::ProgramChange& change);
  int join(Rank& rank);
  void warn(const Rank& rank, const std::string& text); // once per text
  // -vv: a line for every call that reaches the runtime.
  [[nodiscard]] bool traces_calls() const { return plan_.options.verbosity >= 2; }
  void trace_call(const Rank& rank, const char* name);

  // Gives up the running rank for the main loop, after interrupt() or stop().
  [[noreturn]] void abandon();

  // --- from signal handlers, on the runtime's side ---
  // The user or the clock ends the run. Async-signal-safe; takes effect at the next switch. `context`: of the rank that
  // runs, if one does.
  void interrupt(int signal, const ucontext_t* context);
  // A fault of the runtime itself.
  [[noreturn]] void failed(int signal, const siginfo_t& information, const ucontext_t& context);

  // --- ranks in worker processes ---
  void connect(Channel& channel);
  void disconnect(const Channel& channel);
  // The channel's actor is blocked until its thread has something to say.
  void begin_absence(Channel& channel);
  void end_absence(Channel& channel);
  // Threads of the worker process whose request waits to be served and that no other thread of it may overtake
  // (umw_gate::no_switch).
  [[nodiscard]] unsigned& not_switching(unsigned worker) { return not_switching_[worker]; }
  // Lets those arrive who have something to say; waits for up to `nanoseconds` for somebody. False: nobody had.
  bool hear_from_workers(std::int64_t nanoseconds);
  // How far a measured burst may get ahead of the others' times before it waits for them. Less, and worker processes
  // wait for each other; more, and what looks at memory without any call, between computing, may see later what others
  // have written there.
  [[nodiscard]] SimTime lookahead() const { return 20 * plan_.options.quantum; }

private:
  [[nodiscard]] std::vector<observe::KernelRecord> kernel_records() const;
  [[nodiscard]] std::vector<observe::FoldRecord> fold_records() const;
  [[nodiscard]] rank_host::Work work() const
  {
    return {plan_.options.quantum, plan_.kernels, plan_.folding, plan_.trace ? plan_.trace->events() : nullptr};
  }
  void keep_events(Rank& rank);
  // How a rank begins.
  struct Start {
    const plan::ProgramPlan* program = nullptr;
    std::shared_ptr<rank_host::Directory> directory; // it begins in
    unsigned context = 0;                            // index in the record's programs
    plan::InWrapper wrapper;
    unsigned worker = 0;
  };
  struct Launch;
  void make_ranks();
  void share_descriptors();
  JobFacts& add_job(const std::string& name, std::vector<plan::RankPlace> places, const Rank* parent);
  Rank& add_rank(JobFacts& facts, int number, const Start& start);
  void make_rank(Rank& rank, const Start& start);
  void plan_workers();
  void start_workers();
  void check_access_to_workers();
  void keep_ends_of_runtime(const Rank& rank);
  void seat(Rank& rank);
  void give_interface(Rank& rank);
  void check_room_for(std::span<const plan::ProgramPlan* const> programs);
  void launch(Launch& launch);
  [[nodiscard]] std::vector<std::vector<unsigned>>
  late_workers(std::span<const plan::RankPlace> places, std::span<const plan::ProgramPlan* const> programs) const;
  [[nodiscard]] std::string shortage_for_workers(const std::vector<std::vector<unsigned>>& workers,
                                                 std::span<const plan::ProgramPlan* const> programs) const;
  void start_late_workers(const JobFacts& facts, const std::vector<std::vector<unsigned>>& workers);
  void retire_workers();
  Thread& add_thread(Rank& rank, const std::vector<unsigned>& allowed);
  void clear_away_ended(Rank& rank);
  bool await_absent(SimTime next);
  void worker_died(const worker::Workers::Death& death);
  std::vector<std::vector<std::string>> reports_of_workers();
  [[noreturn]] void end_threads(Rank& rank);
  void end_elsewhere(Rank& rank, Thread& thread);
  void finish(Rank& rank);
  std::shared_ptr<bootstrap::Meeting> arrive(Rank& rank, const std::vector<std::size_t>& members);
  void complete(std::shared_ptr<bootstrap::Meeting> meeting);
  void meeting_over(bootstrap::Meeting& meeting);
  // --with-ft: the rank has died, the others go on. False: that ends the job.
  bool survived(Rank& rank, const std::string& text);
  void fail(int exit_code, const std::string& ending, const std::string& text);
  void stop_before(Rank& rank, const plan::BreakPoint& point);
  void stand_still();
  bool stalled();
  void deadlocked();
  // After the main loop has stopped, or in it. `main_threads`, if wanted: by rank, what is said of how its main thread
  // got there.
  [[nodiscard]] std::string where_everyone_is(std::vector<std::string>* main_threads = nullptr);
  void say(const std::string& text);
  [[nodiscard]] std::string simulated_now() const;
  [[nodiscard]] SimTime end_of_time() const { return std::min(ended_at_, timeline_.now()); }

  const plan::Plan& plan_;
  const Server server_;
  loader::PrivateDirectory& directory_;
  const net::NodeParameters node_parameters_;
  const engine::ProcessorTime host_at_start_ = engine::processor_time();
  sim::Timeline timeline_;
  engine::Scheduler scheduler_{timeline_};
  Cores cores_;
  Futexes futexes_;
  rank_host::Cpu cpu_;
  Computing computing_;
  OwnProcess own_process_;
  Polling polling_{*this};
  Idleness idleness_{*this};
  std::shared_ptr<const observe::DeadlockRecord> deadlock_;
  PortalsHost host_{*this};
  portals::Fabric fabric_;
  SocketHost socket_host_{*this};
  sockets::Stack sockets_;
  SharedMemory shared_memory_;
  SharedObjects shared_objects_{*this};
  FileLocks file_locks_{*this};
  SysvHost sysv_;
  std::unique_ptr<Details> details_; // null: nobody looks
  std::optional<Exchanges> exchanges_;
  std::unique_ptr<Energy> energy_; // null: nobody knows what the machine draws
  std::unique_ptr<Network> network_;
  std::vector<NodeRegions*> regions_; // of models and of computing
  std::unique_ptr<Control> control_;  // null: without --ctl and --break
  BreakPoints breaks_{plan_.breaks};
  const Thread* held_ = nullptr; // the run stands still before a call of it
  std::string held_where_;
  std::function<void()> look_; // null: nobody watches
  std::unique_ptr<Collectives> collectives_;
  std::unique_ptr<worker::Workers> workers_;
  std::deque<umw_gate> gates_;                  // of ranks that are in no worker process
  std::vector<std::vector<Channel*>> channels_; // by worker process and slot
  std::vector<unsigned> not_switching_;         // by worker process
  std::vector<Channel*> absent_;
  observe::Progress progress_;
  OutputRelay output_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::unique_ptr<portals::Process>> processes_;
  MessageCounter counter_;
  procfs::NodeFiles files_;
  bootstrap::Keys keys_;
  bootstrap::Spaces spaces_;
  bootstrap::Namespaces namespaces_;
  bootstrap::Meetings meetings_;
  bootstrap::Published published_;
  struct MeetingOver final : sim::Event {
    explicit MeetingOver(Job& j) : job(j) {}
    void fire() override { job.meeting_over(*meeting); }
    Job& job;
    std::shared_ptr<bootstrap::Meeting> meeting;
  };
  std::deque<MeetingOver> meetings_over_; // those that are not pending serve again
  std::deque<JobFacts> jobs_;
  plan::Room room_;
  std::deque<plan::ProgramPlan> spawned_programs_;
  unsigned spawned_jobs_ = 0;
  std::deque<std::shared_ptr<Launch>> launches_;   // under way
  std::vector<std::vector<std::string>> commands_; // of the record's programs
  struct Retire final : sim::Event {
    explicit Retire(Job& j) : job(j) {}
    void fire() override { job.retire_workers(); }
    Job& job;
  } retire_{*this};
  std::set<std::string> warned_;
  std::uint64_t descriptors_per_rank_ = 0;
  int thread_ids_ = 0;
  std::vector<std::shared_ptr<rank_host::Directory>> directories_; // working directory each program starts in
  int null_fd_ = -1;
  std::size_t running_ = 0;
  std::size_t begun_ = 0; // programs whose main has been reached, those that ranks have executed or spawned included
  SimTime ended_at_ = sim::never;
  Interruption interruption_{plan_.options.timeout.has_value()};
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool over_ = false;
  Outcome outcome_;
  Failures failures_{*this};
};

} // namespace umwelt::job
