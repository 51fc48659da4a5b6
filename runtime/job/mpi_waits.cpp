// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/mpi_waits.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include <fmt/format.h>

#include "runtime/bootstrap/namespaces.h"
#include "runtime/job/rank.h"
#include "runtime/job/thread.h"
#include "runtime/mpi/waits.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

namespace
{

const umw_mpi_call* call_of(const Thread& thread)
{
  const umw_gate& gate = thread.rank.gate;
  const auto* const end = std::end(gate.mpi_calls);
  const auto* const call = std::find_if(std::begin(gate.mpi_calls), end, [&thread](const umw_mpi_call& one) {
    return one.function != UMW_MPI_NONE && one.tid == thread.tid;
  });
  return call == end ? nullptr : call;
}

} // namespace

std::string mpi_call_of(const Thread& thread)
{
  const umw_mpi_call* const call = call_of(thread);
  if (call == nullptr)
    return {};
  return fmt::format("    {}, since {:.6f} s\n", mpi::describe(*call), sim::to_seconds(call->since_ps));
}

std::string mpi_cycle(const std::vector<std::unique_ptr<Rank>>& ranks)
{
  std::map<const bootstrap::Namespace*, std::vector<mpi::Wait>> of_job;
  std::vector<const bootstrap::Namespace*> jobs; // in the order in which they began
  for (const auto& rank : ranks) {
    const umw_mpi_call* const call = rank->phase == Rank::Phase::ended ? nullptr : call_of(rank->main());
    if (call == nullptr)
      continue;
    mpi::Wait wait{static_cast<std::uint32_t>(rank->number), *call, {}};
    wait.members.resize(call->size);
    const std::size_t bytes = call->size * sizeof(std::int32_t);
    if (!rank->portals->memory().read(wait.members.data(), reinterpret_cast<const void*>(call->members), bytes, true))
      wait.members.clear();
    std::vector<mpi::Wait>& waits = of_job[rank->facts->space];
    if (waits.empty())
      jobs.push_back(rank->facts->space);
    waits.push_back(std::move(wait));
  }
  std::string text;
  for (const bootstrap::Namespace* job : jobs)
    if (const std::string one = mpi::cycle(of_job[job]); !one.empty())
      text += fmt::format("  {}{}\n", job->number > 1 ? fmt::format("job {}: ", job->number) : "", one);
  return text;
}

} // namespace umwelt::job
