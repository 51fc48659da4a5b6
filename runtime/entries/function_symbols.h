// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions by name in an ELF file: those it exports, and static ones where it has not been stripped.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace umwelt::entries
{

struct FunctionSymbol {
  std::string name;
  std::uint64_t address = 0; // in the file's own terms
  std::uint64_t bytes = 0;   // 0: not known
  bool is_static = false;
  bool chosen_late = false; // STT_GNU_IFUNC: what lies there only chooses the function
};

// Those of these names that the file defines, each (address, name) once, by address. None if it cannot be read.
std::vector<FunctionSymbol> find_functions(const std::string& path, const std::unordered_set<std::string>& names);

// All of them, each address once, by address.
std::vector<FunctionSymbol> all_functions(const std::string& path);

// All names of functions, for suggestions; in no order.
std::vector<std::string> function_names(const std::string& path);

} // namespace umwelt::entries
