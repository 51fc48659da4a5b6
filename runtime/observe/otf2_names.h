// SPDX-License-Identifier: LGPL-2.1-or-later
// What functions of MPI are in OTF2.
#pragma once

#include <cstdint>
#include <optional>

#include <otf2/otf2.h>

namespace umwelt::observe
{

// `function`: enum umw_mpi_function.
OTF2_RegionRole otf2_role(std::uint32_t function);
// Of whatever form (MPI_Iallreduce_c); none: OTF2 has no such operation (neighbourhood collectives).
std::optional<OTF2_CollectiveOp> otf2_collective(std::uint32_t function);
OTF2_RmaAtomicType otf2_atomic(std::uint32_t function);

} // namespace umwelt::observe
