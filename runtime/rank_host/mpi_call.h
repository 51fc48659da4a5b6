// SPDX-License-Identifier: LGPL-2.1-or-later
// The call of MPI that a thread of a rank is in, as the shim has noted it in the gate (preload/mpi).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "preload/abi/gate.h"

namespace umwelt::rank_host
{

// Null: in none.
inline const umw_mpi_call* mpi_call_of(const umw_gate& gate, std::int32_t tid)
{
  const auto* const end = std::end(gate.mpi_calls);
  const auto* const call = std::find_if(std::begin(gate.mpi_calls), end, [tid](const umw_mpi_call& one) {
    return one.function != UMW_MPI_NONE && one.tid == tid;
  });
  return call == end ? nullptr : call;
}

} // namespace umwelt::rank_host
