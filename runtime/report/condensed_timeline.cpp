// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/condensed_timeline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/report/member.h"

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 512;
constexpr std::size_t most_bins = 400;
constexpr double steps = 90;
constexpr char least = '#';

// A row of the picture: for each state, time per column.
using Row = std::vector<std::vector<double>>;

void add(Row& row, const Json& rank, std::size_t together)
{
  if (!rank.is_array())
    return;
  for (std::size_t state = 0; state < std::min(row.size(), rank.size()); ++state) {
    const Json& bins = rank[state];
    if (bins.is_array())
      for (std::size_t i = 0; i < bins.size() && i / together < row[state].size(); ++i)
        row[state][i / together] += static_cast<double>(as_number(bins[i]));
  }
}

std::string shares(const std::vector<double>& times, double whole)
{
  std::string result;
  for (const double time : times) {
    const double share = whole > 0 ? std::clamp(time / whole, 0.0, 1.0) : 0;
    auto code = static_cast<char>(least + std::lround(steps * share));
    if (code >= '\\')
      ++code;
    result += code;
  }
  return result;
}

constexpr double thousandths = 1000; // of a bin, in which the report tells

std::size_t parts(std::size_t count, std::size_t most)
{
  return std::max<std::size_t>(1, (count + most - 1) / most);
}

} // namespace

Json condensed_timeline(const Json& timeline)
{
  const Json* ranks = array(timeline, "ranks");
  const Json* states = array(timeline, "states");
  if (ranks == nullptr || states == nullptr)
    return Json::object();
  std::size_t bins = 0;
  for (const Json& rank : *ranks)
    for (const Json& state : rank)
      bins = std::max(bins, state.is_array() ? state.size() : 0);
  const std::size_t ranks_together = parts(ranks->size(), most_rows);
  const std::size_t bins_together = parts(bins, most_bins);
  const std::size_t columns = (bins + bins_together - 1) / bins_together;
  const auto bin = static_cast<double>(number(timeline, "bin_ps")) * static_cast<double>(bins_together);

  Json result{{"bin_ps", bin}, {"states", *states}, {"together", ranks_together}, {"rows", Json::array()}};
  for (std::size_t first = 0; first < ranks->size(); first += ranks_together) {
    const std::size_t end = std::min(first + ranks_together, ranks->size());
    Row row(states->size(), std::vector<double>(columns));
    for (std::size_t rank = first; rank < end; ++rank)
      add(row, (*ranks)[rank], bins_together);
    Json coded = Json::array();
    for (const std::vector<double>& times : row)
      coded.push_back(shares(times, thousandths * static_cast<double>(bins_together * (end - first))));
    result["rows"].push_back(std::move(coded));
  }
  return result;
}

} // namespace umwelt::report
