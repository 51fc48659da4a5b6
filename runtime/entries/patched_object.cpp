// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/entries/patched_object.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace umwelt::entries
{

namespace
{

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t largest_gap = 16 * page; // between pages that become one mapping
constexpr std::size_t alignment = 16;            // of moved code
constexpr std::size_t far_enough = 4096;         // is looked at of a function whose end is not known

constexpr std::array<unsigned char, call_bytes> call{0x64,
                                                     0xff,
                                                     0x14,
                                                     0x25,
                                                     entry_slot & 0xff,
                                                     entry_slot >> 8 & 0xff,
                                                     entry_slot >> 16 & 0xff,
                                                     entry_slot >> 24 & 0xff};

std::uint64_t down(std::uint64_t address)
{
  return address / page * page;
}

std::uint64_t up(std::uint64_t address)
{
  return down(address + page - 1);
}

std::uint64_t aligned(std::uint64_t address)
{
  return (address + alignment - 1) / alignment * alignment;
}

[[noreturn]] void fail(const std::string& what)
{
  throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

std::span<const unsigned char> call_of_slot()
{
  return call;
}

PatchedObject::PatchedObject(const std::string& path, const std::vector<Site>& sites)
{
  const ObjectFile file(path);
  const auto& segments = file.segments();
  for (const Site& site : sites) {
    const auto here = std::find_if(segments.begin(), segments.end(), [&](const ObjectFile::Segment& one) {
      return site.address >= one.address && site.address < one.address + one.bytes;
    });
    if (here == segments.end()) {
      refusals_.push_back({site.function, "lies in no code of the object"});
      continue;
    }
    const std::uint64_t offset = site.address - here->address;
    const std::uint64_t most =
        std::min(site.bytes != 0 ? std::max<std::uint64_t>(site.bytes, call_bytes) : far_enough, here->bytes - offset);
    std::string why;
    if (auto code = MovedCode::of(file.code(*here).subspan(offset, most), site.address, why))
      functions_.push_back({site.function, site.address, *std::move(code), 0});
    else
      refusals_.push_back({site.function, why});
  }
  if (!functions_.empty())
    write_runs(path, file);
}

PatchedObject::~PatchedObject()
{
  if (file_ >= 0)
    close(file_);
}

void PatchedObject::write_runs(const std::string& path, const ObjectFile& file)
{
  std::sort(functions_.begin(), functions_.end(),
            [](const Function& a, const Function& b) { return a.address < b.address; });
  file_ = memfd_create("umwelt-entries", MFD_CLOEXEC);
  if (file_ < 0)
    fail(path);
  for (const ObjectFile::Segment& segment : file.segments()) {
    const std::uint64_t end = segment.address + segment.bytes;
    const auto is_here = [&](const Function& one) { return one.address >= segment.address && one.address < end; };
    std::vector<std::uint64_t> pages; // that change
    std::uint64_t room = aligned(end);
    for (Function& function : functions_) {
      if (!is_here(function))
        continue;
      pages.push_back(down(function.address));
      pages.push_back(down(function.address + call_bytes - 1));
      if (room + function.first.bytes() <= up(end)) {
        function.copy = room;
        pages.push_back(down(room));
        room = aligned(room + function.first.bytes());
      }
    }
    std::sort(pages.begin(), pages.end());
    const std::size_t first_run = runs_.size();
    for (const std::uint64_t one : pages) {
      const std::uint64_t offset = runs_.empty() ? 0 : runs_.back().offset + runs_.back().bytes;
      if (runs_.size() > first_run && one - (runs_.back().address + runs_.back().bytes) <= largest_gap)
        runs_.back().bytes = one + page - runs_.back().address;
      else if (runs_.size() == first_run || one >= runs_.back().address + runs_.back().bytes)
        runs_.push_back({one, page, offset});
    }
    for (std::size_t i = first_run; i < runs_.size(); ++i) {
      const Run& run = runs_[i];
      std::vector<unsigned char> code(run.bytes);
      const std::uint64_t from = std::max(run.address, segment.address);
      const std::uint64_t to = std::min(run.address + run.bytes, end);
      std::memcpy(code.data() + (from - run.address), file.code(segment).data() + (from - segment.address), to - from);
      const auto put = [&](std::uint64_t address, std::span<const unsigned char> bytes) {
        for (const unsigned char byte : bytes) {
          if (address >= run.address && address < run.address + run.bytes)
            code[address - run.address] = byte;
          ++address;
        }
      };
      for (const Function& function : functions_)
        if (is_here(function)) {
          put(function.address, call);
          if (function.copy != 0)
            put(function.copy, *function.first.at(function.copy));
        }
      if (pwrite(file_, code.data(), code.size(), static_cast<off_t>(run.offset)) != static_cast<ssize_t>(code.size()))
        fail(path);
    }
  }
}

// What lies in the object's last page beside its code, data that ld.so has mapped there with it, is not touched: a run
// has the page as it came from the file, up to the end of the segment.
std::vector<PatchedObject::Entry> PatchedObject::apply(std::uintptr_t base) const
{
  std::size_t apart = 0;
  for (const Function& function : functions_)
    if (function.copy == 0)
      apart += aligned(function.first.bytes());
  std::uintptr_t place = apart > 0 ? place_apart(base, apart) : 0;
  const std::uintptr_t first_place = place;
  std::vector<Entry> entries;
  for (const Function& function : functions_) {
    Entry entry{function.number, base + function.address + call_bytes, base + function.copy};
    if (function.copy == 0) {
      const auto copy = function.first.at(place - base);
      if (place == 0 || !copy) {
        errno = ENOMEM;
        fail("no address within 2 GiB of a function is free");
      }
      std::memcpy(reinterpret_cast<void*>(place), copy->data(), copy->size());
      entry.original = place;
      place = aligned(place + copy->size());
    }
    entries.push_back(entry);
  }
  if (apart > 0 && mprotect(reinterpret_cast<void*>(first_place), up(apart), PROT_READ | PROT_EXEC) != 0)
    fail("moved code");
  for (const Run& run : runs_)
    if (mmap(reinterpret_cast<void*>(base + run.address), run.bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
             file_, static_cast<off_t>(run.offset)) == MAP_FAILED)
      fail("patched code");
  return entries;
}

// Writable memory as near to the object as there is.
std::uintptr_t PatchedObject::place_apart(std::uintptr_t base, std::size_t bytes) const
{
  constexpr std::uintptr_t step = 1UL << 20;
  constexpr std::uintptr_t reach = 1UL << 30;
  const std::uintptr_t middle = down(base + functions_.front().address);
  for (std::uintptr_t away = step; away < reach; away += step)
    for (const std::uintptr_t wanted : {middle - away, middle + away}) {
      void* const got = mmap(reinterpret_cast<void*>(wanted), up(bytes), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == reinterpret_cast<void*>(wanted))
        return wanted;
      if (got != MAP_FAILED) // a kernel that does not know the flag
        munmap(got, up(bytes));
    }
  errno = ENOMEM;
  fail("no page within 1 GiB of a function is free");
}

} // namespace umwelt::entries
