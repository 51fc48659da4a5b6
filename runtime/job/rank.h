// SPDX-License-Identifier: LGPL-2.1-or-later
// One rank: its place in the simulated world, its namespace, its clock and its state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loader/namespace.h"
#include "net_models/core/time.h"
#include "preload/gate/gate.h"
#include "runtime/cli/exit_codes.h"
#include "runtime/engine/scheduler.h"
#include "runtime/job/folder.h"
#include "runtime/job/thread.h"
#include "runtime/observe/statistics.h"
#include "runtime/observe/trace_record.h"

namespace umwelt::portals
{
class Process;
}

namespace umwelt::job
{

class Job;
class PmiSocket;
class StandardOutput;

class Rank
{
public:
  enum class Phase : std::uint8_t { loading, running, ended };

  Rank(Job& job, int index);
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  [[nodiscard]] Thread& main() const { return *threads.front(); }
  // The thread that runs or whose request is being served; only while that is one of this rank's.
  [[nodiscard]] Thread& running() const;

  // On every crossing: turns the burst that ends here into simulated time, and lets the next one begin. A call that only
  // looks leaves short bursts standing as a debt: if it has to wait, the time goes by anyway.
  void enter(bool looks);
  void leave();

  // CPU time of the calling thread goes by: computing, or communication.
  void spend(observe::RankState state, SimTime time);
  void tell_trace(observe::RankState state, SimTime from, SimTime to);

  // Around time that is not the program's, in the middle of a burst.
  void pause_burst();
  void resume_burst();

  // What a waiting thread waits for. A message must not wake a helper thread that looks at a pipe; who waits for itself is woken
  // by name.
  enum class For : std::uint8_t { network, anything, itself };
  // Blocks the calling simulated thread until it is notified or `deadline`; false: the deadline came first.
  bool wait(SimTime deadline, For what = For::anything);
  // The same, for a wait that does not keep the simulation going (engine::Scheduler::block_in_background).
  bool wait_in_background(SimTime deadline);
  // Threads that wait for the network look again; or all that wait.
  void notify_network();
  void notify_all();
  // Threads but this one that poll look again.
  void notify_parked(const Thread& but);
  // The NIC has written to the rank's memory: threads in loops that look at it do so again.
  void memory_changed();

  [[nodiscard]] std::string title() const; // "rank 3 (bxi3)"
  // Of the running thread.
  [[nodiscard]] const char* last_call() const { return running().last_call; }
  void set_last_call(const char* name) { running().last_call = name; }

  Job& job;
  const int index;
  unsigned program = 0;
  std::uint32_t node = 0;
  double speed = 1;

  umw_gate gate{};
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::vector<char*> envp; // the same as the C library of the rank has it: `environ` points here, so it lives as long
  std::string program_path;
  std::string local_peers;
  std::string session_folder;
  std::shared_ptr<Folder> folder; // working directory; ranks that have not left it share one
  std::unique_ptr<StandardOutput> output;
  std::unique_ptr<PmiSocket> pmi;

  loader::Namespace objects;
  std::vector<std::unique_ptr<Thread>> threads; // the first is the main one
  portals::Process* portals = nullptr;

  Phase phase = Phase::loading;
  bool joined = false;   // between PMIx_Init and PMIx_Finalize
  bool in_fence = false; // waits for the others
  cli::RankEnd end;
  SimTime finished = 0;
  std::uint64_t changes =
      0; // grows with whatever a thread that looks at memory may see of the NIC or of another thread
  observe::RankStatistics statistics;

private:
  struct Waiting {
    engine::Actor* actor;
    For what;
  };
  template <class Block> bool wait_with(For what, Block block);
  std::vector<Waiting> waiting_;
};

} // namespace umwelt::job
