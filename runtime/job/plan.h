// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything a run needs to know before it starts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loader/private_folder.h"
#include "loader/program.h"
#include "platforms/platform.h"
#include "runtime/cli/options.h"
#include "runtime/cli/placement.h"
#include "runtime/observe/trace.h"

namespace umwelt::job
{

struct ProgramPlan {
  loader::Program program;
  std::vector<std::string> environment; // of its ranks, but for what differs between ranks
  std::string folder;                   // working directory, absolute
  bool same_addresses = false;          // in all of its ranks, each of which needs a process for itself then
};

// A rank whose program a script or tool has executed, which natively goes on when the rank has ended.
struct InWrapper {
  bool is = false;
  std::array<int, 3> streams = {-1, -1, -1}; // what its 0, 1, 2 lead to; -1: what other ranks' do
};

struct Plan {
  cli::RunOptions options;
  std::vector<ProgramPlan> programs;
  std::unique_ptr<platform::Platform> platform;
  cli::Placement placement;
  std::vector<unsigned> program_of_rank;    // index into `programs`
  std::vector<InWrapper> in_wrapper;        // by rank
  std::vector<std::vector<unsigned>> cells; // ranks of each; none: all live in the runtime's own process
  std::uint64_t descriptors = 0;            // that a program may have open
  std::uint64_t most_descriptors = 0;       // to which it may raise that
  std::uint64_t own_descriptors = 0;        // what Umwelt needs of its own in the process that has most ranks
  std::unique_ptr<observe::Trace> trace;    // null: not asked for
  std::string shim;                         // path of libumwelt-preload.so
};

} // namespace umwelt::job
