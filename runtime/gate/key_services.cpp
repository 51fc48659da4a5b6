// SPDX-License-Identifier: LGPL-2.1-or-later
// Keys that ranks show each other, as PMIx and PMI have them, and the fence at which they become visible.
#include "runtime/gate/services.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/bootstrap/namespaces.h"
#include "runtime/gate/bootstrap_calls.h"
#include "runtime/job/job.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;

int umw_joined(Rank& rank, int)
{
  return rank.job.join(rank);
}

int umw_left(Rank& rank, int)
{
  rank.joined = false;
  if (rank.gate.fault_tolerant != 0)
    rank.notify_all(); // whoever waits for failures
  return 0;
}

std::int64_t umw_failure_wait(Rank& rank, std::uint64_t seen)
{
  return rank.job.failures().wait(rank, seen);
}

int umw_key_put(Rank& rank, const char* key, const void* data, std::uint64_t size)
{
  rank.job.keys().put(static_cast<std::size_t>(rank.index), key, std::string(static_cast<const char*>(data), size));
  return 0;
}

int umw_key_commit(Rank& rank, int)
{
  rank.job.keys().commit(static_cast<std::size_t>(rank.index));
  call_all(rank);
  return 0;
}

std::int64_t umw_key_get(Rank& rank, const char* job, int whose, const char* key, void* buffer, std::uint64_t capacity,
                         int wait)
{
  const auto asking = static_cast<std::size_t>(rank.index);
  const bootstrap::Namespace* space = job_of(rank, job);
  if (space == nullptr)
    return -ENOENT;
  if (whose == -1)
    return copied(rank.job.keys().get_of_any(asking, space->first, space->size, key), buffer, capacity);
  if (whose < 0 || static_cast<std::size_t>(whose) >= space->size)
    return -ENOENT;
  const std::size_t asked = space->first + static_cast<std::size_t>(whose);
  const std::string* value = rank.job.keys().get(asking, asked, key);
  while (value == nullptr && wait != 0 && rank.job.ranks()[asked]->phase != Rank::Phase::ended &&
         !rank.job.keys().committed(asked)) {
    rank.wait(sim::never);
    value = rank.job.keys().get(asking, asked, key);
  }
  return copied(value, buffer, capacity);
}

int umw_fence(Rank& rank, int)
{
  return rank.job.fence(rank);
}

int umw_pmi_serve(Rank& rank, int)
{
  rank.pmi->serve();
  return 0;
}

int umw_pmi_wait(Rank& rank, int sockets, std::uint64_t seen)
{
  rank.pmi->wait([&] { return sockets != 0 && rank.gate.descriptor_news != seen; });
  return 0;
}

} // namespace umwelt::gate::services
