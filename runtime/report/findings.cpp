// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/findings.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "runtime/observe/format.h"
#include "runtime/report/findings_parts.h"
#include "runtime/report/member.h"

namespace umwelt::report
{

std::string percent(double share)
{
  return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

double life_of(const Json& run)
{
  double sum = 0;
  if (const Json* ranks = array(run, "ranks"))
    for (const Json& rank : *ranks)
      sum += real(rank, "finished_ps");
  return sum;
}

std::size_t ranks_in(const Json& run)
{
  const Json* const ranks = array(run, "ranks");
  return ranks == nullptr ? 0 : ranks->size();
}

std::string plural(std::uint64_t count, const std::string& what)
{
  return fmt::format("{} {}{}", observe::show_count(count), what, count == 1 ? "" : "s");
}

std::string list_of_ranks(const std::vector<std::int64_t>& ranks)
{
  constexpr std::size_t most = 5;
  if (ranks.size() == 1)
    return fmt::format("rank {}", ranks.front());
  const std::size_t shown = ranks.size() > most ? most - 1 : ranks.size() - 1;
  std::string text = "ranks ";
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", ranks[i]);
  if (ranks.size() > most)
    return text + fmt::format(" and {} others", ranks.size() - shown);
  return text + fmt::format(" and {}", ranks.back());
}

std::vector<Finding> findings(const Json& run)
{
  std::vector<Finding> found;
  for (const auto find : {find_deadlock, find_failure, find_doubt, find_hot_links, find_imbalance, find_lateness,
                          find_bounds, find_collectives, find_polling, find_refusals, find_beginning})
    find(run, found);
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) { return a.weight > b.weight; });
  return found;
}

Json findings_json(const std::vector<Finding>& findings)
{
  Json list = Json::array();
  for (const Finding& one : findings)
    list.push_back({{"what", one.what}, {"details", one.details}, {"next", one.next}, {"weight", one.weight}});
  return list;
}

} // namespace umwelt::report
