// SPDX-License-Identifier: LGPL-2.1-or-later
// What the user asks of a run, as data: what `umwelt run` was given, wherever it stood. Parsed in
// runtime/plan/options.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platforms/link_factors.h"
#include "platforms/link_failures.h"
#include "runtime/base/time.h"
#include "runtime/engine/cpu_policy.h"
#include "runtime/observe/trace_format.h"
#include "runtime/plan/break_points.h"
#include "runtime/plan/hosts.h"
#include "runtime/plan/node_cpus.h"
#include "runtime/plan/node_models.h"
#include "runtime/plan/node_order.h"
#include "runtime/plan/portals_abi.h"
#include "runtime/plan/power.h"

namespace umwelt::plan
{

using Setting = std::pair<std::string, std::string>; // key, value

// One program of the job (several are separated by ':').
struct AppContext {
  std::vector<std::string> argv; // program as written, then its arguments; never empty
  std::optional<unsigned> ranks; // -np
  std::string directory;         // -wdir as written; empty: Umwelt's own
  std::vector<Setting> exports; // -x, values taken from the environment where none was given; the last of a name counts
  std::vector<Setting> mca;     // --mca
  std::optional<PortalsAbi> portals_abi; // --portals-abi; none: what it tells of itself
  std::vector<Host> hosts; // --host and --hostfile together; empty: those of the other programs, or none at all
};

// How ranks are dealt to the nodes.
enum class MapBy {
  automatic, // one rank per node without hosts, else slot
  slot,      // a node after the other, each until its slots are taken
  node,      // round robin
};

// How the ranks that were dealt are numbered: node after node, or round robin over the nodes.
enum class RankBy { slot, node };

struct OutputFiles {
  std::string directory;     // --output-filename: DIR/1/rank.N/{stdout,stderr}; empty: not asked for
  bool job_directory = true; // false (":nojobid"): DIR/rank.N/...
  bool copy = true;          // false (":nocopy"): not on Umwelt's own stdout and stderr
};

// How ranks are loaded (loader/README.md).
enum class Loader { automatic, linker, dlmopen };

// Over how many processes the ranks are spread.
struct WorkerWishes {
  std::optional<unsigned> workers;          // --workers N; 0: the runtime's own process; not given: as needed
  std::optional<unsigned> ranks_per_worker; // --ranks-per-worker
  bool parallel = false;                    // -j N was given, N > 1: a worker process for each job
};

// What `umwelt kernels` is to find out.
struct WatchWishes {
  std::string output = "kernels.yaml";
  bool overwrite = false;             // --force
  double least = 0.01;                // of the time of computing, that a function in the file has
  std::vector<std::string> functions; // symbols besides those of the built-in table
};

struct RunOptions {
  std::vector<AppContext> programs;

  std::optional<unsigned> ranks_per_node; // -N, --npernode, --pernode, --map-by ppr:N:node
  MapBy map_by = MapBy::automatic;
  std::optional<RankBy> rank_by; // not given: as mapped
  NodeOrder node_order;          // --placement
  unsigned cores_per_rank = 1;   // --cpus-per-rank, --map-by ...:PE=N
  bool bound = true;             // threads of a rank stay on its own cores
  bool oversubscribe = false;
  std::optional<unsigned> universe; // --universe: ranks at a time, those that are spawned included
  bool display_map = false;
  bool fault_tolerant = false; // --with-ft: a rank that dies does not end the job

  std::vector<Setting> global_mca; // --gmca

  bool tag_output = false;       // "[1,RANK]<stdout>:" before each line
  bool timestamp_output = false; // time before each line
  bool merge_stderr = false;     // ranks' stderr goes to stdout
  OutputFiles output;
  std::optional<unsigned> timeout; // wall-clock seconds: --timeout, else MPIEXEC_TIMEOUT
  int verbosity = 0;               // -q: -1, default 0, one more per -v

  std::string platform = "bxi";           // catalogue name with parameters, or path of a SimGrid XML file
  std::string model = "bxi";              // name of a net model
  std::vector<ModelChoice> node_models;   // --nodes
  std::vector<TimedModel> timed_models;   // --model-at
  std::vector<RegionModel> region_models; // --model-region
  std::vector<TimedCpu> timed_cpus;       // --cpu-at
  std::vector<RegionCpu> region_cpus;     // --cpu-region
  bool ctl = false;                       // umwelt ctl may change it
  std::optional<std::string> serve;       // --serve: address and port, for whoever watches; empty: the default
  std::vector<BreakPoint> breaks;         // --break, in the order given
  std::vector<Setting> nic;           // --nic, in the order given; a key "@FILE" without value: parameters of that file
  std::vector<Setting> node;          // --node, likewise
  std::string shm_size;               // --shm-size as written; empty: as --node says
  platform::LinkFactors link_factors; // --latency-factor, --bandwidth-factor, in the order given
  double compute_factor = 1;          // --compute-factor
  std::vector<platform::LinkFailure> faults; // --fault
  engine::CpuPolicy cpu;
  sim::SimTime cpu_threshold = 0; // bursts below are dropped
  // Here the data is in the cache when the rank reads it; a NIC writes past the caches of an EPYC 7763, and memory is
  // 96 to 105 ns away.
  sim::SimTime cpu_first_touch = 100 * sim::nanosecond;
  std::vector<std::string> kernels_files;       // --kernels, in the order given
  std::optional<WatchWishes> watch;             // `umwelt kernels`
  std::vector<std::string> collectives;         // --collectives, in the order given
  std::vector<std::string> fold_rules;          // --fold, in the order given
  std::uint64_t fold_budget = 0;                // bytes, of all ranks; 0: so much for each
  sim::SimTime quantum = 10 * sim::millisecond; // wall-clock between interruptions of a thread that makes no calls
  PowerWishes power;
  std::uint64_t seed = 0;
  unsigned repeat = 1;         // runs of the same, one after the other
  bool summary = true;         // at the end
  bool notes_said = false;     // by the run before
  std::string report;          // path; empty: none
  std::string html;            // the same, of its page
  std::string trace;           // the same
  bool report_details = false; // what its page shows besides
  std::optional<observe::TraceFormat>
      trace_format;                         // --trace-format, else by the name of the file; set if there is a trace
  std::vector<std::uint32_t> trace_ranks;   // ascending; empty: all
  std::vector<std::string> trace_functions; // of the program, by their symbols
  bool mpi_calls = false;                   // followed by name
  bool keep_temps = false;
  bool same_addresses = false; // in all ranks of a program

  Loader loader = Loader::automatic;
  WorkerWishes workers;
  unsigned jobs = 1; // --jobs: bursts computed at the same time; parse_run's default: the CPUs this process may use

  bool help = false;    // --help was met: nothing else is filled in
  bool version = false; // the same for --version

  std::vector<std::string>
      notes; // one line each, for stderr unless -q: what was accepted and has no effect, and the like
};

} // namespace umwelt::plan
