// SPDX-License-Identifier: LGPL-2.1-or-later
// What a rank has counted of its calls of MPI (--mpi-calls, preload/abi/mpi_calls.h), with names in place of addresses.
#pragma once

namespace umwelt::rank_host
{

class RankHost;
struct Thread;

// The rank is about to end, or to become another program: the runtime is told. Nothing if its calls are not followed.
void tell_mpi_totals(RankHost& rank_host, Thread& thread);

} // namespace umwelt::rank_host
