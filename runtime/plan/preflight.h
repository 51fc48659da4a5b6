// SPDX-License-Identifier: LGPL-2.1-or-later
// Before anything starts: does the run fit on this machine? What it needs is estimated from below, so that what is
// refused could not have run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/machine_limits.h"
#include "runtime/plan/worker_plan.h"

namespace umwelt::plan
{

// A program, as far as its ranks' needs depend on it.
struct ProgramSize {
  std::size_t libraries = 0; // all that it is linked to, directly or not
  bool open_mpi = false;
};

// As many ranks of any of these programs as one process has mappings and descriptors for; at least 1.
unsigned ranks_that_fit(std::span<const ProgramSize> programs, const MachineLimits& limits);

struct Needs {
  unsigned ranks = 0;
  std::uint64_t memory = 0;       // bytes, of all processes, beyond what the runtime has when it starts
  std::uint64_t maps = 0;         // of the process that has most
  std::uint64_t maps_of_rank = 0; // of the rank that has most
  std::uint64_t threads = 0;      // of all processes, which are threads to the kernel, too
  std::uint64_t descriptors = 0;  // of the process that has most
  // What neither programs nor their libraries open of these, in the process that has most ranks.
  std::uint64_t descriptors_of_runtime = 0;
};

// `program_of_rank`: indices into `programs`; `plan`: of plan_workers().
Needs estimate_needs(std::span<const ProgramSize> programs, std::span<const unsigned> program_of_rank,
                     const WorkerPlan& plan);

struct Shortage {
  std::string object;
  std::string expected;
  std::string got;
  std::string next; // what to change, and where
};

std::vector<Shortage> find_shortages(const Needs& needs, const MachineLimits& limits);

// All of them as one message.
std::string shortage_text(unsigned ranks, std::span<const Shortage> shortages);

} // namespace umwelt::plan
