// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace umwelt::portals
{

namespace
{

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

// `local` belongs to this process, `remote` to `pid`. Large transfers come back short, so it goes on until all is done.
bool move(Call call, pid_t pid, void* local, void* remote, std::size_t size)
{
  auto* here = static_cast<std::byte*>(local);
  auto* there = static_cast<std::byte*>(remote);
  errno = 0;
  while (size > 0) {
    const iovec a{here, size};
    const iovec b{there, size};
    const ssize_t moved = call(pid, &a, 1, &b, 1, 0);
    if (moved <= 0)
      return false;
    here += moved;
    there += moved;
    size -= static_cast<std::size_t>(moved);
  }
  return true;
}

} // namespace

bool Memory::read(void* to, const void* from, std::size_t size, bool checked) const
{
  if (!local())
    return move(process_vm_readv, pid_, to, const_cast<void*>(from), size);
  // A kernel that refuses the call (seccomp) cannot check: then a bad address faults.
  if (checked && (move(process_vm_readv, getpid(), to, const_cast<void*>(from), size) || errno == EFAULT))
    return errno != EFAULT;
  std::memmove(to, from, size); // a message to oneself may overlap
  return true;
}

bool Memory::write(void* to, const void* from, std::size_t size, bool checked) const
{
  if (!local())
    return move(process_vm_writev, pid_, const_cast<void*>(from), to, size);
  if (checked && (move(process_vm_writev, getpid(), const_cast<void*>(from), to, size) || errno == EFAULT))
    return errno != EFAULT;
  std::memmove(to, from, size);
  return true;
}

bool Region::bind(const Memory& memory, void* start, ptl_size_t length, unsigned options)
{
  start_ = reinterpret_cast<std::uintptr_t>(start);
  length_ = length;
  list_.clear();
  if ((options & PTL_IOVEC) == 0)
    return true;
  length_ = 0;
  list_.resize(length);
  if (length > 0 && !memory.read(list_.data(), start, length * sizeof(ptl_iovec_t)))
    return false;
  for (const ptl_iovec_t& piece : list_)
    if (__builtin_add_overflow(length_, piece.iov_len, &length_))
      return false;
  return true;
}

void* Region::address(ptl_size_t offset) const
{
  if (list_.empty())
    return reinterpret_cast<void*>(start_ + offset);
  for (const ptl_iovec_t& piece : list_) {
    if (offset < piece.iov_len)
      return static_cast<std::byte*>(piece.iov_base) + offset;
    offset -= piece.iov_len;
  }
  return static_cast<std::byte*>(list_.back().iov_base) + list_.back().iov_len;
}

bool copy_out(const Place& from, void* to, ptl_size_t size)
{
  auto* next = static_cast<std::byte*>(to);
  return from.region->pieces(from.offset, size, [&](std::byte* piece, ptl_size_t part) {
    const bool done = from.memory->read(next, piece, part, from.region->checked());
    next += part;
    return done;
  });
}

bool copy_in(const Place& to, const void* from, ptl_size_t size)
{
  const auto* next = static_cast<const std::byte*>(from);
  return to.region->pieces(to.offset, size, [&](std::byte* piece, ptl_size_t part) {
    const bool done = to.memory->write(piece, next, part, to.region->checked());
    next += part;
    return done;
  });
}

bool copy(const Place& from, const Place& to, ptl_size_t size)
{
  // One copy if either side is directly addressable.
  if (from.memory->local() && !from.region->checked()) {
    ptl_size_t offset = to.offset;
    return from.region->pieces(from.offset, size, [&](std::byte* piece, ptl_size_t part) {
      const bool done = copy_in({to.memory, to.region, offset}, piece, part);
      offset += part;
      return done;
    });
  }
  if (to.memory->local() && !to.region->checked()) {
    ptl_size_t offset = from.offset;
    return to.region->pieces(to.offset, size, [&](std::byte* piece, ptl_size_t part) {
      const bool done = copy_out({from.memory, from.region, offset}, piece, part);
      offset += part;
      return done;
    });
  }
  std::array<std::byte, 16384> buffer;
  for (ptl_size_t done = 0; done < size;) {
    const ptl_size_t part = std::min<ptl_size_t>(size - done, buffer.size());
    if (!copy_out({from.memory, from.region, from.offset + done}, buffer.data(), part) ||
        !copy_in({to.memory, to.region, to.offset + done}, buffer.data(), part))
      return false;
    done += part;
  }
  return true;
}

} // namespace umwelt::portals
