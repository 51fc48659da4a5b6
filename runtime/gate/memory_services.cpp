// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that ranks of a node share, and the locks, conditions and barriers that lie in it.
#include "runtime/gate/services.h"

#include <cerrno>
#include <cstdint>
#include <vector>

#include <unistd.h>

#include "runtime/gate/deadline.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::gate::services
{

using job::Rank;

int umw_memory_mapped(Rank& rank, std::uint64_t device, std::uint64_t inode, int more)
{
  rank.job.shared_memory().mapped(rank, {device, inode}, more != 0);
  return 0;
}

int umw_memory_copy(Rank& rank, std::uint64_t bytes, int writes)
{
  job::SharedMemory& memory = rank.job.shared_memory();
  memory.copy(rank, bytes, writes != 0 ? 0 : rank.gate.line_ps, writes != 0);
  return 0;
}

int umw_memory_peer(Rank& rank, int pid, std::uint64_t bytes, int writes)
{
  Rank* peer = rank.job.find_rank(rank.node, pid);
  if (peer == nullptr)
    return -ESRCH;
  job::SharedMemory& memory = rank.job.shared_memory();
  const sim::SimTime began = rank.running().now();
  memory.copy(rank, bytes, memory.parameters().system_copy, writes != 0);
  rank.job.exchanged(static_cast<std::size_t>(peer->index), static_cast<std::size_t>(rank.index), began);
  return rank.job.workers() != nullptr ? rank.job.workers()->pid(peer->worker) : getpid();
}

std::uint64_t umw_fold(Rank&, std::uint64_t, std::uint64_t, std::uint64_t)
{
  return 0; // rank_host::RankHost::call() has answered
}

int umw_fold_mapping(Rank&, std::uint64_t, std::uint64_t, std::uint64_t)
{
  return 0; // likewise
}

int umw_unfold(Rank&, std::uint64_t, int)
{
  return 0; // likewise
}

int umw_fold_copy(Rank&, std::uint64_t, std::uint64_t, std::uint64_t)
{
  return 0; // likewise
}

int umw_folded(Rank& rank, std::uint64_t begin, std::uint64_t end, const void* kept, std::uint64_t size)
{
  portals::FoldedParts& folded = rank.portals->folded();
  const auto* const spans = static_cast<const Span*>(kept);
  if (end > begin)
    folded.add(begin, end, KeptRanges(std::vector<Span>(spans, spans + size / sizeof *spans)));
  else
    folded.remove(begin);
  return 0;
}

int umw_object_wait(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset, std::uint64_t seen,
                    std::int64_t duration)
{
  return rank.job.shared_objects().wait(rank, {rank.node, device, inode, offset}, seen, deadline(rank, duration)) ? 0
                                                                                                                  : 1;
}

int umw_object_wake(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset)
{
  rank.job.shared_objects().wake(rank, {rank.node, device, inode, offset});
  return 0;
}

int umw_condition_enter(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset)
{
  rank.job.shared_objects().enter_condition(rank, {rank.node, device, inode, offset});
  return 0;
}

int umw_condition_wait(Rank& rank, std::int64_t duration)
{
  using Ending = job::SharedObjects::Ending;
  const Ending ending = rank.job.shared_objects().wait_for_condition(rank, deadline(rank, duration));
  return ending == Ending::signalled ? 0 : ending == Ending::deadline ? 1 : -EINTR;
}

int umw_condition_leave(Rank& rank, int)
{
  rank.job.shared_objects().leave_condition(rank);
  return 0;
}

int umw_condition_signal(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset, int all)
{
  rank.job.shared_objects().signal(rank, {rank.node, device, inode, offset}, all != 0);
  return 0;
}

int umw_barrier_wait(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t offset, std::uint32_t count)
{
  return rank.job.shared_objects().meet(rank, {rank.node, device, inode, offset}, count) ? 1 : 0;
}

} // namespace umwelt::gate::services
