// SPDX-License-Identifier: LGPL-2.1-or-later
// The environment variables of ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/placement.h"

namespace umwelt::job
{

using Environment = std::vector<std::string>; // "NAME=value"

void set_variable(Environment& environment, std::string_view name, std::string_view value);
void unset_variable(Environment& environment, std::string_view name);
[[nodiscard]] const char* variable(const Environment& environment, std::string_view name); // null if unset

// What a launcher tells each rank: PMIx namespace and rank, the same for PMI-1, what makes Open MPI believe in a
// resource manager (it would start a daemon otherwise), and the variables mpirun sets for scripts.
inline constexpr const char* job_name = "umwelt";
struct LauncherFacts {
  std::string job = job_name;
  std::size_t universe = 1; // ranks there is room for
  std::size_t rank = 0, ranks = 1;
  unsigned local_rank = 0, local_ranks = 1;
  std::string host_name;
  std::string node_list;
  int pmi_fd = -1; // -1: none yet
};
LauncherFacts launcher_facts(const plan::Placement& placement, std::size_t rank);
std::string node_list(const plan::Placement& placement);
void add_launcher_variables(Environment& environment, const LauncherFacts& facts);

// hwloc takes the node's topology from `file` (procfs/machine_files.h), unless the user says otherwise, and then
// believes that it can bind. It is quicker than the files below /sys, from which it could take the same, and does not
// ask the processor, whose CPUID is this machine's. It loads no plugins unless HWLOC_PLUGINS_PATH names some. A user's
// HWLOC_XMLFILE, HWLOC_FSROOT, HWLOC_SYNTHETIC, HWLOC_CPUID_PATH, HWLOC_COMPONENTS or HWLOC_THISSYSTEM stands alone.
void add_topology_variables(Environment& environment, const std::string& file);

} // namespace umwelt::job
