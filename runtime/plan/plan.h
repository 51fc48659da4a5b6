// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything a run needs to know before it starts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loader/private_directory.h"
#include "loader/program.h"
#include "platforms/platform.h"
#include "runtime/fold/rules.h"
#include "runtime/kernels/kernels_file.h"
#include "runtime/mpi/collective_models.h"
#include "runtime/observe/power_trace.h"
#include "runtime/observe/trace.h"
#include "runtime/plan/options.h"
#include "runtime/plan/placement.h"

namespace umwelt::plan
{

struct ProgramPlan {
  loader::Program program;
  std::vector<std::string> environment; // of its ranks, but for what differs between ranks
  std::string directory;                // working directory, absolute
  bool same_addresses = false;          // in all of its ranks, each of which needs a process for itself then
  PortalsAbi portals_abi = PortalsAbi::four_three;
  std::string portals_library; // preloaded before all others: what translates that ABI; empty: nothing has to
};

// A rank whose program a script or tool has executed, which natively goes on when the rank has ended.
struct InWrapper {
  bool is = false;
  std::array<int, 3> streams = {-1, -1, -1}; // what its 0, 1, 2 lead to; -1: what other ranks' do
};

// A program that a rank starts while the run is under way.
struct SpawnedProgram {
  unsigned context = 0; // application context of the rank that starts it
  std::vector<std::string> argv;
  std::vector<std::string> environment; // on top of what programs of that context have
  std::string directory;                // absolute
};

struct Plan {
  RunOptions options;
  std::vector<ProgramPlan> programs;
  std::shared_ptr<const kernels::Kernels> kernels;          // null: none
  std::shared_ptr<const fold::Rules> folding;               // null: no memory is forgotten
  std::shared_ptr<const mpi::CollectiveModels> collectives; // null: all are those of the MPI library
  std::unique_ptr<platform::Platform> platform;
  std::unique_ptr<platform::LinkFailures> failures; // of its links; null: none
  NodeModels models;
  NodeCpus cpus;
  std::shared_ptr<const PowerPlan> power; // null: what it draws and costs is not known
  std::vector<BreakPoint> breaks;         // --break
  Placement placement;
  std::vector<unsigned> program_of_rank;            // index into `programs`
  std::vector<InWrapper> in_wrapper;                // by rank
  std::vector<std::vector<unsigned>> workers;       // ranks of each; none: all live in the runtime's own process
  std::uint64_t descriptors = 0;                    // that a program may have open
  std::uint64_t most_descriptors = 0;               // to which it may raise that
  std::uint64_t own_descriptors = 0;                // what Umwelt needs of its own in the process that has most ranks
  std::unique_ptr<observe::Trace> trace;            // null: not asked for
  std::unique_ptr<observe::PowerTrace> power_trace; // likewise
  Loader loader = Loader::linker;                   // not `automatic`
  std::vector<std::string> preloaded;               // into ranks: libumwelt-preload.so, and others before it
  // Throws UsageError, loader::Refusal.
  std::function<ProgramPlan(const SpawnedProgram&)> plan_spawned;
  // What is short on this machine for so many more ranks of these programs, as a message; empty: nothing. `maps`: that
  // the process which takes them has already.
  std::function<std::string(std::span<const ProgramPlan* const> program_of_rank, std::uint64_t maps)> find_shortage;
};

} // namespace umwelt::plan
