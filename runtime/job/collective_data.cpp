// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/collective_data.h"

#include <utility>

namespace umwelt::job
{

bool CollectiveSide::set(const portals::Memory& memory, const umw_parts& pieces, std::uint32_t members, bool single)
{
  memory_ = &memory;
  base_ = pieces.base;
  bytes_ = pieces.bytes;
  count_ = single ? 1 : members;
  list_.clear();
  if (pieces.parts == 0)
    return true;
  list_.resize(count_);
  return memory.read(list_.data(), reinterpret_cast<const void*>(pieces.parts), count_ * sizeof(umw_part));
}

bool CollectiveSide::keep()
{
  std::uint64_t all = bytes_ * count_;
  if (!list_.empty()) {
    all = 0;
    for (const umw_part& piece : list_)
      all += piece.bytes;
  }
  copy_.resize(all);
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < (list_.empty() ? 1 : count_); ++i) {
    const std::uint64_t size = list_.empty() ? all : list_[i].bytes;
    if (!copy_memory(*memory_, address(i), runtime_memory(), reinterpret_cast<std::uintptr_t>(copy_.data()) + at, size))
      return false;
    if (!list_.empty())
      list_[i].offset = static_cast<std::int64_t>(at);
    at += size;
  }
  memory_ = &runtime_memory();
  base_ = reinterpret_cast<std::uintptr_t>(copy_.data());
  return true;
}

void CollectiveSide::clear()
{
  constexpr std::size_t small = 4096;
  if (copy_.capacity() > small)
    copy_ = {};
  list_.clear();
}

const portals::Memory& runtime_memory()
{
  static const portals::Memory memory;
  return memory;
}

bool copy_memory(const portals::Memory& from, std::uintptr_t source, const portals::Memory& to, std::uintptr_t target,
                 std::uint64_t bytes)
{
  if (bytes == 0)
    return true;
  portals::Region source_region;
  portals::Region target_region;
  return source_region.bind(from, reinterpret_cast<void*>(source), bytes, 0) &&
         target_region.bind(to, reinterpret_cast<void*>(target), bytes, 0) &&
         portals::copy({&from, &source_region, 0}, {&to, &target_region, 0}, bytes);
}

} // namespace umwelt::job
