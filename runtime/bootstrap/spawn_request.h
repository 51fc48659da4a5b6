// SPDX-License-Identifier: LGPL-2.1-or-later
// What a rank asks for when it starts a job (PMIx_Spawn; preload/pmix/jobs.c writes it): texts with their ends, of
// which the first character says what they are.
//
//   J key=value   attribute of the job
//   N number      begins a program: its ranks
//   C name        of the program
//   A argument    in order, from argv[0]
//   E name=value  environment variable
//   D directory      working directory
//   I key=value   attribute of the program
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umwelt::bootstrap
{

using Attributes = std::vector<std::pair<std::string, std::string>>;

struct SpawnProgram {
  int ranks = 0;
  std::string name;
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string directory; // empty: not given
  Attributes attributes;
};

struct SpawnRequest {
  std::vector<SpawnProgram> programs;
  Attributes attributes;
};

// Throws std::invalid_argument.
[[nodiscard]] SpawnRequest read_spawn_request(std::string_view bytes);

// Value of an attribute; null: it is not given.
[[nodiscard]] const std::string* find_attribute(const Attributes& attributes, std::string_view key);

} // namespace umwelt::bootstrap
