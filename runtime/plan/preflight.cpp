// SPDX-License-Identifier: LGPL-2.1-or-later
// The constants are measured: 1 and 15 ranks in one process on Debian 12 with Open MPI 4.1.4, /proc/PID/maps, fd, task
// and Pss_Anon of smaps_rollup looked at all the time, the largest values taken and compared. Programs: sleep, git,
// python3; an MPI_Init + MPI_Allreduce; p2p, rma, C++, Fortran and OpenMP programs of tests/mpi. Shared pages of files
// count once.
#include "runtime/plan/preflight.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <numeric>

namespace umwelt::plan
{
namespace
{

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = 1024 * kibi;

namespace runtime_needs
{
constexpr std::uint64_t maps = 250;
constexpr std::uint64_t threads = 2;
constexpr std::uint64_t descriptors = 16;
constexpr std::uint64_t descriptors_per_rank = 8; // in worker processes: pipes of the output, PMI, what ranks wait for
constexpr std::uint64_t descriptors_per_worker = 2;
} // namespace runtime_needs

// A worker process copies at most what the runtime has of its own when it is forked, 2 MiB, and has page tables.
constexpr std::uint64_t memory_of_worker = 3 * mebi;

// A rank of any program: 400 KiB and 38 mappings of sleep(1), of them 5 for the C library.
constexpr std::uint64_t memory_of_rank = 400 * kibi;
constexpr std::uint64_t maps_of_rank = 33;
constexpr std::uint64_t maps_of_library = 5; // headers, code, constants, relocated constants, variables
constexpr std::uint64_t descriptors_of_rank = 5;

// Beyond that with Open MPI: 4.3 to 4.7 MiB in all, page tables included; 70 components are opened, of which 36 stay;
// threads of its event loops and of PMIx_Fence_nb; epoll, event and pipe descriptors of these.
constexpr std::uint64_t memory_of_open_mpi = 4 * mebi;
constexpr std::uint64_t maps_of_open_mpi = 320;
constexpr std::uint64_t threads_of_open_mpi = 4;
constexpr std::uint64_t descriptors_of_open_mpi = 8;

std::string amount(std::uint64_t bytes)
{
  return bytes < 10 * kibi * mebi ? fmt::format("{} MiB", bytes / mebi)
                                  : fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (kibi * mebi));
}

struct RankNeeds {
  std::uint64_t memory;
  std::uint64_t maps;
  std::uint64_t threads;
  std::uint64_t descriptors;
};

RankNeeds needs_of_rank(const ProgramSize& program)
{
  RankNeeds needs{memory_of_rank, maps_of_rank + maps_of_library * program.libraries, 1, descriptors_of_rank};
  if (program.open_mpi) {
    needs.memory += memory_of_open_mpi;
    needs.maps += maps_of_open_mpi;
    needs.threads += threads_of_open_mpi;
    needs.descriptors += descriptors_of_open_mpi;
  }
  return needs;
}

class ShortageFinder
{
public:
  ShortageFinder(const Needs& needs, const MachineLimits& limits) : needs_(needs), limits_(limits) {}

  std::vector<Shortage> find()
  {
    memory();
    maps();
    threads();
    descriptors();
    return std::move(result_);
  }

private:
  [[nodiscard]] std::string ranks_that_fit(std::uint64_t available) const
  {
    const std::uint64_t fit = available / std::max<std::uint64_t>(needs_.memory / needs_.ranks, 1);
    return fit == 0 ? "run on a machine with more" : fmt::format("run {} ranks, about as many as fit", fit);
  }

  void memory()
  {
    const std::string expected =
        fmt::format("about {} (not counting what the program itself needs)", amount(needs_.memory));
    if (limits_.memory && *limits_.memory < needs_.memory)
      result_.push_back({"memory", expected,
                         fmt::format("{} (MemAvailable and SwapFree of /proc/meminfo)", amount(*limits_.memory)),
                         fmt::format("End what else uses memory, or {}.", ranks_that_fit(*limits_.memory))});
    const auto& group = limits_.cgroup_memory;
    if (group && group->left() < needs_.memory)
      result_.push_back(
          {"memory of the control group", expected,
           fmt::format("{}, {} of which are used ({})", amount(group->limit), amount(group->used), group->where),
           fmt::format("Raise it by as much as is missing (systemd: MemoryMax=, docker: --memory), or {}.",
                       ranks_that_fit(group->left()))});
  }

  void maps()
  {
    if (!limits_.maps || *limits_.maps >= needs_.maps)
      return;
    const std::uint64_t room =
        *limits_.maps > runtime_needs::maps ? (*limits_.maps - runtime_needs::maps) / needs_.maps_of_rank : 0;
    result_.push_back({"memory mappings of one process", fmt::format("about {}", needs_.maps),
                       fmt::format("vm.max_map_count = {}", *limits_.maps),
                       fmt::format("As root: sysctl -w vm.max_map_count={}, for good in a file of /etc/sysctl.d{}.",
                                   std::bit_ceil(needs_.maps),
                                   room == 0 ? "" : fmt::format("; or pass --ranks-per-worker {}", room))});
  }

  void threads()
  {
    const auto check = [this](const std::optional<Bound>& bound, const std::string& object, const std::string& got,
                              const std::string& next) {
      if (bound && bound->left() < needs_.threads)
        result_.push_back({object, fmt::format("about {}", needs_.threads),
                           fmt::format("{} = {}, {} of which are used", got, bound->limit, bound->used), next});
    };
    const auto wanted = [this](const std::optional<Bound>& bound) {
      return std::bit_ceil(needs_.threads + (bound ? bound->used : 0));
    };
    check(limits_.user_threads, "threads of this user", "ulimit -u",
          fmt::format("ulimit -u {0}; if that is refused, as root in /etc/security/limits.conf: '* - nproc {0}'.",
                      wanted(limits_.user_threads)));
    check(limits_.threads, "threads of this machine", "kernel.threads-max",
          fmt::format("As root: sysctl -w kernel.threads-max={}, for good in a file of /etc/sysctl.d.",
                      wanted(limits_.threads)));
    check(limits_.thread_ids, "thread ids of this machine", "kernel.pid_max",
          fmt::format("As root: sysctl -w kernel.pid_max={}, for good in a file of /etc/sysctl.d.",
                      wanted(limits_.thread_ids)));
    check(limits_.cgroup_threads, "threads of the control group",
          limits_.cgroup_threads ? limits_.cgroup_threads->where : "",
          fmt::format("As root write {} there (systemd: TasksMax=, docker: --pids-limit).",
                      wanted(limits_.cgroup_threads)));
  }

  void descriptors()
  {
    if (!limits_.descriptors || *limits_.descriptors >= needs_.descriptors)
      return;
    result_.push_back(
        {"open files of one process", fmt::format("about {}", needs_.descriptors),
         fmt::format("ulimit -Hn = {}", *limits_.descriptors),
         fmt::format(
             "As root: ulimit -Hn {0} in the shell that starts umwelt, for good in /etc/security/limits.conf: '* hard "
             "nofile {0}' (systemd: LimitNOFILE=, docker: --ulimit nofile={0}).",
             std::bit_ceil(needs_.descriptors))});
  }

  const Needs& needs_;
  const MachineLimits& limits_;
  std::vector<Shortage> result_;
};

} // namespace

unsigned ranks_that_fit(std::span<const ProgramSize> programs, const MachineLimits& limits)
{
  // What is estimated is the least. Programs map and open something, too.
  constexpr std::uint64_t maps_percent = 115;
  constexpr std::uint64_t descriptors_percent = 150;
  constexpr std::uint64_t many = 1UL << 20;
  std::uint64_t fit = many;
  const auto fill = [&fit](const std::optional<std::uint64_t>& limit, std::uint64_t own, std::uint64_t of_rank) {
    if (limit)
      fit = std::min(fit, (*limit - std::min(*limit, own)) / of_rank);
  };
  for (const ProgramSize& program : programs) {
    const RankNeeds needs = needs_of_rank(program);
    fill(limits.maps, runtime_needs::maps, needs.maps * maps_percent / 100);
    fill(limits.descriptors, runtime_needs::descriptors, needs.descriptors * descriptors_percent / 100);
  }
  return static_cast<unsigned>(std::max<std::uint64_t>(fit, 1));
}

Needs estimate_needs(std::span<const ProgramSize> programs, std::span<const unsigned> program_of_rank,
                     const WorkerPlan& plan)
{
  Needs needs;
  needs.ranks = static_cast<unsigned>(program_of_rank.size());
  needs.memory = memory_of_worker * plan.workers.size();
  needs.threads = runtime_needs::threads + plan.workers.size();
  std::vector<std::vector<unsigned>> processes = plan.workers;
  if (processes.empty()) {
    processes.emplace_back(needs.ranks);
    std::iota(processes.front().begin(), processes.front().end(), 0U);
  } else {
    needs.descriptors = runtime_needs::descriptors + runtime_needs::descriptors_per_rank * needs.ranks +
                        runtime_needs::descriptors_per_worker * plan.workers.size();
  }
  for (const std::vector<unsigned>& process : processes) {
    std::uint64_t maps = runtime_needs::maps; // a worker process has the runtime's, too
    std::uint64_t descriptors = runtime_needs::descriptors;
    needs.descriptors_of_runtime =
        std::max(needs.descriptors_of_runtime, descriptors + descriptors_of_rank * process.size());
    for (const unsigned rank : process) {
      const RankNeeds own = needs_of_rank(programs[program_of_rank[rank]]);
      needs.memory += own.memory;
      needs.threads += own.threads;
      needs.maps_of_rank = std::max(needs.maps_of_rank, own.maps);
      maps += own.maps;
      descriptors += own.descriptors;
    }
    needs.maps = std::max(needs.maps, maps);
    needs.descriptors = std::max(needs.descriptors, descriptors);
  }
  return needs;
}

std::vector<Shortage> find_shortages(const Needs& needs, const MachineLimits& limits)
{
  return ShortageFinder(needs, limits).find();
}

std::string shortage_text(unsigned ranks, std::span<const Shortage> shortages)
{
  std::string text =
      fmt::format("{} rank{} do{} not fit on this machine", ranks, ranks == 1 ? "" : "s", ranks == 1 ? "es" : "");
  for (const Shortage& shortage : shortages)
    text += fmt::format("\n  {}: expected {}, got {}\n    {}", shortage.object, shortage.expected, shortage.got,
                        shortage.next);
  return text;
}

} // namespace umwelt::plan
