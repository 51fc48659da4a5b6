// SPDX-License-Identifier: LGPL-2.1-or-later
// What the calls of PMIx, PMI-1 and PMI-2 have in common: they ask a launcher, wait for each other's values and copy
// them into buffers of the caller.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "runtime/bootstrap/namespaces.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

// One of the others may wait for a key.
inline void call_all(const job::Rank& rank)
{
  for (const auto& other : rank.job.ranks())
    other->notify_all();
}

// A client of PMI asks its launcher and gets an answer.
inline void pass_request(const job::Rank& rank)
{
  rank.job.scheduler().sleep(rank.job.node_parameters().pmi_request);
}

// Null: -ENOENT.
inline std::int64_t copied(const std::string* value, void* buffer, std::uint64_t capacity)
{
  if (value == nullptr)
    return -ENOENT;
  std::memcpy(buffer, value->data(), std::min<std::size_t>(capacity, value->size()));
  return static_cast<std::int64_t>(value->size());
}

// Of that name; none: the rank's own. Null: there is none.
inline const bootstrap::Namespace* job_of(const job::Rank& rank, const char* name)
{
  return *name == '\0' ? rank.facts->space : rank.job.namespaces().find(name);
}

} // namespace umwelt::gate::services
