// SPDX-License-Identifier: LGPL-2.1-or-later
// What a rank is to become by execve(2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loader/elf_file.h"

namespace umwelt::rank_host
{

struct Rank;

struct ProgramChange {
  std::string program_path;
  std::string interpreter; // its dynamic linker
  loader::AddressRange linked_at;
  std::vector<std::string> libraries;
  std::vector<std::string> argv;
  std::vector<std::string> environment;

  // What execve(2) would execute under `path`, which is relative to the present working directory, be it a script.
  // Throws loader::Refusal.
  static ProgramChange find(const char* path, const char* const* argv, const char* const* environment);
  // The same as one text, for the way from a worker process to the runtime.
  [[nodiscard]] std::string packed() const;
  static ProgramChange unpack(std::string_view text);

  // `rank` is one of this program from now on, and its gate says so.
  void apply(Rank& rank) const;
};

} // namespace umwelt::rank_host
