// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/interruptions.h"

#include <algorithm>

#include <fmt/format.h>
#include <sched.h>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

constexpr std::uint64_t many = 100'000; // a second of traps and requests

unsigned cores_of_this_machine()
{
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

} // namespace

void count_interruption(Rank& rank)
{
  if (++rank.statistics.interruptions != many) [[likely]]
    return;
  const auto living =
      std::count_if(rank.threads.begin(), rank.threads.end(), [](const auto& thread) { return !thread->ended(); });
  const unsigned cores = cores_of_this_machine();
  if (living <= static_cast<std::ptrdiff_t>(cores))
    return;
  rank.job.warn(
      rank,
      fmt::format(
          "{} threads wait by spinning, and take turns on one core of this machine, which has {}. Next step: if that "
          "takes too long, fewer threads: --platform bxi:cores=N gives nodes of N cores, of which most "
          "programs make their number of threads; or OMP_NUM_THREADS and the like",
          living, cores));
}

} // namespace umwelt::job
