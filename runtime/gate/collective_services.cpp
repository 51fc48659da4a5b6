// SPDX-License-Identifier: LGPL-2.1-or-later
// Collectives of MPI whose time is a model's. Only ranks of runs with --collectives ask for them.
#include "runtime/gate/services.h"

#include <cerrno>
#include <cstdint>
#include <span>

#include "runtime/job/collectives.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;

int umw_collective_join(Rank& rank, const void* members, std::uint64_t bytes, std::uint32_t ordinal)
{
  if (rank.job.collectives() == nullptr)
    return -ENOSYS;
  return rank.job.collectives()->join(rank, {static_cast<const std::int32_t*>(members), bytes / sizeof(std::int32_t)},
                                      ordinal);
}

int umw_collective_leave(Rank& rank, int communicator)
{
  return rank.job.collectives() == nullptr ? -ENOSYS : rank.job.collectives()->leave(communicator);
}

std::int64_t umw_collective_begin(Rank& rank, const umw_collective* call)
{
  return rank.job.collectives() == nullptr ? -ENOSYS : rank.job.collectives()->begin(rank, *call);
}

std::int64_t umw_collective_wait(Rank& rank, std::int64_t number, int blocks)
{
  return rank.job.collectives() == nullptr ? -ENOSYS : rank.job.collectives()->wait(rank, number, blocks != 0);
}

std::int64_t umw_collective_vectors(Rank& rank, std::int64_t number, void* buffer, std::uint64_t capacity)
{
  return rank.job.collectives() == nullptr ? -ENOSYS : rank.job.collectives()->vectors(rank, number, buffer, capacity);
}

int umw_collective_reduced(Rank& rank, std::int64_t number, const void* vector)
{
  return rank.job.collectives() == nullptr ? -ENOSYS : rank.job.collectives()->reduced(rank, number, vector);
}

} // namespace umwelt::gate::services
