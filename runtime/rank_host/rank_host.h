// SPDX-License-Identifier: LGPL-2.1-or-later
// A process that carries ranks: the runtime's own, or a worker process (runtime/worker). It has them loaded, runs their
// threads on fibers, measures their bursts, cuts them and catches their faults and signals. What they ask for is a
// request to the simulation: served on the spot in the runtime's process, sent there from a worker process.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ucontext.h>

#include "loader/rank_loader.h"
#include "preload/abi/gate.h"
#include "runtime/engine/scheduler.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/fold/rules.h"
#include "runtime/kernels/kernels_file.h"
#include "runtime/mpi/event_spool.h"
#include "runtime/rank_host/cpu.h"
#include "runtime/rank_host/directory.h"
#include "runtime/rank_host/file_mask.h"
#include "runtime/rank_host/path_times.h"
#include "runtime/rank_host/step_count.h"

namespace umwelt::rank_host
{

class Folding;
class KernelCalls;
class Slices;
struct FoldedMemory;
struct KernelUnderWay;
struct ProgramChange;
struct Rank;
using sim::SimTime;

constexpr std::size_t smallest_stack = 8UL << 20; // bytes, of any thread
std::size_t main_stack();                         // bytes, as `ulimit -s` says

// What time slices know of a thread since its last call (slices.h).
struct Watch {
  struct Tick {
    SimTime cpu; // time of the OS thread
    std::uintptr_t pc;
  };
  std::uint64_t crossings = 0; // of the rank, up to that call
  unsigned ticks = 0;
  unsigned next_check = 1;
  unsigned next_pause_check = 0;
  unsigned next_cut = 0;
  std::array<Tick, 64> history{};
};

// A thread of a rank, where it is carried.
struct Thread {
  explicit Thread(Rank& of);
  ~Thread();

  Rank& rank;
  engine::ThreadPointer thread_pointer = 0; // the thread control block it lives on,
  std::int32_t kernel_id = 0;               // and what the C library takes for its id: owner of its mutexes
  engine::Actor* fiber = nullptr;
  void* base = nullptr; // of a main thread's stack: nothing above is the program's
  unsigned slot = 0;    // in a worker process: on its board
  bool trapped = false; // it was last left by a trap, not by a call
  Watch watch;
  // At the breakpoint of a loop (waiting_loops.h):
  gregset_t at_breakpoint{};           // registers when it last came there
  std::vector<unsigned char> extended; // and the others, if it was no `pause`
  unsigned same_visits = 0;            // with these
  std::uint64_t changes_seen = 0;      // of the gate, then
  bool idle = false;                   // it has asked to be blocked there since
  unsigned lone_ticks = 0;             // that were the first since a call
  SimTime debt_before = 0;             // of the gate's clock, before it went round
  unsigned forced_wakeups = 0;         // how often it has been let go on in a row,
  unsigned passes = 0;                 // and how often it still passes then,
  std::uint64_t passes_since = 0;      // unless it has made a call (crossings)
  // Of the burst under way (path_times.h):
  PathEnd from = 0, to = 0;
  std::uint64_t counted_in_vain = 0; // steps; 0: it was not
  std::uint64_t held = 0;            // ticks that it has taken before others ran; 0: none have
  std::uintptr_t first_depth = 0;    // of the stack, at its first call
  std::uintptr_t depth = 0;          // of the call under way, below that
  std::uint64_t polls = 0;           // of the gate, when it began
  bool paused = false;               // umw_gate::paused, while a call is under way
  Burst settled;                     // of it, up to where the program last looked at the clock,
  SimTime charged = 0;               // and what of the gate's debt is for that
  std::vector<KernelUnderWay> kernels;

  // What the program has of its stack, unless it has made one itself.
  struct StackWords {
    const std::uint64_t *bottom, *top;
  };
  [[nodiscard]] StackWords stack_words() const;
};

// A rank, where it is carried. All but the linker and the threads is known before the process exists.
struct Rank {
  explicit Rank(umw_gate& g);
  ~Rank();

  umw_gate& gate;
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string program_path;
  std::string interpreter;                // its dynamic linker
  std::vector<std::string> preloaded;     // libumwelt-preload.so, and others before it (loader/rank_loader.h)
  std::vector<std::string> libraries;     // of the program
  std::string loading_directory;          // for what loading it needs
  loader::AddressRange linked_at;         // where the program has to lie, if anywhere
  std::shared_ptr<Directory> directory;   // working directory; ranks that have not left it share one
  mode_t file_mask = FileMask().before(); // umask(2)

  std::unique_ptr<loader::RankLoader> loader;        // null: its program is not loaded yet
  std::unique_ptr<ProgramChange> next;               // what umw_exec_find has found
  std::vector<loader::AddressRange> uninterruptible; // code of the shim, which counts on that
  std::vector<loader::AddressRange> of_process;      // code that other threads of the process execute as well
  std::vector<loader::AddressRange> locking;         // code of its C library and ld.so
  std::vector<loader::AddressRange> code;            // of the program itself
  std::vector<std::unique_ptr<Thread>> threads;      // the first is the main one
  std::unique_ptr<FoldedMemory> folded;              // --fold; null: it has none yet
  std::vector<bool> traced;                          // functions whose names the trace has been told
};

// What the user wants of the ranks of a process.
struct Work {
  SimTime quantum = 0;                             // of time slices
  std::shared_ptr<const kernels::Kernels> kernels; // that are modelled; null: none
  std::shared_ptr<const fold::Rules> folding;      // null: nothing is forgotten
  std::shared_ptr<mpi::EventSpool> events;         // calls of MPI, for a trace; null: they are not traced
};

class RankHost
{
public:
  // All outlive the RankHost.
  RankHost(engine::Scheduler& fibers, Cpu& cpu);
  virtual ~RankHost();
  // Of this process: the last one made.
  [[nodiscard]] static RankHost& here() { return *here_; }
  RankHost(const RankHost&) = delete;
  RankHost& operator=(const RankHost&) = delete;

  // The thread whose code runs, or whose request is on its way; null: none.
  [[nodiscard]] virtual Thread* running() const = 0;
  // Asks the simulation; by the running thread, on the runtime's side. Does not return if that ends the thread.
  virtual void request(Thread& thread, std::uint32_t operation, void* arguments) = 0;
  // The user or the clock wants the run to end. `context`: of the rank whose code it interrupted, or null.
  virtual void on_request(int signal, const ucontext_t* context) = 0;
  // The signal for Slices::on_hurry has come. On either side; async-signal-safe.
  virtual void on_hurry() {}
  // A fault on the runtime's side.
  [[noreturn]] virtual void on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context) = 0;

  // A call that crosses the gate: a request, unless this process can answer.
  void call(Thread& thread, std::uint32_t operation, void* arguments);
  // The running thread is about to go on behind a call: whether its instructions are to be counted, step by step.
  [[nodiscard]] bool begin_count(Thread& thread);
  // Of a burst that is being counted; null: none is.
  [[nodiscard]] StepCount* step_count()
  {
    return step_count_ && step_count_->under_way() ? step_count_.get() : nullptr;
  }
  // Loads the rank and runs its program; on the main thread's fiber. Again, after Rank has become another program's,
  // for execve(2).
  [[noreturn]] void live(Thread& main);
  // The program of the thread is gone, and with it what the thread was about.
  virtual void abandon(Thread& thread);
  // A thread that starts on the rank's side.
  Thread& add_thread(Rank& rank);
  // One that has ended, or was never to live.
  void remove_thread(const Thread& thread);
  [[noreturn]] void live(Thread& thread, umw_thread_start start, void* argument);
  // Acts on the signals that are due for the thread, on its stack as it stands. `context` (or null): where it was
  // interrupted. True: a call that waits is to fail with EINTR, even if it could be restarted.
  bool deliver_pending(Thread& thread, void* context);
  // The rank dies of a signal.
  [[noreturn]] void die(Thread& thread, int signal, const siginfo_t* information, const ucontext_t* context);

  // The thread is about to go on: what belongs to the process as a whole becomes the rank's, and its burst begins.
  void begin_burst(Thread& thread);
  // The burst that ends now.
  Burst end_burst(Thread& thread);
  // The program looks at the clock: what led there is charged as such paths are, and the burst goes on.
  void settle_path(Thread& thread);
  // Others of the process run next, in the middle of a burst. A short one is not charged before it ends, as a whole: it
  // is one of its path, however long it took here to be stopped. A long one is not held (Thread::held).
  void hold_burst(Thread& thread);
  // Around time that is not the program's, in the middle of a burst.
  void pause_burst(Rank& rank);
  void resume_burst(Rank& rank);

  // The running thread is on the signal stack, of which there is one: it is not to be left standing.
  [[nodiscard]] static bool must_not_switch();
  // Whether the rank's own system calls are to be dispatched (engine/syscalls.h): one that waits must not stop the
  // others.
  [[nodiscard]] bool dispatches(const Rank& rank) const { return dispatching_ && rank.threads.size() > 1; }
  [[nodiscard]] Cpu& cpu() { return cpu_; }
  [[nodiscard]] Slices* slices() { return slices_.get(); } // null: not yet, or no longer
  [[nodiscard]] engine::Scheduler& fibers() { return fibers_; }
  [[nodiscard]] KernelCalls* kernel_calls() { return kernel_calls_.get(); } // null: no kernel is modelled
  [[nodiscard]] Folding* folding() { return folding_.get(); }               // null: no memory is forgotten
  // What is being counted of the burst is of no use.
  void give_up_count(Thread& thread);
  // The thread enters (or leaves) a function of the program that a trace is to show.
  void trace_function(Thread& thread, std::uint32_t number, const std::string& symbol, bool enters);
  // What the user asked for cannot be done, as turns out now.
  [[noreturn]] void end_misused(Thread& thread, const std::string& text);

protected:
  void begin_slices(const Work& work);
  void end_slices();

private:
  Burst end_path(Thread& thread);
  void keep_events(Rank& rank, const void* events, std::size_t bytes);
  void keep_event(Rank& rank, const umw_event& event);
  void keep_last_events(Rank& rank);
  bool serve_here(Thread& thread, std::uint32_t operation, void* arguments);
  loader::RankLoader::Failure load(Thread& main);
  // Where ranks share a dynamic linker, another one may be opening something.
  void await_linker(Thread& main);
  int find_program(Thread& thread, const char* path, const void* argv, const void* environment);
  [[noreturn]] void change_program(Thread& main);
  int change_directory(Rank& rank, const char* path, int fd);
  void use_directory_of(const Rank& rank);
  void use_file_mask(mode_t mask);

  static RankHost* here_;
  engine::Scheduler& fibers_;
  Cpu& cpu_;
  std::unique_ptr<Slices> slices_;
  std::unique_ptr<KernelCalls> kernel_calls_;
  std::unique_ptr<Folding> folding_;
  std::shared_ptr<mpi::EventSpool> events_;
  std::unique_ptr<PathTimes> path_times_; // null: bursts are charged as measured
  std::unique_ptr<StepCount> step_count_; // likewise
  std::optional<Count> counted_;          // of the burst that ends
  bool dispatching_ = false;              // system calls of ranks with several threads come here
  std::shared_ptr<Directory> current_directory_;
  const mode_t own_file_mask_ = FileMask().before();
  mode_t current_file_mask_ = own_file_mask_;
};

} // namespace umwelt::rank_host
