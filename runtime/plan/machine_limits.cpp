// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/machine_limits.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace umwelt::plan
{
namespace
{

namespace fs = std::filesystem;

std::optional<std::uint64_t> read_number(const fs::path& path)
{
  std::ifstream file(path);
  std::uint64_t number = 0; // "max" is none
  return file >> number ? std::optional(number) : std::nullopt;
}

// Sum of the lines "NAME number" or "NAME: number" of a file with one of these names.
std::optional<std::uint64_t> sum_of(const fs::path& path, std::span<const std::string_view> names)
{
  std::ifstream file(path);
  std::optional<std::uint64_t> sum;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t number = 0;
    if (!(words >> name >> number))
      continue;
    if (name.back() == ':')
      name.pop_back();
    if (std::find(names.begin(), names.end(), name) != names.end())
      sum = sum.value_or(0) + number;
  }
  return sum;
}

void tighten(std::optional<Bound>& bound, const Bound& other)
{
  if (!bound || other.left() < bound->left())
    bound = other;
}

// Names of the files of a controller in the two versions.
struct CgroupFiles {
  const char* memory_limit;
  const char* memory_used;
  std::array<std::string_view, 2> cache; // lines of memory.stat
};
constexpr CgroupFiles version_1{
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
constexpr CgroupFiles version_2{"memory.max", "memory.current", {"inactive_file", "active_file"}};

void look_at_group(const fs::path& group, const CgroupFiles& files, MachineLimits& limits)
{
  // Version 1 says "unlimited" as the largest whole number of pages.
  constexpr std::uint64_t unlimited = std::numeric_limits<std::int64_t>::max() / 65536 * 65536;
  if (const auto most = read_number(group / files.memory_limit); most && *most < unlimited) {
    const std::uint64_t used = read_number(group / files.memory_used).value_or(0);
    const std::uint64_t cache = sum_of(group / "memory.stat", files.cache).value_or(0);
    tighten(limits.cgroup_memory, {*most, used - std::min(used, cache), group / files.memory_limit});
  }
  if (const auto most = read_number(group / "pids.max"))
    tighten(limits.cgroup_threads, {*most, read_number(group / "pids.current").value_or(0), group / "pids.max"});
}

// The group and those it lies in. In a container the path may be that of the host, while the container's own group is
// at the top: what is not there is passed over.
void look_at_groups(const fs::path& top, const fs::path& group, const CgroupFiles& files, MachineLimits& limits)
{
  for (fs::path path = group.relative_path(); !path.empty(); path = path.parent_path())
    look_at_group(top / path, files, limits);
  look_at_group(top, files, limits);
}

// Lines "number:controllers:path", cgroups(7).
void look_at_cgroups(const fs::path& root, MachineLimits& limits)
{
  const fs::path mounted = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const fs::path path = line.substr(second + 1);
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    if (second == first + 1) // version 2
      look_at_groups(fs::exists(mounted / "unified") ? mounted / "unified" : mounted, path, version_2, limits);
    for (std::string controller; std::getline(controllers, controller, ',');)
      if (controller == "memory" || controller == "pids")
        look_at_groups(mounted / controller, path, version_1, limits);
  }
}

// All threads there are: the fourth field of /proc/loadavg is "running/all".
std::optional<std::uint64_t> all_threads(const fs::path& root)
{
  std::ifstream file(root / "proc/loadavg");
  std::string word;
  for (int field = 0; field < 4; ++field)
    file >> word;
  std::uint64_t number = 0;
  const auto slash = word.find('/');
  return file && slash != std::string::npos && std::istringstream(word.substr(slash + 1)) >> number
             ? std::optional(number)
             : std::nullopt;
}

// Threads of a user: /proc/PID belongs to him, and /proc/PID/task has as many directories.
std::uint64_t threads_of(uid_t user, const fs::path& root)
{
  std::uint64_t count = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "proc", error)) {
    const std::string name = entry.path().filename();
    struct stat status {
    };
    if (name.find_first_not_of("0123456789") == std::string::npos &&
        stat((entry.path() / "task").c_str(), &status) == 0 && status.st_uid == user)
      count += status.st_nlink > 2 ? status.st_nlink - 2 : 1;
  }
  return count;
}

std::optional<std::uint64_t> resource_limit(__rlimit_resource which, rlim_t rlimit::*kind)
{
  rlimit limit{};
  return getrlimit(which, &limit) == 0 && limit.*kind != RLIM_INFINITY ? std::optional(limit.*kind) : std::nullopt;
}

} // namespace

MachineLimits read_machine_limits(const fs::path& root)
{
  MachineLimits limits;
  constexpr std::array<std::string_view, 2> usable{"MemAvailable", "SwapFree"};
  limits.memory = sum_of(root / "proc/meminfo", usable);
  if (limits.memory) // in KiB
    *limits.memory *= 1024;
  const fs::path settings = root / "proc/sys";
  limits.maps = read_number(settings / "vm/max_map_count");
  if (const auto used = all_threads(root)) {
    if (const auto most = read_number(settings / "kernel/threads-max"))
      limits.threads = {*most, *used, "kernel.threads-max"};
    if (const auto most = read_number(settings / "kernel/pid_max"))
      limits.thread_ids = {*most, *used, "kernel.pid_max"};
  }
  look_at_cgroups(root, limits);
  // The limit is none for root, fork(2).
  if (const auto most = resource_limit(RLIMIT_NPROC, &rlimit::rlim_cur); most && geteuid() != 0)
    limits.user_threads = {*most, threads_of(geteuid(), root), "ulimit -u"};
  limits.descriptors = resource_limit(RLIMIT_NOFILE, &rlimit::rlim_max);
  return limits;
}

std::uint64_t raise_descriptor_limit(std::uint64_t needed)
{
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t before = limit.rlim_cur;
  if (needed > before) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, needed);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  return before;
}

std::uint64_t extend_descriptor_limit(std::uint64_t needed)
{
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (needed <= limit.rlim_cur)
    return limit.rlim_cur;
  const rlimit more{needed, std::max<rlim_t>(limit.rlim_max, needed)};
  if (setrlimit(RLIMIT_NOFILE, &more) == 0)
    return needed;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

} // namespace umwelt::plan
