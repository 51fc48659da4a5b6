// SPDX-License-Identifier: LGPL-2.1-or-later
// Which ranks live in the runtime's own process and which in which worker process, a process for some of them. A
// process has room for so many ranks (ranks_that_fit of preflight.h): Linux counts its memory mappings. A program that
// is not position-independent (ET_EXEC) has its one place in a process, so each of its ranks needs one to itself, be it
// the only one, since it may start others; so do ranks that are to have the same addresses. Ranks of a node share its
// memory, so they belong into one worker process as far as that is possible: where they are in several, they have to
// take turns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/options.h"

namespace umwelt::plan
{

struct WorkerProgram {
  std::string name;  // for messages
  std::string alone; // why each rank needs a process for itself, as in "program NAME ...", if it does
};

struct WorkerPlan {
  // Ranks in ascending order, worker processes by their first rank, every rank in exactly one. Empty: every rank in the
  // runtime's process.
  std::vector<std::vector<unsigned>> workers;
  std::vector<std::string> notes; // one line each
};

struct WorkerRank {
  unsigned program; // index of a WorkerProgram
  std::uint32_t node;
};

// A worker process has 4096 slots for threads (runtime/worker/board.h), of which a rank of Open MPI takes three or
// four, so it carries no more ranks than this, wherever there is room for them.
constexpr unsigned most_ranks_of_worker = 512;

// `jobs`: bursts computed at the same time, at least 1, and as many worker processes if there are any. `room`: ranks
// that fit into a process. Throws UsageError if the ranks cannot be spread as wished.
WorkerPlan plan_workers(const WorkerWishes& wishes, unsigned jobs, std::span<const WorkerRank> ranks,
                        std::span<const WorkerProgram> programs, unsigned room);

} // namespace umwelt::plan
