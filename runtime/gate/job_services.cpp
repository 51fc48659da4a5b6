// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs among each other: ranks that start others, meet with some, and publish values for all.
#include "runtime/gate/services.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/bootstrap/namespaces.h"
#include "runtime/gate/bootstrap_calls.h"
#include "runtime/gate/deadline.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;
using sim::SimTime;

namespace
{

// The program has got somewhere by the call. What it polled for in vain before says nothing of what it polls for now:
// MPI libraries take several looks at their network for each step of what they have under way.
void made_progress(Rank& rank)
{
  rank.job.polling().productive(rank);
}

} // namespace

int umw_job_size(Rank& rank, const char* job)
{
  const bootstrap::Namespace* space = job_of(rank, job);
  return space == nullptr ? -ENOENT : static_cast<int>(space->size);
}

int umw_meet(Rank& rank, const void* members, std::uint64_t bytes)
{
  const std::span runs(static_cast<const umw_members*>(members), bytes / sizeof(umw_members));
  std::vector<std::size_t> ranks;
  for (const umw_members& run : runs) {
    const bootstrap::Namespace* space = job_of(rank, run.job);
    if (space == nullptr)
      return -ENOENT;
    const auto first = static_cast<std::size_t>(run.first);
    const std::size_t count = run.count == 0 ? space->size : static_cast<std::size_t>(run.count);
    if (run.first < 0 || run.count < 0 || first + count > space->size)
      return -EINVAL;
    for (std::size_t i = 0; i < count; ++i)
      ranks.push_back(space->first + first + i);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (!std::binary_search(ranks.begin(), ranks.end(), static_cast<std::size_t>(rank.index)))
    return -EINVAL;
  const int result = rank.job.meet(rank, ranks);
  made_progress(rank);
  return result;
}

int umw_publish(Rank& rank, const char* key, const void* data, std::uint64_t size, int how)
{
  pass_request(rank);
  rank.job.published().add({key, std::string(static_cast<const char*>(data), size),
                            static_cast<std::size_t>(rank.index), rank.facts->space->number,
                            (how & UMW_PUBLISH_ONCE) != 0, (how & UMW_PUBLISH_IN_JOB) != 0});
  call_all(rank);
  made_progress(rank);
  return 0;
}

std::int64_t umw_lookup(Rank& rank, const char* key, void* buffer, std::uint64_t capacity, std::int64_t duration,
                        umw_members* owner)
{
  pass_request(rank);
  const SimTime until = deadline(rank, duration);
  bootstrap::Published& published = rank.job.published();
  const bootstrap::Publication* found = published.find(key, rank.facts->space->number);
  if (found == nullptr && duration != 0)
    rank.set_last_call("PMIx_Lookup");
  while (found == nullptr && duration != 0) {
    if (rank.job.scheduler().now() >= until)
      return -ETIMEDOUT;
    rank.wait_in_background(until); // who is to publish it may have to be let round first (Polling::another_round)
    rank.act_on_signals();
    found = published.find(key, rank.facts->space->number);
  }
  made_progress(rank);
  const std::int64_t size = copied(found != nullptr ? &found->value : nullptr, buffer, capacity);
  if (found == nullptr || static_cast<std::uint64_t>(size) > capacity)
    return size;
  const Rank& publisher = *rank.job.ranks()[found->owner];
  std::memcpy(owner->job, publisher.gate.job_name, sizeof owner->job);
  owner->first = publisher.number;
  owner->count = 1;
  published.read(*found);
  return size;
}

int umw_unpublish(Rank& rank, const char* key, int how)
{
  pass_request(rank);
  rank.job.published().remove(key, static_cast<std::size_t>(rank.index), (how & UMW_PUBLISH_IN_JOB) != 0);
  return 0;
}

std::int64_t umw_spawn(Rank& rank, const void* request, std::uint64_t bytes, void* buffer, std::uint64_t capacity)
{
  std::string name;
  const int status = rank.job.spawn(rank, {static_cast<const char*>(request), bytes}, name);
  return status < 0 ? status : copied(&name, buffer, capacity);
}

} // namespace umwelt::gate::services
