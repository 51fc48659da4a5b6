// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/otf2_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "runtime/mpi/functions.h"

namespace umwelt::observe
{

namespace
{

struct Collective {
  std::string_view name;
  OTF2_CollectiveOp operation;
  OTF2_RegionRole role;
};

constexpr auto collectives = std::to_array<Collective>({
    {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Barrier", OTF2_COLLECTIVE_OP_BARRIER, OTF2_REGION_ROLE_BARRIER},
    {"Bcast", OTF2_COLLECTIVE_OP_BCAST, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {"Gather", OTF2_COLLECTIVE_OP_GATHER, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Gatherv", OTF2_COLLECTIVE_OP_GATHERV, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Reduce", OTF2_COLLECTIVE_OP_REDUCE, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER, OTF2_REGION_ROLE_COLL_OTHER},
    {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, OTF2_REGION_ROLE_COLL_OTHER},
    {"Scan", OTF2_COLLECTIVE_OP_SCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {"Scatter", OTF2_COLLECTIVE_OP_SCATTER, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Scatterv", OTF2_COLLECTIVE_OP_SCATTERV, OTF2_REGION_ROLE_COLL_ONE2ALL},
});

// "Allreduce" of MPI_Iallreduce_init_c.
std::string base_name(std::uint32_t function)
{
  std::string name(mpi::function_name(function).substr(sizeof "MPI_" - 1));
  for (const std::string_view tail : {"_c", "_init"})
    if (name.ends_with(tail))
      name.resize(name.size() - tail.size());
  if (name.size() > 1 && name[0] == 'I' && name[1] >= 'a' && name[1] <= 'z') {
    name.erase(0, 1);
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  }
  return name;
}

const Collective* collective_of(std::uint32_t function)
{
  const std::string name = base_name(function);
  const auto* const found =
      std::find_if(collectives.begin(), collectives.end(), [&name](const Collective& one) { return one.name == name; });
  return found == collectives.end() ? nullptr : found;
}

} // namespace

OTF2_RegionRole otf2_role(std::uint32_t function)
{
  switch (mpi::function_class(function)) {
  case UMW_MPI_point_to_point:
  case UMW_MPI_completion:
    return OTF2_REGION_ROLE_POINT2POINT;
  case UMW_MPI_collective: {
    const Collective* const one = collective_of(function);
    return one != nullptr ? one->role : OTF2_RegionRole{OTF2_REGION_ROLE_COLL_OTHER};
  }
  case UMW_MPI_one_sided:
    return OTF2_REGION_ROLE_RMA;
  case UMW_MPI_io: {
    const std::string_view name = mpi::function_name(function);
    return name.find("read") != std::string_view::npos || name.find("write") != std::string_view::npos
               ? OTF2_REGION_ROLE_FILE_IO
               : OTF2_REGION_ROLE_FILE_IO_METADATA;
  }
  case UMW_MPI_management:
  case UMW_MPI_clock:
    break;
  }
  return OTF2_REGION_ROLE_FUNCTION;
}

std::optional<OTF2_CollectiveOp> otf2_collective(std::uint32_t function)
{
  const Collective* const one = collective_of(function);
  return one != nullptr ? std::optional(one->operation) : std::nullopt;
}

OTF2_RmaAtomicType otf2_atomic(std::uint32_t function)
{
  switch (function) {
  case UMW_MPI_Compare_and_swap:
    return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
  case UMW_MPI_Fetch_and_op:
  case UMW_MPI_Get_accumulate:
  case UMW_MPI_Get_accumulate_c:
  case UMW_MPI_Rget_accumulate:
  case UMW_MPI_Rget_accumulate_c:
    return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
  default:
    return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
  }
}

} // namespace umwelt::observe
