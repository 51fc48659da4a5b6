// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/environment.h"

#include <fmt/format.h>

#include "runtime/engine/syscalls.h"

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

LauncherFacts launcher_facts(const plan::Placement& placement, std::size_t rank)
{
  const plan::RankPlace& place = placement.ranks[rank];
  return {job_name,
          placement.ranks.size(),
          rank,
          placement.ranks.size(),
          place.local_rank,
          placement.local_sizes[place.node],
          placement.hostnames[place.node],
          node_list(placement)};
}

std::string node_list(const plan::Placement& placement)
{
  return fmt::format("{}", fmt::join(placement.hostnames, ","));
}

void add_launcher_variables(Environment& environment, const LauncherFacts& facts)
{
  const auto set = [&environment](std::string_view name, const auto& value) {
    set_variable(environment, name, fmt::format("{}", value));
  };
  set("PMIX_NAMESPACE", facts.job);
  set("PMIX_RANK", facts.rank);
  set("SLURM_JOBID", 1);
  set("SLURM_STEP_ID", 0);
  set("SLURM_NODELIST", facts.node_list);
  if (facts.pmi_fd >= 0)
    set("PMI_FD", facts.pmi_fd);
  set("PMI_RANK", facts.rank);
  set("PMI_SIZE", facts.ranks);
  set("OMPI_COMM_WORLD_RANK", facts.rank);
  set("OMPI_COMM_WORLD_SIZE", facts.ranks);
  set("OMPI_COMM_WORLD_LOCAL_RANK", facts.local_rank);
  set("OMPI_COMM_WORLD_LOCAL_SIZE", facts.local_ranks);
  set("OMPI_COMM_WORLD_NODE_RANK", facts.local_rank);
  set("OMPI_UNIVERSE_SIZE", facts.universe);
  set("HOSTNAME", facts.host_name);
  // OpenMP libraries look at memory for a while before they sleep. Here that takes time and tells nothing; where system
  // calls cannot be dispatched, a sleeping libgomp would stop everything, so it had better not.
  if (variable(environment, "OMP_WAIT_POLICY") == nullptr) {
    if (variable(environment, "GOMP_SPINCOUNT") == nullptr)
      set_variable(environment, "GOMP_SPINCOUNT", engine::have_syscall_dispatch() ? "0" : "infinity");
    if (variable(environment, "KMP_BLOCKTIME") == nullptr)
      set_variable(environment, "KMP_BLOCKTIME", "0");
  }
  // LLVM's asks the processor (CPUID), which is the machine's, and aborts if the node has more cores.
  if (variable(environment, "KMP_TOPOLOGY_METHOD") == nullptr)
    set_variable(environment, "KMP_TOPOLOGY_METHOD", "flat");
  // UCX rewrites the code of mmap, shmat and the like to keep caches of registered memory up to date, and makes the
  // system calls itself from then on: past the node's. Nothing here registers memory.
  if (variable(environment, "UCX_MEM_MMAP_HOOK_MODE") == nullptr)
    set_variable(environment, "UCX_MEM_MMAP_HOOK_MODE", "none");
  // UCX gives each process a thread, for a file system that shows its insides. It has nothing to do, but makes a rank
  // one with threads: Open MPI 5 is linked to UCX.
  if (variable(environment, "UCX_VFS_ENABLE") == nullptr)
    set_variable(environment, "UCX_VFS_ENABLE", "n");
}

void add_topology_variables(Environment& environment, const std::string& file)
{
  for (const char* own :
       {"HWLOC_XMLFILE", "HWLOC_FSROOT", "HWLOC_SYNTHETIC", "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"})
    if (variable(environment, own) != nullptr)
      return;
  set_variable(environment, "HWLOC_XMLFILE", file);
  set_variable(environment, "HWLOC_THISSYSTEM", "1");
  // With its own parser rather than libxml2: that one would be loaded for this alone, and what it leaves behind in the
  // heap shows in Open MPI's coll/portals4, whose requests begin with whatever error code lies there.
  if (variable(environment, "HWLOC_LIBXML_IMPORT") == nullptr && variable(environment, "HWLOC_LIBXML") == nullptr)
    set_variable(environment, "HWLOC_LIBXML_IMPORT", "0");
  // Its plugins look for graphics cards and PCI devices of this machine, which the node does not have, and bring
  // libxml2, ICU, X11 and OpenCL into every rank: 0.4 MiB and 100 mappings each.
  if (variable(environment, "HWLOC_PLUGINS_PATH") == nullptr)
    set_variable(environment, "HWLOC_PLUGINS_PATH", "/dev/null");
}

} // namespace umwelt::job
