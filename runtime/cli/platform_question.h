// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt platforms NAME`: one simulated machine, what it consists of, and answers to questions about its network.
#pragma once

#include <string>
#include <vector>

namespace umwelt::cli
{

struct PlatformQuestion {
  std::string spec;                // as for --platform; empty: list all
  unsigned nodes = 64;             // --nodes: of platforms that have as many as the run needs
  std::vector<std::string> routes; // --routes: two nodes, by name or number; empty: not asked
  bool check = false;              // --check
  bool bisection = false;          // --bisection
  std::string draw;                // --draw: a file; empty: not asked
};

struct PlatformAnswer {
  std::string text;  // or JSON
  bool sound = true; // false: the check found that the platform cannot be used
};

// Writes the picture, too. Throws UsageError for what cannot be answered, std::runtime_error if the picture cannot be
// written.
PlatformAnswer answer(const PlatformQuestion& question, bool json);

} // namespace umwelt::cli
