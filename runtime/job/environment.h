// SPDX-License-Identifier: LGPL-2.1-or-later
// The environment variables of ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace umwelt::job
{

class Rank;

using Environment = std::vector<std::string>; // "NAME=value"

void set_variable(Environment& environment, std::string_view name, std::string_view value);
void unset_variable(Environment& environment, std::string_view name);
[[nodiscard]] const char* variable(const Environment& environment, std::string_view name); // null if unset

// What a launcher tells each rank: PMIx namespace and rank, the same for PMI-1, what makes Open MPI believe in a resource manager (it would start
// a daemon otherwise), and the variables mpirun sets for scripts.
void add_launcher_variables(Environment& environment, const Rank& rank);

} // namespace umwelt::job
