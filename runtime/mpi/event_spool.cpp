// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/event_spool.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace umwelt::mpi
{

namespace
{

struct Head {
  std::uint32_t rank;
  std::uint32_t records;
};

int open_without_name(const std::string& directory)
{
  constexpr int how = O_RDWR | O_APPEND | O_CLOEXEC;
  constexpr mode_t own = 0600;
  const int fd = open(directory.c_str(), O_TMPFILE | how, own);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT))
    return fd;
  std::string name = directory + "/umwelt-trace-XXXXXX"; // file systems without it, such as NFS
  const int named = mkostemp(name.data(), O_APPEND | O_CLOEXEC);
  if (named >= 0)
    unlink(name.c_str());
  return named;
}

} // namespace

EventSpool::EventSpool(const std::string& directory) : fd_(open_without_name(directory))
{
  if (fd_ < 0)
    throw std::runtime_error(fmt::format("a file in {} for what ranks tell of their calls: {}. Next step: see that "
                                         "there is room and that files can be made there",
                                         directory, std::strerror(errno)));
  void* const shared = mmap(nullptr, sizeof *error_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    close(fd_);
    throw std::bad_alloc();
  }
  error_ = static_cast<int*>(shared);
}

EventSpool::~EventSpool()
{
  munmap(error_, sizeof *error_);
  close(fd_);
}

int EventSpool::error() const
{
  return __atomic_load_n(error_, __ATOMIC_RELAXED);
}

// One write, at whatever is the end by then: blocks of several processes do not mix, write(2) with O_APPEND.
void EventSpool::append(std::uint32_t rank, const void* events, std::size_t bytes)
{
  if (bytes == 0 || error() != 0)
    return;
  Head head{rank, static_cast<std::uint32_t>(bytes / sizeof(umw_event))};
  std::array<iovec, 2> parts{{{&head, sizeof head}, {const_cast<void*>(events), bytes}}};
  ssize_t done = -1;
  while ((done = writev(fd_, parts.data(), parts.size())) < 0 && errno == EINTR) {
  }
  if (done != static_cast<ssize_t>(sizeof head + bytes)) {
    int none = 0;
    __atomic_compare_exchange_n(error_, &none, done < 0 ? errno : ENOSPC, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

void EventSpool::find_blocks()
{
  if (found_)
    return;
  found_ = true;
  Head head{};
  for (std::uint64_t at = 0; pread(fd_, &head, sizeof head, static_cast<off_t>(at)) == sizeof head;) {
    at += sizeof head;
    const std::uint64_t bytes = head.records * sizeof(umw_event);
    if (head.rank >= blocks_.size())
      blocks_.resize(head.rank + 1);
    blocks_[head.rank].push_back({at, bytes});
    at += bytes;
  }
}

std::uint32_t EventSpool::ranks()
{
  find_blocks();
  return static_cast<std::uint32_t>(blocks_.size());
}

void EventSpool::read(std::uint32_t rank, const std::function<void(const umw_event&)>& take)
{
  find_blocks();
  if (rank >= blocks_.size())
    return;
  std::vector<umw_event> events;
  for (const Block& block : blocks_[rank]) {
    events.resize(block.bytes / sizeof(umw_event));
    const ssize_t got = pread(fd_, events.data(), block.bytes, static_cast<off_t>(block.at));
    if (got != static_cast<ssize_t>(block.bytes)) { // the disk was full
      if (error() == 0)
        *error_ = got < 0 ? errno : EIO;
      return;
    }
    for (const umw_event& event : events)
      take(event);
  }
}

} // namespace umwelt::mpi
