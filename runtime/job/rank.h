// SPDX-License-Identifier: LGPL-2.1-or-later
// One rank: its place on the simulated machine, its clock and its state.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "preload/abi/gate.h"
#include "runtime/base/exit_codes.h"
#include "runtime/base/time.h"
#include "runtime/engine/scheduler.h"
#include "runtime/fold/totals.h"
#include "runtime/job/critical_path.h"
#include "runtime/job/lateness.h"
#include "runtime/job/pending.h"
#include "runtime/job/thread.h"
#include "runtime/job/timers.h"
#include "runtime/kernels/calls.h"
#include "runtime/kernels/profile.h"
#include "runtime/mpi/totals.h"
#include "runtime/observe/statistics.h"
#include "runtime/observe/trace_record.h"
#include "runtime/plan/placement.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::portals
{
class Process;
}

namespace umwelt::bootstrap
{
struct Namespace;
}

namespace umwelt::job
{

class Channel;
class Job;
class PmiSocket;
class StandardOutput;

// What the ranks of a job have in common: they were started together, and share MPI_COMM_WORLD.
struct JobFacts {
  const bootstrap::Namespace* space = nullptr;
  std::vector<plan::RankPlace> places; // by number
  std::string node_list;               // names of its nodes
  const Rank* parent = nullptr;        // has started it; null: the run's own
  std::size_t alive = 0;
};

class Rank
{
public:
  enum class Phase : std::uint8_t { loading, running, ended };

  Rank(Job& job, int index, umw_gate& gate);
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  [[nodiscard]] Thread& main() const { return *threads.front(); }
  // The thread that runs or whose request is being served; only while that is one of this rank's.
  [[nodiscard]] Thread& running() const;

  // On every request: turns the burst that ended with it (`measured`: its CPU time) into simulated time, and lets the
  // next one begin. A call that only looks leaves short bursts standing as a debt: if it has to wait, the time goes by
  // anyway. Calls of the NIC's own data path may be served ahead of the timeline, for all others it catches up.
  void enter(bool looks, bool ahead, const rank_host::Burst& measured);
  void leave();

  // CPU time of the calling thread goes by: computing, or communication. `ahead`: it may go on at once
  // (Thread::spend_ahead).
  void spend(observe::RankState state, SimTime time, bool ahead = false);
  void tell_trace(observe::RankState state, SimTime from, SimTime to,
                  CriticalPath::Wait how = CriticalPath::Wait::elapsed);

  // What a waiting thread waits for. A message must not wake a helper thread that looks at a pipe; who waits for itself
  // is woken by name.
  enum class For : std::uint8_t { network, anything, itself };
  // The running thread waits: if it was not to be left standing (umw_gate::no_switch), it is now.
  void allow_switch();
  // Blocks the calling simulated thread until it is notified or `deadline`; false: the deadline came first.
  bool wait(SimTime deadline, For what = For::anything);
  // The same, for a wait that does not keep the simulation going (engine::Scheduler::block_in_background).
  bool wait_in_background(SimTime deadline, For what = For::anything);
  // What rank `source` began at that time has come for it, so many bytes (job/lateness.h); `origin`: as in
  // CriticalPath::came().
  void came(std::size_t source, const sim::Origin* origin, SimTime at, std::uint64_t bytes);
  // Threads that wait for the network look again; or all that wait.
  void notify_network();
  void notify_all();
  // The calling thread waits for something that lies at `place`; it may be known as `self`. As wait().
  bool wait_at(std::uint64_t place, std::uint64_t self, SimTime deadline);
  // Lets the first `most` threads that do, or that are known by that, look again.
  void notify_at(std::uint64_t place, unsigned most);
  void falls_asleep(const Thread& thread) { std::erase(awake, &thread); }
  void wakes_up(Thread& thread);
  // Threads but this one that poll look again.
  void notify_parked(const Thread& but);
  // The NIC has written to the rank's memory: threads in loops that look at it do so again.
  void memory_changed();
  // If the running thread computes ahead of the others' times, in a worker process, it does so for its time slice only.
  void call_in() { gate.ahead_ps = 0; }

  // --- simulated signals ---
  // Sends one; to the process if `thread` is null. False: one of its kind is pending already.
  bool send_signal(const siginfo_t& information, Thread* thread = nullptr);
  // Whether the thread has one to act upon before it goes on.
  [[nodiscard]] bool signal_due(const Thread& thread) const;
  // Takes one of `wanted` for the running thread. 0: there is none.
  int take_signal(SignalSet wanted, siginfo_t& information);
  // The program ignores these from now on.
  void ignore_signals(SignalSet signals);
  // execve(2): it is loading another one; what it has handled has its default again, and no handler can be called.
  void program_changed();
  // What is due for the running thread is acted upon, on its stack as it stands. True: a call that waits is to fail
  // with EINTR, even if it could be restarted.
  bool act_on_signals();

  [[nodiscard]] std::string title() const; // "rank 3 (bxi3)", "rank 3 (bxi3; job 2 rank 1)"
  // Of the running thread.
  [[nodiscard]] const char* last_call() const { return running().last_call; }
  void set_last_call(const char* name) { running().last_call = name; }

  Job& job;
  const int index; // in the run
  JobFacts* facts = nullptr;
  int number = 0; // in its job
  unsigned program = 0;
  std::uint32_t node = 0;
  unsigned worker = 0;    // which process carries it (Job::workers)
  unsigned main_slot = 0; // in a worker process: of its main thread

  umw_gate& gate;
  rank_host::Rank hosted;      // what that process is to know
  std::string first_directory; // working directory it begins in
  SimTime began = 0;
  std::string local_peers;
  std::string session_directory;
  std::unique_ptr<StandardOutput> output;
  std::unique_ptr<PmiSocket> pmi;

  std::vector<std::unique_ptr<Thread>> threads; // the first is the main one; ended ones may be gone
  unsigned threads_made = 0;
  // Those that neither have ended nor wait for a descriptor, in that order: MPI libraries have several threads that
  // sleep.
  std::vector<Thread*> awake;
  portals::Process* portals = nullptr;
  std::vector<Rank*> memory_peers; // of its node, with memory in common; ascending
  Pending pending;                 // signals for any thread
  Timers timers;

  Channel* computing = nullptr;    // in a worker process: the thread that the gate speaks of
  std::deque<Channel*> to_compute; // the others that may go on

  std::uint64_t changed = 0; // how often something polls look for has come (Polling::changed)
  Phase phase = Phase::loading;
  bool joined = false;        // between PMIx_Init and PMIx_Finalize
  bool joined_before = false; // and a program between the two has executed this one
  bool in_wrapper = false;    // its program was executed by a wrapper, which goes on when it has ended
  RankEnd end;
  SimTime finished = 0;
  observe::RankStatistics statistics;
  Lateness lateness;                    // where calls of MPI are followed
  std::vector<kernels::Totals> kernels; // in the order of the plan's
  kernels::Profile profile;             // of those that have ended; umwelt kernels
  std::vector<fold::Totals> folding;    // in the order of the plan's
  mpi::ToldTotals mpi_calls;            // of those that have ended; --mpi-calls

private:
  struct Waiting {
    engine::Actor* actor;
    For what;
    std::uint64_t place = 0; // and of what, 0: of anything,
    std::uint64_t self = 0;  // or by which it is known;
    bool told = false;       // it is about to look
  };
  template <class Block> bool wait_with(const Waiting& waiting, Block block);
  // Tells of waits that nobody has ended; `woken`: what the wait has returned, and so does this.
  bool in_time(SimTime deadline, bool woken);
  // Who takes a signal that is for the process: the main thread if it can, complete_signal() of Linux' kernel/signal.c.
  [[nodiscard]] Thread* taker(int signal) const;
  bool notify_of_timer(const Timers::Notice& notice, std::uint64_t count);

  std::vector<Waiting> waiting_;
  SignalSet ignored_;
};

} // namespace umwelt::job
