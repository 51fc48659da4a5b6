// SPDX-License-Identifier: LGPL-2.1-or-later
// Who waits for whom in calls of MPI, for the report of a deadlock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "preload/abi/mpi_calls.h"

namespace umwelt::mpi
{

// A call that a rank is in.
struct Wait {
  std::uint32_t rank = 0; // in its job
  umw_mpi_call call{};
  std::vector<std::int32_t> members; // of its communicator, as ranks of the job; empty: not known
};

// "MPI_Recv from 1, tag 7, on MPI_COMM_WORLD", without a capital or an end.
std::string describe(const umw_mpi_call& call);

// For whom it waits, ascending: of somebody who waits for any of several, nobody is known. `waits`: at most one of each
// rank, all of one job.
std::vector<std::uint32_t> waited_for(const Wait& wait, const std::vector<Wait>& waits);

// A circle of ranks, each of which waits for the next, the last for the first; the one with the lowest rank, and of
// these the shortest. Empty: none is known of.
std::vector<std::uint32_t> cycle(const std::vector<Wait>& waits);

// "cycle: 0 waits in MPI_Recv from 1, 1 in MPI_Recv from 0"; empty if there is none.
std::string describe_cycle(const std::vector<Wait>& waits);

} // namespace umwelt::mpi
