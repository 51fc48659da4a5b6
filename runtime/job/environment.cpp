// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/environment.h"

#include <fmt/format.h>

#include "runtime/engine/syscalls.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

bool names(const std::string& entry, std::string_view name)
{
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

} // namespace

void unset_variable(Environment& environment, std::string_view name)
{
  std::erase_if(environment, [name](const std::string& entry) { return names(entry, name); });
}

void set_variable(Environment& environment, std::string_view name, std::string_view value)
{
  const std::string entry = fmt::format("{}={}", name, value);
  for (std::string& existing : environment)
    if (names(existing, name)) {
      existing = entry;
      return;
    }
  environment.push_back(entry);
}

const char* variable(const Environment& environment, std::string_view name)
{
  for (const std::string& entry : environment)
    if (names(entry, name))
      return entry.c_str() + name.size() + 1;
  return nullptr;
}

void add_launcher_variables(Environment& environment, const Rank& rank)
{
  const umw_gate& gate = rank.gate;
  const auto number = [&environment](std::string_view name, int value) {
    set_variable(environment, name, fmt::format("{}", value));
  };
  set_variable(environment, "PMIX_NAMESPACE", gate.job_name);
  number("PMIX_RANK", gate.rank);
  set_variable(environment, "SLURM_JOBID", "1");
  set_variable(environment, "SLURM_STEP_ID", "0");
  set_variable(environment, "SLURM_NODELIST", gate.node_list);
  number("PMI_FD", gate.pmi_fd);
  number("PMI_RANK", gate.rank);
  number("PMI_SIZE", gate.ranks);
  number("OMPI_COMM_WORLD_RANK", gate.rank);
  number("OMPI_COMM_WORLD_SIZE", gate.ranks);
  number("OMPI_COMM_WORLD_LOCAL_RANK", gate.local_rank);
  number("OMPI_COMM_WORLD_LOCAL_SIZE", gate.local_ranks);
  number("OMPI_COMM_WORLD_NODE_RANK", gate.local_rank);
  number("OMPI_UNIVERSE_SIZE", gate.ranks);
  set_variable(environment, "HOSTNAME", gate.host_name);
  // OpenMP libraries look at memory for a while before they sleep. Here that takes time and tells nothing; where system calls
  // cannot be dispatched, a sleeping libgomp would stop everything, so it had better not.
  if (variable(environment, "OMP_WAIT_POLICY") == nullptr) {
    if (variable(environment, "GOMP_SPINCOUNT") == nullptr)
      set_variable(environment, "GOMP_SPINCOUNT", engine::have_syscall_dispatch() ? "0" : "infinity");
    if (variable(environment, "KMP_BLOCKTIME") == nullptr)
      set_variable(environment, "KMP_BLOCKTIME", "0");
  }
  // LLVM's counts cores in /proc/cpuinfo, which is the machine's, and aborts if the node has more.
  if (variable(environment, "KMP_TOPOLOGY_METHOD") == nullptr)
    set_variable(environment, "KMP_TOPOLOGY_METHOD", "flat");
}

} // namespace umwelt::job
