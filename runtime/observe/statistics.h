// SPDX-License-Identifier: LGPL-2.1-or-later
// What is counted while a job runs. Plain data: whoever counts adds to it, report.h shows it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/mpi/totals.h"
#include "runtime/observe/details.h"
#include "runtime/observe/energy.h"

namespace umwelt::observe
{

// Messages by size in powers of two: class 0 holds empty messages, class k sizes 2^(k-1) .. 2^k-1.
class SizeHistogram
{
public:
  static constexpr std::size_t classes = 65;

  static constexpr std::size_t class_of(std::uint64_t bytes) { return static_cast<std::size_t>(std::bit_width(bytes)); }
  static constexpr std::uint64_t least(std::size_t size_class)
  {
    return size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
  }
  static constexpr std::uint64_t most(std::size_t size_class)
  {
    return size_class == 64 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << size_class) - 1;
  }

  void add(std::uint64_t bytes) { ++counts_[class_of(bytes)]; }
  void add(const SizeHistogram& other);
  [[nodiscard]] std::uint64_t count(std::size_t size_class) const { return counts_[size_class]; }

private:
  std::array<std::uint64_t, classes> counts_{};
};

struct RankStatistics {
  // Simulated time, in ps. Their sum is the rank's life, up to what it slept.
  sim::SimTime compute = 0;       // the program's own bursts;
  sim::SimTime learned = 0;       // of that: known by their paths (runtime/rank_host/path_times.h),
  sim::SimTime doubt = 0;         // which may be off by so much
  sim::SimTime left_out = 0;      // measured besides, but taken for this machine's, so no part of `compute`
  sim::SimTime communication = 0; // CPU time spent on commands to the NIC and on taking events from it
  sim::SimTime waiting = 0;       // blocked: waits, and polls that had nothing to find

  // Of the initiator's and the target's side of Portals operations (acknowledgements and replies are part of them).
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  SizeHistogram sizes;                // of messages sent
  std::uint64_t messages_refused = 0; // by the target's NIC, which had no room for them: somebody sends them again

  // Of TCP and UDP: segments of streams with payload, and datagrams. Their payload alone.
  std::uint64_t segments_sent = 0;
  std::uint64_t segment_bytes_sent = 0;
  std::uint64_t segments_received = 0;
  std::uint64_t segment_bytes_received = 0;

  std::uint64_t crossings = 0;      // calls that left the rank's side for the runtime's
  std::uint64_t interruptions = 0;  // of threads that go on without a call; differs from run to run
  std::uint64_t polls_answered = 0; // empty polls that were answered at once
  std::uint64_t polls_saved = 0;    // empty polls that blocked until something could have changed
  std::uint64_t events = 0;         // Portals events and counter updates delivered to the rank
};

struct RankRecord {
  std::string host;          // name of the simulated node
  unsigned program = 0;      // index in JobRecord::programs
  unsigned job = 1;          // 1: the run's own; others were started by ranks (MPI_Comm_spawn)
  unsigned number = 0;       // in its job
  sim::SimTime finished = 0; // simulated time of its end
  int exit_status = 0;
  int signal = 0; // that killed it; 0: none
  RankStatistics statistics;
};

// A function whose calls were followed (--kernels), in all ranks.
struct KernelRecord {
  std::string name;
  std::string action; // as the kernels file has it: run, model, skip, sample
  std::uint64_t calls = 0;
  std::uint64_t skipped = 0; // of these: not run,
  std::uint64_t sampled = 0; // run to be measured
  sim::SimTime time = 0;     // simulated, ps, of all ranks,
  sim::SimTime most = 0;     // and of the rank with most
  bool exists = true;        // false: neither the program nor its libraries have such a function
  std::string nearest;       // then: the name that is most like it, or empty
  // Where its calls are told by their sizes (watch): how many different ones, and of each size what there was.
  struct Size {
    std::string name;
    double least = 0;
    double median = 0; // of calls
    double most = 0;
  };
  std::size_t classes = 0;
  std::vector<Size> sizes;
};

// A collective of MPI whose time was a model's (--collectives), in all ranks.
struct CollectiveRecord {
  std::string name;  // of the blocking function, which stands for its other forms
  std::string model; // as given
  std::uint64_t calls = 0;
  sim::SimTime time = 0; // simulated, ps, from the call to its end, of all ranks
};

// A function in which ranks were when ticks of their CPU time came (umwelt kernels).
struct ProfileRecord {
  std::string function; // its symbol; empty: it has none
  std::string object;   // file name
  std::uint64_t ticks = 0;
};

// A rule of forgetful memory (--fold), in all ranks.
struct FoldRecord {
  std::string rule;            // as given
  std::uint64_t pieces = 0;    // allocations that fitted it,
  std::uint64_t bytes = 0;     // of all of them,
  std::uint64_t forgotten = 0; // and how often the contents of one were
  bool exists = true;          // false: nothing that ranks have loaded has the function that it names
  std::string nearest;         // then: the function that is most like it, or empty
};

// Something that was not as platform and model have it (--latency-factor and the like).
struct FactorRecord {
  std::string of;    // latency, bandwidth, compute
  std::string links; // which ones, as given; empty: all
  double factor = 1;
};

// Links that fail for a while (--fault), and what that did to messages.
struct FaultRecord {
  struct Failure {
    std::string links; // as given
    std::uint64_t count = 0;
    sim::SimTime at = 0;
    sim::SimTime length = sim::never; // never: for good
    std::uint64_t times = 1;          // by a profile, which goes on; `at` and `length` are the first
  };
  std::vector<Failure> failures;
  std::uint64_t rerouted = 0; // messages that took another way,
  std::uint64_t delayed = 0;  // had to wait for a way,
  sim::SimTime waited = 0;    // so long in all,
  std::uint64_t resent = 0;   // were on a link when it failed,
  std::uint64_t failed = 0;   // have never arrived
};

// From then on so many nodes have had something else than before.
struct NodeChange {
  sim::SimTime at = 0;
  std::size_t nodes = 0;
  std::string now; // as users write it
};

// Nodes with models of their own, and with others from some time on (--nodes, --model-at, --model-region, umwelt ctl).
struct ModelsRecord {
  struct Nodes {
    std::string model; // as given
    std::size_t nodes = 0;
  };
  std::vector<Nodes> models; // at the beginning; none: all nodes have the same, and keep it
  std::vector<NodeChange> changes;
  std::vector<std::string> not_reached; // options that were for a time, or a place in the program, that never came
  std::uint64_t handed_over = 0;        // messages from a node of one model to one of another
  std::uint64_t held = 0;               // that waited for earlier ones in the models of before
};

// Nodes whose computing counts otherwise from some time on (--cpu-at, --cpu-region, umwelt ctl).
struct CpusRecord {
  bool change = false; // otherwise nothing was to change
  std::vector<NodeChange> changes;
  std::vector<std::string> not_reached;
};

// Why a run could not go on: where the ranks' main threads were when no more could happen.
struct DeadlockRecord {
  struct Wait {
    std::uint32_t rank = 0;
    std::string call;  // "MPI_Recv from 1, tag 7, on MPI_COMM_WORLD"; without --mpi-calls what the rank asked for
    std::string place; // that called it; empty: not known
    sim::SimTime since = 0;
    std::vector<std::uint32_t> others; // ranks that it waits for; empty: not known
  };
  std::vector<Wait> waits;          // by rank; those that have ended are not there
  std::vector<std::uint32_t> cycle; // ranks, each of which waits for the next; empty: none is known of
  std::string next_step;
};

// What depends on the machine that simulates and differs from run to run.
struct HostFigures {
  double wall_seconds = 0;
  double cpu_seconds = 0; // user and system, all threads
  std::uint64_t peak_resident_bytes = 0;
  double waited_seconds = 0; // ready to run, but others had the processor
  double stolen_share = 0;   // of this machine's processors' time, that other virtual machines had

  // Of the time in which something was to be computed, in which it was not.
  [[nodiscard]] double kept_waiting() const
  {
    const double wanted = cpu_seconds + waited_seconds;
    const double waited = wanted > 0 ? waited_seconds / wanted : 0;
    return 1 - (1 - waited) * (1 - stolen_share);
  }
};

// Of a job that was not broken off.
inline constexpr const char* completed = "completed";

// A job that has ended.
struct JobRecord {
  std::string version;               // of Umwelt
  std::vector<std::string> programs; // command line of each
  std::string platform;
  std::size_t nodes = 0; // of the platform
  std::string model;
  std::string cpu_policy; // as given to --cpu
  bool measured = false;  // bursts were, as that asks for
  std::uint64_t seed = 0;
  std::vector<FactorRecord> factors; // in force, in the order given; none: all are 1
  int exit_code = 0;
  std::string ending;                // `completed`, or one line that says why not
  sim::SimTime simulated = 0;        // when the last rank ended
  std::uint64_t timeline_events = 0; // that the simulation fired
  std::vector<RankRecord> ranks;
  ModelsRecord models;
  CpusRecord cpus;
  FaultRecord faults; // of no failures: no link fails
  std::vector<KernelRecord> kernels;
  std::vector<ProfileRecord> profile; // those with most ticks first
  std::vector<FoldRecord> folding;
  std::vector<CollectiveRecord> collectives;      // that were called
  std::vector<mpi::Totals> mpi_calls;             // by rank; none: they were not followed
  std::shared_ptr<const DeadlockRecord> deadlock; // null: it did not end so
  std::shared_ptr<Details> details;               // null: --report-details was not asked for
  std::shared_ptr<const EnergyRecord> energy;     // null: nobody knows what the machine draws
  HostFigures host;
};

} // namespace umwelt::observe
