// SPDX-License-Identifier: LGPL-2.1-or-later
// Spaces of pairs, as PMI-1 and PMI-2 have them; each call asks a launcher, which takes its time.
#include "runtime/gate/services.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/bootstrap/namespaces.h"
#include "runtime/gate/bootstrap_calls.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;

static_assert(bootstrap::kvs_name_max == UMW_PMI_NAME_MAX && bootstrap::key_max == UMW_PMI_KEY_MAX &&
              bootstrap::value_max == UMW_PMI_VALUE_MAX);

int umw_space_create(Rank& rank, const char* space)
{
  pass_request(rank);
  if (rank.job.spaces().find(space) != nullptr)
    return -EEXIST;
  rank.job.spaces()[space];
  return 0;
}

int umw_space_remove(Rank& rank, const char* space)
{
  pass_request(rank);
  return rank.job.spaces().remove(space) ? 0 : -ENXIO;
}

int umw_pair_put(Rank& rank, const char* space, const char* key, const char* value, int how)
{
  bootstrap::Spaces& spaces = rank.job.spaces();
  if (how != UMW_PAIR_LATER)
    pass_request(rank);
  if (std::string_view(space).starts_with(bootstrap::kvs_prefix) && spaces.find(space) == nullptr)
    return -ENXIO;
  switch (how) {
  case UMW_PAIR_LATER: // completes in the rank
    spaces.put(static_cast<std::size_t>(rank.index), space, key, value);
    return 0;
  case UMW_PAIR_NEW:
    if (!spaces[space].add(key, value))
      return -EEXIST;
    break;
  default:
    spaces[space].set(key, value);
  }
  call_all(rank);
  return 0;
}

int umw_pair_commit(Rank& rank, const char* space)
{
  pass_request(rank);
  if (rank.job.spaces().find(space) == nullptr)
    return -ENXIO;
  rank.job.spaces().commit(static_cast<std::size_t>(rank.index), space);
  call_all(rank);
  return 0;
}

std::int64_t umw_pair_get(Rank& rank, const char* space, const char* key, char* buffer, std::uint64_t capacity,
                          int wait)
{
  bootstrap::Spaces& spaces = rank.job.spaces();
  const auto asking = static_cast<std::size_t>(rank.index);
  pass_request(rank);
  const std::string* value = spaces.get(asking, space, key);
  if (value == nullptr && wait != 0)
    rank.set_last_call("PMI2_Info_GetNodeAttr"); // nothing else waits
  while (value == nullptr && wait != 0) {
    rank.wait(sim::never);
    rank.act_on_signals();
    value = spaces.get(asking, space, key);
  }
  if (value == nullptr && spaces.find(space) == nullptr)
    return -ENXIO;
  return copied(value, buffer, capacity);
}

std::int64_t umw_pair_at(Rank& rank, const char* space, int index, char* buffer, std::uint64_t capacity)
{
  pass_request(rank);
  const bootstrap::Space* found = rank.job.spaces().find(space);
  if (found == nullptr)
    return -ENXIO;
  const bootstrap::Space::Pair* pair = found->at(index);
  if (pair == nullptr)
    return -ENOENT;
  const std::string bytes = pair->key + '\0' + pair->value + '\0';
  return copied(&bytes, buffer, capacity);
}

int umw_pair_remove(Rank& rank, const char* space, const char* key)
{
  pass_request(rank);
  bootstrap::Space* found = rank.job.spaces().find(space);
  return found != nullptr && found->remove(key) ? 0 : -ENOENT;
}

} // namespace umwelt::gate::services
