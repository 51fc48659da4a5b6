// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/waits.h"

#include <algorithm>
#include <map>
#include <queue>
#include <string_view>

#include <fmt/format.h>

#include "runtime/mpi/functions.h"

namespace umwelt::mpi
{

namespace
{

bool same_communicator(const Wait& a, const Wait& b)
{
  return a.members == b.members && std::string_view(a.call.communicator) == b.call.communicator;
}

// It has come to the collective that `other` waits in, or further.
bool has_come(const Wait& one, const Wait& other)
{
  return one.call.peer == UMW_MPI_ALL && same_communicator(one, other) && one.call.turn >= other.call.turn;
}

using OfRank = std::map<std::uint32_t, const Wait*>;

OfRank by_rank(const std::vector<Wait>& waits)
{
  OfRank of_rank;
  for (const Wait& wait : waits)
    of_rank.emplace(wait.rank, &wait);
  return of_rank;
}

std::vector<std::uint32_t> waits_for(const Wait& wait, const OfRank& of_rank)
{
  if (wait.call.peer >= 0)
    return {static_cast<std::uint32_t>(wait.call.peer)};
  std::vector<std::uint32_t> others;
  if (wait.call.peer != UMW_MPI_ALL)
    return others;
  for (const std::int32_t member : wait.members) {
    const auto rank = static_cast<std::uint32_t>(member);
    const auto found = of_rank.find(rank);
    if (member >= 0 && rank != wait.rank && (found == of_rank.end() || !has_come(*found->second, wait)))
      others.push_back(rank);
  }
  std::sort(others.begin(), others.end());
  return others;
}

std::string with(const umw_mpi_call& call, std::uint32_t rank)
{
  const std::string_view name = function_name(call.function);
  if (call.peer == UMW_MPI_ALL)
    return fmt::format("{} for {}", name, rank);
  return fmt::format("{} {} {}", name, call.receives != 0 ? "from" : "to", rank);
}

} // namespace

std::string describe(const umw_mpi_call& call)
{
  std::string text{function_name(call.function)};
  if (call.began_by != UMW_MPI_NONE)
    text += fmt::format(" for {}", function_name(call.began_by));
  if (call.peer == UMW_MPI_SEVERAL)
    text += fmt::format(" for {} requests", call.requests);
  const std::string_view direction = call.receives != 0 ? "from" : "to";
  if (call.peer == UMW_MPI_ANY)
    text += " from any rank";
  else if (call.peer == UMW_MPI_ELSEWHERE)
    text += fmt::format(" {} rank {} of another job", direction, call.peer_of);
  else if (call.peer >= 0) {
    text += fmt::format(" {} {}", direction, call.peer);
    if (call.peer_of != call.peer)
      text += fmt::format(" (rank {} of the communicator)", call.peer_of);
  }
  if (call.tag == UMW_MPI_ANY_TAG)
    text += ", any tag";
  else if (call.tag >= 0)
    text += fmt::format(", tag {}", call.tag);
  if (call.communicator[0] != '\0')
    text += fmt::format(", on {}", &call.communicator[0]);
  return text;
}

std::vector<std::uint32_t> waited_for(const Wait& wait, const std::vector<Wait>& waits)
{
  return waits_for(wait, by_rank(waits));
}

std::vector<std::uint32_t> cycle(const std::vector<Wait>& waits)
{
  const OfRank of_rank = by_rank(waits);
  for (const auto& [start, first] : of_rank) {
    std::map<std::uint32_t, std::uint32_t> reached_from; // breadth first: the shortest way back to where it began
    std::queue<std::uint32_t> next;
    next.push(start);
    while (!next.empty() && !reached_from.contains(start)) {
      const std::uint32_t rank = next.front();
      next.pop();
      const auto found = of_rank.find(rank);
      if (found == of_rank.end())
        continue;
      for (const std::uint32_t other : waits_for(*found->second, of_rank))
        if (reached_from.emplace(other, rank).second)
          next.push(other);
    }
    if (!reached_from.contains(start))
      continue;
    std::vector<std::uint32_t> way{start};
    for (std::uint32_t rank = reached_from.at(start); rank != start; rank = reached_from.at(rank))
      way.push_back(rank);
    std::reverse(way.begin() + 1, way.end());
    return way;
  }
  return {};
}

std::string describe_cycle(const std::vector<Wait>& waits)
{
  const OfRank of_rank = by_rank(waits);
  const std::vector<std::uint32_t> way = cycle(waits);
  std::string text;
  for (std::size_t i = 0; i < way.size(); ++i)
    text += fmt::format("{}{}{}", i == 0 ? "cycle: " : ", ", way[i], i == 0 ? " waits in " : " in ") +
            with(of_rank.at(way[i])->call, way[(i + 1) % way.size()]);
  return text;
}

} // namespace umwelt::mpi
