// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/mpi_waits.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "runtime/bootstrap/namespaces.h"
#include "runtime/job/rank.h"
#include "runtime/job/thread.h"
#include "runtime/mpi/waits.h"
#include "runtime/portals/fabric/process.h"
#include "runtime/rank_host/mpi_call.h"

namespace umwelt::job
{

namespace
{

const umw_mpi_call* call_of(const Thread& thread)
{
  return rank_host::mpi_call_of(thread.rank.gate, thread.tid);
}

// Calls of MPI that ranks' main threads are in, job by job, in the order in which they began.
std::vector<std::pair<const bootstrap::Namespace*, std::vector<mpi::Wait>>>
waits_by_job(const std::vector<std::unique_ptr<Rank>>& ranks)
{
  std::vector<std::pair<const bootstrap::Namespace*, std::vector<mpi::Wait>>> jobs;
  for (const auto& rank : ranks) {
    const umw_mpi_call* const call = rank->phase == Rank::Phase::ended ? nullptr : call_of(rank->main());
    if (call == nullptr)
      continue;
    mpi::Wait wait{static_cast<std::uint32_t>(rank->number), *call, {}};
    wait.members.resize(call->size);
    const std::size_t bytes = call->size * sizeof(std::int32_t);
    if (!rank->portals->memory().read(wait.members.data(), reinterpret_cast<const void*>(call->members), bytes, true))
      wait.members.clear();
    const bootstrap::Namespace* const space = rank->facts->space;
    auto job = std::find_if(jobs.begin(), jobs.end(), [space](const auto& one) { return one.first == space; });
    if (job == jobs.end())
      job = jobs.insert(job, {space, {}});
    job->second.push_back(std::move(wait));
  }
  return jobs;
}

} // namespace

std::string mpi_call_of(const Thread& thread)
{
  const umw_mpi_call* const call = call_of(thread);
  if (call == nullptr)
    return {};
  return fmt::format("    {}, since {:.6f} s\n", mpi::describe(*call), sim::to_seconds(call->since_ps));
}

observe::DeadlockRecord waits_of(const std::vector<std::unique_ptr<Rank>>& ranks, sim::SimTime end)
{
  observe::DeadlockRecord record;
  std::map<const bootstrap::Namespace*, std::map<std::uint32_t, std::uint32_t>> in_run; // by number in the job
  for (const auto& rank : ranks) {
    in_run[rank->facts->space][static_cast<std::uint32_t>(rank->number)] = static_cast<std::uint32_t>(rank->index);
    if (rank->phase == Rank::Phase::ended)
      continue;
    const Thread& thread = rank->main();
    observe::DeadlockRecord::Wait& wait = record.waits.emplace_back();
    wait.rank = static_cast<std::uint32_t>(rank->index);
    const umw_mpi_call* const call = call_of(thread);
    wait.call = call != nullptr ? mpi::describe(*call) : thread.last_call;
    wait.since = call != nullptr ? call->since_ps : std::min(thread.waits_since(), end);
  }
  for (const auto& [job, waits] : waits_by_job(ranks)) {
    const std::map<std::uint32_t, std::uint32_t>& numbers = in_run[job];
    const auto translated = [&numbers](std::vector<std::uint32_t> others) {
      std::erase_if(others, [&numbers](std::uint32_t other) { return !numbers.contains(other); });
      for (std::uint32_t& other : others)
        other = numbers.at(other);
      return others;
    };
    for (const mpi::Wait& one : waits) {
      const std::uint32_t rank = numbers.at(one.rank);
      const auto of = std::find_if(record.waits.begin(), record.waits.end(),
                                   [rank](const observe::DeadlockRecord::Wait& wait) { return wait.rank == rank; });
      of->others = translated(mpi::waited_for(one, waits));
    }
    if (record.cycle.empty())
      record.cycle = translated(mpi::cycle(waits));
  }
  return record;
}

std::string mpi_cycle(const std::vector<std::unique_ptr<Rank>>& ranks)
{
  std::string text;
  for (const auto& [job, waits] : waits_by_job(ranks))
    if (const std::string one = mpi::describe_cycle(waits); !one.empty())
      text += fmt::format("  {}{}\n", job->number > 1 ? fmt::format("job {}: ", job->number) : "", one);
  return text;
}

} // namespace umwelt::job
