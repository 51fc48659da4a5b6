// SPDX-License-Identifier: LGPL-2.1-or-later
// What must be known of an ELF file before it is loaded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace umwelt::loader
{

// Addresses from `begin` up to, not including, `end`.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  [[nodiscard]] bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
};

// In one of them.
inline bool lies_in(std::uintptr_t address, const std::vector<AddressRange>& ranges)
{
  return std::any_of(ranges.begin(), ranges.end(), [address](const auto& range) { return range.contains(address); });
}

struct ElfFile {
  enum class Kind { not_elf, relocatable, executable, shared, core };

  Kind kind = Kind::not_elf;
  bool native = false;     // 64-bit little-endian x86-64
  std::string machine;     // for messages: "EM_AARCH64, 64-bit"
  std::string interpreter; // PT_INTERP; empty: statically linked or a library
  bool dynamic = false;    // has PT_DYNAMIC
  bool pie = false;        // DF_1_PIE
  std::vector<std::string> needed;
  std::string soname; // by which others need it; empty: it has none
  AddressRange image; // what PT_LOAD segments cover, in whole pages, and what ld.so maps to align them
};

// Never throws for odd content: what is not ELF or is damaged comes back as not_elf. Throws std::system_error if the
// file cannot be opened.
ElfFile inspect(const std::string& path);

// In hexadecimal; empty: it has none, or the file cannot be read.
std::string build_id(const std::string& path);

// What a note with this name says, if that is one word of 32 bits. None: there is no such note.
std::optional<std::uint32_t> word_of_note(const std::string& path, std::string_view name);

// Names that begin with `prefix` and that the dynamic linker has to find in other objects; in alphabetical order.
std::vector<std::string> imports(const std::string& path, std::string_view prefix);

} // namespace umwelt::loader
