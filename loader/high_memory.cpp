// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/high_memory.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace umwelt::loader
{

namespace
{

constexpr std::size_t most = std::size_t{1} << 40;
constexpr std::size_t least = std::size_t{1} << 32;

void* reserve(void* place, std::size_t bytes, int flags)
{
  return mmap(place, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

struct Gap {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// Unused addresses between what is mapped above `floor`, but for the one into which the main stack grows.
std::vector<Gap> gaps_above(std::uintptr_t floor)
{
  std::vector<Gap> gaps;
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t last = floor;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (!(fields >> std::hex >> begin >> dash >> end) || end <= floor)
      continue;
    if (line.ends_with("[stack]"))
      break;
    if (begin > last)
      gaps.push_back({last, begin});
    last = end;
  }
  return gaps;
}

umw_high_memory make()
{
  for (std::size_t bytes = most; bytes >= least; bytes /= 4) {
    void* base = reserve(nullptr, bytes, 0);
    if (base == MAP_FAILED)
      continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    // The kernel fills gaps above before it goes below.
    for (const Gap& gap : gaps_above(begin + bytes))
      reserve(reinterpret_cast<void*>(gap.begin), gap.end - gap.begin, MAP_FIXED_NOREPLACE);
    return {begin, begin + bytes};
  }
  return {0, 0};
}

} // namespace

umw_high_memory& high_memory()
{
  static umw_high_memory room = make();
  return room;
}

} // namespace umwelt::loader
