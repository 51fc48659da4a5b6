// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of MPI in the report of a deadlock (--mpi-calls).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/observe/statistics.h"

namespace umwelt::job
{

class Rank;
struct Thread;

// A line: the call of MPI that the thread is in, since when; empty: none is known of.
std::string mpi_call_of(const Thread& thread);

// Where the main threads of ranks are that have not ended, and who waits for whom in them; numbers are those of the
// run. Without places and what to do. `end`: none is later.
observe::DeadlockRecord waits_of(const std::vector<std::unique_ptr<Rank>>& ranks, sim::SimTime end);

// For each job, a line with ranks that wait for each other in their main threads, if there are such.
std::string mpi_cycle(const std::vector<std::unique_ptr<Rank>>& ranks);

} // namespace umwelt::job
