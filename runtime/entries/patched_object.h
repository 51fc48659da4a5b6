// SPDX-License-Identifier: LGPL-2.1-or-later
// A program or library whose functions call the runtime first, in as many ranks as there are, with one copy in memory
// of what differs from the file.
//
// Over the entry of such a function stands `call *%fs:slot`: the same bytes wherever the object lies, whichever rank it
// is and whichever thread, whose thread control block says where to go (entry_slot). The return address says which
// function it was. Pages with such entries are written once, into a memory file, and mapped over the rank's own. The
// displaced instructions lie in the rest of the last page of the code, at the same distance in all ranks; if that is
// too small, in a page near by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/entries/moved_code.h"
#include "runtime/entries/object_file.h"

namespace umwelt::entries
{

// Where in the thread control block the address of what is called lies: a part that the C library does not use
// (tcbhead_t::__glibc_unused2, sysdeps/x86_64/nptl/tls.h of glibc 2.26 and later).
constexpr std::uintptr_t entry_slot = 0x100;

// `call *%fs:entry_slot`
std::span<const unsigned char> call_of_slot();

class PatchedObject
{
public:
  struct Site {
    unsigned function; // the caller's number
    std::uint64_t address;
    std::uint64_t bytes; // 0: not known
  };
  struct Entry {
    unsigned function;
    std::uintptr_t called_from; // the return address of the call
    std::uintptr_t original;    // where the function itself can be entered
  };
  struct Refusal {
    unsigned function;
    std::string why; // "its entry ..."
  };

  // Reads the file. Throws std::system_error if that cannot be done, or there is no memory.
  PatchedObject(const std::string& path, const std::vector<Site>& sites);
  ~PatchedObject();
  PatchedObject(const PatchedObject&) = delete;
  PatchedObject& operator=(const PatchedObject&) = delete;

  [[nodiscard]] const std::vector<Refusal>& refusals() const { return refusals_; }
  // -1: nothing is to be patched.
  [[nodiscard]] int descriptor() const { return file_; }
  // Replaces the code of the object, which lies at `base` (l_addr). Throws std::system_error.
  [[nodiscard]] std::vector<Entry> apply(std::uintptr_t base) const;

private:
  struct Function {
    unsigned number;
    std::uint64_t address;
    MovedCode first;
    std::uint64_t copy; // where the displaced instructions lie; 0: not in the object
  };
  struct Run { // of pages
    std::uint64_t address;
    std::size_t bytes;
    std::uint64_t offset; // in the memory file
  };
  void write_runs(const std::string& path, const ObjectFile& file);
  [[nodiscard]] std::uintptr_t place_apart(std::uintptr_t base, std::size_t bytes) const;

  std::vector<Function> functions_;
  std::vector<Run> runs_;
  std::vector<Refusal> refusals_;
  int file_ = -1;
};

} // namespace umwelt::entries
