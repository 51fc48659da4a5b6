// SPDX-License-Identifier: LGPL-2.1-or-later
// Addresses to names, in every namespace of the process.
#pragma once

#include <cstdint>
#include <string>

struct link_map;

namespace umwelt::diagnose
{

struct Symbol {
  std::string function;     // demangled; empty if unknown
  std::uint64_t offset = 0; // from its start, or from the object's load address if unknown
  std::string object;       // file name of the object, as the user knows it
  bool ours = false;        // code of Umwelt: runtime, shim
};

// Objects of a namespace: unwinders see them from now on (dl_iterate_phdr reports only the caller's namespace by itself).
void add_objects(const link_map* first);
// `private_path` stands for `path` in what users read.
void add_alias(const std::string& private_path, const std::string& path);

Symbol symbol_at(std::uintptr_t address);

} // namespace umwelt::diagnose
