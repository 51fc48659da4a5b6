// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies in parts that no C library copies by REP MOVSB. That takes up to 20 times as long where the target lies less
// than 64 bytes further within its page than the source within its own (AMD Zen 3 and 4; glibc bug 30994, mended in
// 2.39), and the buffers of two ranks mostly do.
#pragma once

#include <cstddef>
#include <cstring>

namespace umwelt::portals
{

// As memcpy(3); the target may also begin before the source and overlap it.
inline void copy_in_parts(void* to, const void* from, std::size_t size)
{
  constexpr std::size_t part_bytes = 1984;
  constexpr std::size_t longest_in_parts = 1 << 20; // longer copies go around the caches, and not by REP MOVSB
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (size <= longest_in_parts)
    for (; size > part_bytes; size -= part_bytes, target += part_bytes, source += part_bytes)
      std::memmove(target, source, part_bytes);
  std::memmove(target, source, size);
}

} // namespace umwelt::portals
