// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of the account and the machine. The figures are those of 16 Open MPI programs in one process (preflight.cpp
// has what was measured), rounded up generously.
#include "runtime/cli/doctor.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "runtime/plan/preflight.h"

namespace umwelt::cli
{
namespace
{

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = 1024 * kibi;

std::string amount(std::uint64_t bytes)
{
  if (bytes == RLIM_INFINITY)
    return "unlimited";
  return bytes < 10 * mebi ? fmt::format("{} KiB", bytes / kibi) : fmt::format("{} MiB", bytes / mebi);
}

std::string count(std::uint64_t number)
{
  return number == RLIM_INFINITY ? "unlimited" : fmt::format("{}", number);
}

} // namespace

Finding check_stack_limit(std::uint64_t soft)
{
  Finding finding{"stack limit", Health::ok, amount(soft), ""};
  if (soft < 1 * mebi) {
    finding.health = Health::warn;
    finding.advice = "Raise it: ulimit -s 8192. Ranks have stacks of their own; the loader runs on this one.";
  }
  return finding;
}

Finding check_descriptor_limit(std::uint64_t soft)
{
  Finding finding{"open files limit", Health::ok, count(soft), ""};
  if (soft < 1024) {
    finding.health = soft < 128 ? Health::fail : Health::warn;
    finding.advice = "Raise it: ulimit -n 4096. All ranks share the descriptors of one process.";
  }
  return finding;
}

Finding check_process_limit(std::uint64_t soft)
{
  Finding finding{"processes limit", Health::ok, count(soft), ""};
  if (soft < 256) {
    finding.health = soft < 32 ? Health::fail : Health::warn;
    finding.advice = "Raise it: ulimit -u 4096. Every simulated thread keeps one system thread of this account.";
  }
  return finding;
}

Finding check_address_space_limit(std::uint64_t soft)
{
  Finding finding{"address space limit", Health::ok, amount(soft), ""};
  if (soft < 8 * kibi * mebi) {
    finding.health = Health::warn;
    finding.advice = "Remove it: ulimit -v unlimited. Stacks and libraries of all ranks are reserved in one process.";
  }
  return finding;
}

Finding check_memory_maps(std::uint64_t max_map_count)
{
  constexpr plan::ProgramSize mpi{16, true};
  plan::MachineLimits limits;
  limits.maps = max_map_count;
  Finding finding{"memory mappings", Health::ok,
                  fmt::format("vm.max_map_count = {}: about {} Open MPI ranks in a process", max_map_count,
                              plan::ranks_that_fit(std::span(&mpi, 1), limits)),
                  ""};
  if (max_map_count == 0) {
    finding.health = Health::warn;
    finding.detail = "/proc/sys/vm/max_map_count cannot be read";
    finding.advice = "Mount /proc.";
  } else if (max_map_count < 16384) {
    finding.health = Health::warn;
    finding.advice = "As root: sysctl vm.max_map_count=65530. Each rank maps its own copy of every library.";
  }
  return finding;
}

Finding check_memory(std::uint64_t available_bytes)
{
  Finding finding{"memory", Health::ok, fmt::format("{} available", amount(available_bytes)), ""};
  if (available_bytes == 0) {
    finding.health = Health::warn;
    finding.detail = "/proc/meminfo cannot be read";
    finding.advice = "Mount /proc.";
  } else if (available_bytes < 512 * mebi) {
    finding.health = Health::warn;
    finding.advice = "Free some: a rank needs 8 MiB for Open MPI and the memory the program itself uses.";
  }
  return finding;
}

} // namespace umwelt::cli
