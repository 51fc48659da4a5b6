// SPDX-License-Identifier: LGPL-2.1-or-later
// Locks of files (runtime/job/file_locks.h).
#include "runtime/gate/services.h"
#include "runtime/job/file_locks.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::LockMode;
using job::Rank;

namespace
{

LockMode mode_of(int mode)
{
  return mode == UMW_LOCK_EXCLUSIVE ? LockMode::exclusive : mode == UMW_LOCK_SHARED ? LockMode::shared : LockMode::none;
}

} // namespace

int umw_file_lock(Rank& rank, std::uint64_t device, std::uint64_t inode, int as_a_whole, std::uint64_t description,
                  int mode, std::int64_t first, std::int64_t last, int waits)
{
  return rank.job.file_locks().lock(rank, {{device, inode, as_a_whole != 0}, description, mode_of(mode), first, last},
                                    waits != 0);
}

int umw_file_lock_test(Rank& rank, std::uint64_t device, std::uint64_t inode, std::uint64_t description, int* mode,
                       std::int64_t* first, std::int64_t* last, int* pid)
{
  const auto held =
      rank.job.file_locks().test(rank, {{device, inode, false}, description, mode_of(*mode), *first, *last});
  *mode = !held ? UMW_LOCK_NONE : held->mode == LockMode::exclusive ? UMW_LOCK_EXCLUSIVE : UMW_LOCK_SHARED;
  if (!held)
    return 0;
  *first = held->first;
  *last = held->last;
  *pid = held->owner.description != 0 ? -1 : rank.job.ranks()[held->owner.rank]->gate.pid;
  return 0;
}

int umw_file_closed(Rank& rank, std::uint64_t device, std::uint64_t inode)
{
  rank.job.file_locks().closed(rank, device, inode);
  return 0;
}

int umw_description_closed(Rank& rank, std::uint64_t description)
{
  rank.job.file_locks().closed(rank, description);
  return 0;
}

} // namespace umwelt::gate::services
