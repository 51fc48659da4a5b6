// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/time_stamps.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/entries/object_file.h"
#include "runtime/rank_host/rank_host.h"

namespace umwelt::rank_host
{

namespace
{

constexpr unsigned char escape = 0x0f; // of both
constexpr unsigned char int3 = 0xcc;
constexpr unsigned char ret = 0xc3;
constexpr std::size_t longest_way = 24; // bytes from the instruction to the shift

// Of the instruction there; 0: it is none.
unsigned length(const unsigned char* code, std::size_t room)
{
  if (room >= 2 && code[0] == escape && code[1] == 0x31)
    return 2;
  return room >= 3 && code[0] == escape && code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

// Whether some 64-bit register is shifted left by 32 there (REX.W c1 /4 20).
bool shifts(const unsigned char* code, std::size_t room)
{
  for (std::size_t i = 0; i + 4 <= std::min(room, longest_way); ++i)
    if ((code[i] == 0x48 || code[i] == 0x49) && code[i + 1] == 0xc1 && (code[i + 2] & 0xf8) == 0xe0 &&
        code[i + 3] == 0x20)
      return true;
  return false;
}

// Open MPI 5 is linked to libpsm2, which compares the counter with the clock before main: where one of them is this
// machine's it sleeps nine times as long, 0.9 s, and complains.
bool is_of_the_system(const std::string& path)
{
  return (path.starts_with("/lib") || path.starts_with("/usr/")) && path.find("/libpsm2.so.") == std::string::npos;
}

// Whether a register is copied to another one there (mov r32, r32): 0 (%eax), 2 (%edx) or none (-1). Goes on behind it.
int copied(const unsigned char*& code, std::size_t& room)
{
  const std::size_t prefix = room > 0 && code[0] == 0x41 ? 1 : 0; // to %r8d and higher
  if (room < prefix + 2 || code[prefix] != 0x89 || (code[prefix + 1] & 0xc0) != 0xc0)
    return -1;
  const int from = (code[prefix + 1] >> 3) & 7;
  code += prefix + 2;
  room -= prefix + 2;
  return from == 0 || from == 2 ? from : -1;
}

// Whether both halves are put aside there, in whatever order, to be put together later.
bool puts_aside(const unsigned char* code, std::size_t room)
{
  const int first = copied(code, room);
  const int second = copied(code, room);
  return first >= 0 && second >= 0 && first != second;
}

// One of Umwelt's own, which measure with the machine's counter: with a trap, a call of MPI took ten times as long.
bool is_preloaded(const Rank& rank, std::string_view path)
{
  return std::find(rank.preloaded.begin(), rank.preloaded.end(), path) != rank.preloaded.end();
}

} // namespace

TimeStamps::TimeStamps() : memory_(open("/proc/self/mem", O_RDWR | O_CLOEXEC))
{
}

TimeStamps::~TimeStamps()
{
  for (const auto& [pc, owner] : notices_)
    if (owner == nullptr) // the process goes on with it
      (void)!pwrite(memory_, &ret, 1, static_cast<off_t>(pc));
  if (memory_ >= 0)
    close(memory_);
}

std::vector<TimeStamps::Site> TimeStamps::find(const std::string& path)
try {
  std::vector<Site> sites;
  const entries::ObjectFile file(path);
  for (const entries::ObjectFile::Segment& segment : file.segments()) {
    const unsigned char* const begin = file.code(segment).data();
    const unsigned char* const end = begin + segment.bytes;
    for (const unsigned char* at = begin; at < end; ++at) {
      at = static_cast<const unsigned char*>(std::memchr(at, escape, static_cast<std::size_t>(end - at)));
      if (at == nullptr)
        break;
      const unsigned instruction = length(at, static_cast<std::size_t>(end - at));
      const unsigned char* const next = at + instruction;
      const auto room = static_cast<std::size_t>(end - next);
      if (instruction != 0 && (shifts(next, room) || puts_aside(next, room)))
        sites.push_back({segment.address + static_cast<std::uintptr_t>(at - begin), instruction});
    }
  }
  return sites;
} catch (const std::system_error&) {
  return {};
}

void TimeStamps::take_over(const Rank& rank)
{
  // What is no longer there must not be put back into whatever has come in its place.
  std::unordered_map<std::uintptr_t, unsigned> there;
  for (const loader::LoadedObject& object : rank.loader->objects()) {
    if (!object.is_program && (is_of_the_system(object.path) || is_preloaded(rank, object.path)))
      continue;
    const auto [file, is_new] = files_.try_emplace(object.path);
    if (is_new)
      file->second = find(object.path);
    for (const Site& site : file->second)
      there.emplace(object.map->l_addr + site.address, site.bytes);
  }
  std::erase_if(taken_, [&](const auto& one) { return one.second.rank == &rank && !there.contains(one.first); });
  for (const auto& [pc, bytes] : there)
    put(rank, pc, bytes);
}

void TimeStamps::put(const Rank& rank, std::uintptr_t pc, unsigned bytes)
{
  std::array<unsigned char, 3> code{};
  if (pread(memory_, code.data(), bytes, static_cast<off_t>(pc)) == static_cast<ssize_t>(bytes) &&
      length(code.data(), bytes) == bytes && pwrite(memory_, &int3, 1, static_cast<off_t>(pc)) == 1)
    taken_.insert_or_assign(pc, Taken{&rank, bytes});
}

void TimeStamps::watch_linker(const Rank& rank)
{
  const std::uintptr_t place = rank.loader->debug()->r_brk;
  unsigned char code = 0;
  if (place == 0 || pread(memory_, &code, 1, static_cast<off_t>(place)) != 1 || code != ret)
    return;
  notices_.insert_or_assign(place, rank.gate.loader == UMW_LOADER_LINKER ? &rank : nullptr);
  if (pwrite(memory_, &int3, 1, static_cast<off_t>(place)) != 1)
    notices_.erase(place);
}

unsigned TimeStamps::at(std::uintptr_t pc) const
{
  const auto found = taken_.find(pc);
  return found != taken_.end() ? found->second.bytes : 0;
}

void TimeStamps::original_code(const Rank& rank, bool original) const
{
  const auto exchange = [this, original](std::uintptr_t pc, unsigned char code) {
    const unsigned char before = original ? int3 : code;
    const unsigned char after = original ? code : int3;
    unsigned char now = 0;
    if (pread(memory_, &now, 1, static_cast<off_t>(pc)) == 1 && now == before)
      (void)!pwrite(memory_, &after, 1, static_cast<off_t>(pc));
  };
  for (const auto& [pc, taken] : taken_)
    if (taken.rank == &rank)
      exchange(pc, escape);
  for (const auto& [pc, owner] : notices_)
    if (owner == nullptr || owner == &rank)
      exchange(pc, ret);
}

} // namespace umwelt::rank_host
