// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/sysv/segments.h"

#include <algorithm>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace umwelt::sysv
{

namespace
{
constexpr std::size_t most_segments = 4096; // SHMMNI
} // namespace

// Also preload/memory/sysv.c.
std::string Segments::path(int id) const
{
  return fmt::format("{}/{}", directory_, id);
}

int Segments::get(key_t key, std::uint64_t size, int flags, int pid, std::int64_t now)
{
  return table_.get(
      key, flags, most_segments,
      [size](const Segment& segment) { return size > segment.status.shm_segsz ? EINVAL : 0; },
      [&](const ipc_perm& permissions, int id) -> std::unique_ptr<Segment> {
        if (size == 0) { // SHMMIN is 1
          errno = EINVAL;
          return nullptr;
        }
        const int fd = open(path(id).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        const bool made = fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0;
        const int error = errno;
        if (fd >= 0)
          close(fd);
        if (!made) {
          unlink(path(id).c_str());
          errno = error == EFBIG || error == EINVAL ? ENOMEM : error;
          return nullptr;
        }
        auto segment = std::make_unique<Segment>();
        segment->permissions = permissions;
        segment->status.shm_segsz = size;
        segment->status.shm_cpid = pid;
        segment->status.shm_ctime = now;
        return segment;
      });
}

std::int64_t Segments::attach(int id, int flags, int pid, std::int64_t now)
{
  Segment* segment = table_.find(id);
  if (segment == nullptr)
    return -EINVAL;
  if (!grants(segment->permissions, (flags & SHM_RDONLY) != 0 ? readable : readable | writable))
    return -EACCES;
  ++segment->attached[pid];
  ++segment->status.shm_nattch;
  segment->status.shm_lpid = pid;
  segment->status.shm_atime = now;
  return static_cast<std::int64_t>(segment->status.shm_segsz);
}

int Segments::detach(int id, int pid, std::int64_t now)
{
  Segment* segment = table_.find(id);
  const auto own = segment == nullptr ? decltype(segment->attached.find(pid)){} : segment->attached.find(pid);
  if (segment == nullptr || own == segment->attached.end())
    return -EINVAL;
  if (--own->second == 0)
    segment->attached.erase(own);
  --segment->status.shm_nattch;
  segment->status.shm_lpid = pid;
  segment->status.shm_dtime = now;
  end_if_unused(id);
  return 0;
}

void Segments::end_if_unused(int id)
{
  const Segment& segment = *table_.find(id);
  if ((segment.permissions.mode & SHM_DEST) == 0 || segment.status.shm_nattch > 0)
    return;
  unlink(path(id).c_str());
  table_.remove(id);
}

int Segments::control(int id, int command, shmid_ds* status, int pid, std::int64_t now)
{
  (void)pid;
  Segment* segment = table_.find(id);
  if (segment == nullptr)
    return -EINVAL;
  switch (command) {
  case IPC_STAT:
    if (!grants(segment->permissions, readable))
      return -EACCES;
    *status = segment->status;
    status->shm_perm = segment->permissions;
    return 0;
  case IPC_SET:
    if (!may_change(segment->permissions))
      return -EPERM;
    change(segment->permissions, status->shm_perm);
    segment->status.shm_ctime = now;
    return 0;
  case IPC_RMID:
    if (!may_change(segment->permissions))
      return -EPERM;
    segment->permissions.mode |= SHM_DEST;
    table_.hide(id);
    end_if_unused(id);
    return 0;
  case SHM_LOCK: // pages of a simulated node are not swapped
    segment->permissions.mode |= SHM_LOCKED;
    return 0;
  case SHM_UNLOCK:
    segment->permissions.mode &= static_cast<decltype(segment->permissions.mode)>(~SHM_LOCKED);
    return 0;
  default:
    return -EINVAL;
  }
}

void Segments::forget(int pid, std::int64_t now)
{
  std::vector<int> ids;
  for (const auto& [id, segment] : table_.objects())
    if (segment->attached.contains(pid))
      ids.push_back(id);
  for (const int id : ids)
    while (detach(id, pid, now) == 0)
      continue;
}

} // namespace umwelt::sysv
