// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/data/memory.h"

#include "runtime/portals/data/part_copy.h"
#include "runtime/portals/data/sparse_copy.h"
#include "runtime/portals/data/two_threads.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace umwelt::portals
{

namespace
{

constexpr std::size_t small_bytes = 16384;
constexpr std::size_t large_bytes = 65536;

// memmove(3)
void copy_bytes(void* to, const void* from, std::size_t size)
{
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  const bool overtakes = target - source < size;
  if (overtakes)
    std::memmove(to, from, size);
  else if (size < least_sparse || source - target < size || !copy_sparsely(to, from, size))
    copy_in_parts(to, from, size);
}

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

bool Memory::shares(const void* start, std::size_t size) const
{
  if (shared_ == nullptr)
    return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(start);
  for (int i = 0; i < UMW_SHARED_RANGES; ++i) {
    const std::uintptr_t end = __atomic_load_n(&shared_[i].end, __ATOMIC_ACQUIRE); // the rank's process may change it
    if (begin >= shared_[i].begin && begin < end && size <= end - begin)
      return true;
  }
  return false;
}

bool Memory::read(void* to, const void* from, std::size_t size, bool checked) const
{
  if (shares(from, size)) {
    copy_bytes(to, from, size);
    return true;
  }
  if (!local())
    return move(process_vm_readv, pid_, to, const_cast<void*>(from), size);
  // A kernel that refuses the call (seccomp) cannot check: then a bad address faults.
  if (checked && (move(process_vm_readv, getpid(), to, const_cast<void*>(from), size) || errno == EFAULT))
    return errno != EFAULT;
  copy_bytes(to, from, size); // a message to oneself may overlap
  return true;
}

bool Memory::write(void* to, const void* from, std::size_t size, bool checked) const
{
  if (shares(to, size)) {
    copy_bytes(to, from, size);
    return true;
  }
  if (!local())
    return move(process_vm_writev, pid_, const_cast<void*>(from), to, size);
  if (checked && (move(process_vm_writev, getpid(), const_cast<void*>(from), to, size) || errno == EFAULT))
    return errno != EFAULT;
  copy_bytes(to, from, size);
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

namespace
{

// Calls `move` for those stretches of [0, size) whose bytes matter there, with their offset and length, ascending;
// false as soon as it returns that.
template <class Move> bool each_that_matters(const MemoryRef& place, ptl_size_t size, Move&& move)
{
  const FoldedParts* const folded = place.memory->folded();
  if (folded == nullptr)
    return move(ptl_size_t{0}, size);
  ptl_size_t at = 0;
  return place.region->pieces(place.offset, size, [&](std::byte* piece, ptl_size_t part) {
    const auto begin = reinterpret_cast<std::uintptr_t>(piece);
    bool done = true;
    folded->matter(begin, begin + part,
                   [&](const Span& span) { done = done && move(at + (span.begin - begin), span.end - span.begin); });
    at += part;
    return done;
  });
}

bool read_all(const MemoryRef& from, std::byte* to, ptl_size_t size)
{
  return from.region->pieces(from.offset, size, [&](std::byte* piece, ptl_size_t part) {
    const bool done = from.memory->read(to, piece, part, from.region->checked());
    to += part;
    return done;
  });
}

bool write_all(const MemoryRef& to, const std::byte* from, ptl_size_t size)
{
  return to.region->pieces(to.offset, size, [&](std::byte* piece, ptl_size_t part) {
    const bool done = to.memory->write(piece, from, part, to.region->checked());
    from += part;
    return done;
  });
}

MemoryRef behind(const MemoryRef& place, ptl_size_t offset)
{
  return {place.memory, place.region, place.offset + offset};
}

} // namespace

bool copy_out(const MemoryRef& from, void* to, ptl_size_t size)
{
  auto* const target = static_cast<std::byte*>(to);
  if (from.memory->folded() != nullptr)
    std::memset(to, 0, size);
  return each_that_matters(from, size, [&](ptl_size_t offset, ptl_size_t part) {
    return read_all(behind(from, offset), target + offset, part);
  });
}

bool copy_in(const MemoryRef& to, const void* from, ptl_size_t size)
{
  const auto* const source = static_cast<const std::byte*>(from);
  return each_that_matters(to, size, [&](ptl_size_t offset, ptl_size_t part) {
    return write_all(behind(to, offset), source + offset, part);
  });
}

namespace
{

// It can be read and written like memory of this process.
bool addressable(const MemoryRef& place, ptl_size_t size)
{
  if (place.memory->local())
    return !place.region->checked();
  return place.region->pieces(place.offset, size, [&place](const std::byte* piece, ptl_size_t part) {
    return place.memory->shares(piece, part);
  });
}

bool copy_part(const MemoryRef& from, const MemoryRef& to, ptl_size_t size)
{
  // One copy if either side is directly addressable.
  if (addressable(from, size)) {
    ptl_size_t offset = to.offset;
    return from.region->pieces(from.offset, size, [&](std::byte* piece, ptl_size_t part) {
      const bool done = write_all({to.memory, to.region, offset}, piece, part);
      offset += part;
      return done;
    });
  }
  if (addressable(to, size)) {
    ptl_size_t offset = from.offset;
    return to.region->pieces(to.offset, size, [&](std::byte* piece, ptl_size_t part) {
      const bool done = read_all({from.memory, from.region, offset}, piece, part);
      offset += part;
      return done;
    });
  }
  // Each call of the kernel costs as much as copying some KiB.
  std::array<std::byte, small_bytes> small;
  const std::unique_ptr<std::byte[]> large =
      size > small_bytes ? std::make_unique_for_overwrite<std::byte[]>(large_bytes) : nullptr;
  std::byte* const buffer = large ? large.get() : small.data();
  for (ptl_size_t done = 0; done < size;) {
    const ptl_size_t part = std::min<ptl_size_t>(size - done, large ? large_bytes : small_bytes);
    if (!read_all(behind(from, done), buffer, part) || !write_all(behind(to, done), buffer, part))
      return false;
    done += part;
  }
  return true;
}

bool copy_all(const MemoryRef& from, const MemoryRef& to, ptl_size_t size)
{
  // What faults must do so in this thread, and what overlaps has an order.
  if (size < TwoThreads::worthwhile || from.memory->local() || to.memory->local() || from.memory == to.memory)
    return copy_part(from, to, size);
  return TwoThreads::instance().run(size, [&](ptl_size_t offset, ptl_size_t part) {
    return copy_part(behind(from, offset), behind(to, offset), part);
  });
}

} // namespace

bool copy(const MemoryRef& from, const MemoryRef& to, ptl_size_t size)
{
  return each_that_matters(from, size, [&](ptl_size_t begin, ptl_size_t length) {
    return each_that_matters(behind(to, begin), length, [&](ptl_size_t offset, ptl_size_t part) {
      return copy_all(behind(from, begin + offset), behind(to, begin + offset), part);
    });
  });
}

} // namespace umwelt::portals
