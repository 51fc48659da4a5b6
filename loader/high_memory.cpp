// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/high_memory.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace umwelt::loader
{

namespace
{

constexpr std::size_t most = std::size_t{1} << 40;
constexpr std::size_t least = std::size_t{1} << 32;
constexpr std::size_t page = 4096;
constexpr int least_descriptor = 200;
constexpr int attempts = 4;

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

// False: what this function itself has allocated came to lie in one of them meanwhile.
bool fill_gaps_above(std::uintptr_t floor)
{
  bool filled = true;
  // A large one tells that addresses are given out from below (valgrind, which needs it for itself).
  for (const Gap& gap : gaps_above(floor))
    if (gap.end - gap.begin < least)
      filled =
          reserve(reinterpret_cast<void*>(gap.begin), gap.end - gap.begin, MAP_FIXED_NOREPLACE) != MAP_FAILED && filled;
  return filled;
}

umw_high_memory make()
{
  for (std::size_t bytes = most; bytes >= least; bytes /= 4) {
    void* base = reserve(nullptr, bytes, 0);
    if (base == MAP_FAILED)
      continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    // The kernel fills gaps above before it goes below.
    for (int attempt = 0; attempt < attempts && !fill_gaps_above(begin + bytes); ++attempt) {
    }
    return {begin, begin + bytes, 0, 0, 0, 0, -1};
  }
  return {0, 0, 0, 0, 0, 0, -1};
}

} // namespace

umw_high_memory& high_memory()
{
  static umw_high_memory room = make();
  return room;
}

void share_high_memory()
{
  umw_high_memory& room = high_memory();
  const std::size_t bytes = (room.end - room.next) / 2;
  rlimit limit{};
  if (bytes == 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < bytes) // else SIGXFSZ
    return;
  const int made = memfd_create("umwelt-memory", MFD_CLOEXEC);
  if (made < 0)
    return;
  const int file = fcntl(made, F_DUPFD_CLOEXEC, least_descriptor); // out of the programs' way
  close(made);
  if (file < 0)
    return;
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      mmap(reinterpret_cast<void*>(room.next), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
           file, 0) == MAP_FAILED) {
    close(file);
    return;
  }
  room.file = file;
  room.file_begin = room.shared_begin = room.shared_next = room.next;
  room.next += bytes;
  room.shared_end = room.next;
}

void take_high_memory(unsigned index, unsigned count)
{
  umw_high_memory& room = high_memory();
  const std::size_t bytes = room.shared_end - room.shared_next;
  if (bytes == 0)
    return;
  if (mprotect(reinterpret_cast<void*>(room.shared_next), bytes, PROT_NONE) != 0) {
    room.shared_next = room.shared_end = 0;
    return;
  }
  if (index >= count) {
    room.shared_next = room.shared_end = 0;
    return;
  }
  const std::size_t share = bytes / count & ~(page - 1);
  room.shared_next += index * share;
  room.shared_begin = room.shared_next;
  room.shared_end = room.shared_next + share;
}

} // namespace umwelt::loader
