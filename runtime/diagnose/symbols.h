// SPDX-License-Identifier: LGPL-2.1-or-later
// Addresses to names, in every rank of the process.
#pragma once

#include <cstdint>
#include <string>

struct umw_gate;

namespace umwelt::loader
{
class RankLoader;
}

namespace umwelt::diagnose
{

struct Symbol {
  std::string function;     // demangled; empty if unknown
  std::uint64_t offset = 0; // from its start, or from the object's load address if unknown
  std::string object;       // file name of the object, as the user knows it
  std::string source;       // "file.c:12"; empty if unknown
  bool ours = false;        // code of Umwelt: runtime, shim
};

// A rank that is loaded, with what its dynamic linker tells debuggers: unwinders see its objects from now on
// (dl_iterate_phdr reports only those of the caller's linker by itself), and so does gdb. A debugger can stop there:
// extern "C" umw_rank_loaded(rank, program, offset), called when a rank's program is in memory and nothing of it has
// run. The name is there in a stripped executable, too, and its arguments are in registers (loader/README.md, gdb).
void add_rank(const umw_gate& gate, const loader::RankLoader& loader, const std::string& program_path);

// Of the instruction there.
Symbol symbol_at(std::uintptr_t address);
// "solve+0x1c (app), app.c:12", or "app+0x1234" if less is known; `further`: what is added to the offset.
std::string describe(const Symbol& symbol, std::uint64_t further = 0);

// The object the address lies in, and how far from where it is loaded; "?" and the address itself if in none.
// Async-signal-safe.
struct CodeLocation {
  const char* object; // path, or "umwelt"
  std::uint64_t offset;
};
CodeLocation place_of(std::uintptr_t address);

} // namespace umwelt::diagnose
