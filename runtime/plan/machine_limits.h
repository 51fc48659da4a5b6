// SPDX-License-Identifier: LGPL-2.1-or-later
// What this machine and this account still have to give.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace umwelt::plan
{

// What is left of something that others use, too.
struct Bound {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;
  std::string where; // file that holds the limit
  [[nodiscard]] std::uint64_t left() const { return limit > used ? limit - used : 0; }
};

// Not given: unlimited, or not to be found out.
struct MachineLimits {
  std::optional<std::uint64_t> memory;      // bytes: MemAvailable and SwapFree, proc_meminfo(5)
  std::optional<Bound> cgroup_memory;       // bytes; page cache does not count as used, it gives way
  std::optional<std::uint64_t> maps;        // per process: vm.max_map_count
  std::optional<Bound> user_threads;        // RLIMIT_NPROC and the threads this user has, getrlimit(2)
  std::optional<Bound> threads, thread_ids; // kernel.threads-max, kernel.pid_max
  std::optional<Bound> cgroup_threads;      // pids.max
  std::optional<std::uint64_t> descriptors; // per process: RLIMIT_NOFILE, the hard limit
};

// Reads /proc and /sys/fs/cgroup below `root`, and the limits of this process. Of the control groups (version 1 or 2,
// at their usual places) that this process is in, directly or not, the one that leaves least counts: cgroups(7), Linux'
// Documentation/admin-guide/cgroup-v2.rst.
MachineLimits read_machine_limits(const std::filesystem::path& root = "/");

// Allows this process `needed` descriptors in all, the hard limit raised if that is allowed. Returns how many it may
// have now.
std::uint64_t extend_descriptor_limit(std::uint64_t needed);

// Allows this process `needed` descriptors, as far as the hard limit goes. Returns what it could have before: programs
// are to keep that limit, for some close all descriptors there may be, one by one.
std::uint64_t raise_descriptor_limit(std::uint64_t needed);

} // namespace umwelt::plan
