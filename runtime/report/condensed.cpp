// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/condensed.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/report/condensed_network.h"
#include "runtime/report/condensed_timeline.h"
#include "runtime/report/findings.h"
#include "runtime/report/member.h"
#include "runtime/report/middle_run.h"

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr std::size_t most_pairs = 50'000; // of ranks that exchange messages; beyond, blocks of ranks
constexpr std::size_t most_sites = 200;
constexpr std::size_t most_segments = 3'000; // of the critical path
constexpr std::size_t most_of_others = 100;

// [{"a": 1, "b": 2}, ...] as {"a": [1, ...], "b": [2, ...]}, of these keys. A key that no object has is left out.
Json columns(const Json& objects, std::initializer_list<const char*> keys)
{
  Json result = Json::object();
  for (const char* key : keys) {
    Json column = Json::array();
    bool any = false;
    for (const Json& one : objects) {
      const Json* value = member(one, key);
      any = any || value != nullptr;
      column.push_back(value != nullptr ? *value : Json());
    }
    if (any)
      result[key] = std::move(column);
  }
  return result;
}

Json first_of(const Json& list, std::size_t most)
{
  Json result = Json::array();
  for (std::size_t i = 0; i < std::min(most, list.size()); ++i)
    result.push_back(list[i]);
  return result;
}

struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

// Pairs of ranks, or of blocks of ranks where there are too many pairs.
Json condensed_messages(const Json& messages)
{
  using Cell = std::pair<std::int64_t, std::int64_t>;
  std::map<Cell, Traffic> cells;
  for (const Json& one : messages) {
    Traffic& cell = cells[{number(one, "from"), number(one, "to")}];
    cell.messages += static_cast<std::uint64_t>(number(one, "messages"));
    cell.bytes += static_cast<std::uint64_t>(number(one, "bytes"));
  }
  const std::size_t pairs = cells.size();
  std::int64_t block = 1;
  while (cells.size() > most_pairs) {
    block *= 2;
    std::map<Cell, Traffic> coarser;
    for (const auto& [cell, traffic] : cells) {
      Traffic& sum = coarser[{cell.first / 2, cell.second < 0 ? -1 : cell.second / 2}];
      sum.messages += traffic.messages;
      sum.bytes += traffic.bytes;
    }
    cells = std::move(coarser);
  }
  Json result{{"pairs", pairs}, {"block", block}};
  for (const char* column : {"from", "to", "messages", "bytes"})
    result[column] = Json::array();
  for (const auto& [cell, traffic] : cells) {
    result["from"].push_back(cell.first);
    result["to"].push_back(cell.second);
    result["messages"].push_back(traffic.messages);
    result["bytes"].push_back(traffic.bytes);
  }
  return result;
}

Json condensed_calls(const Json& calls)
{
  Json result = Json::object();
  for (const char* key : {"functions", "waited_ps", "late_ps"})
    if (const Json* value = member(calls, key))
      result[key] = *value;
  for (const char* key : {"sites", "communicators"})
    if (const Json* list = array(calls, key)) {
      result[key] = first_of(*list, most_sites);
      result[std::string(key) + "_in_all"] = list->size();
    }
  if (const Json* ranks = array(calls, "ranks"))
    result["ranks"] = columns(*ranks, {"calls", "bytes", "time_ps", "waited_ps", "late_ps", "classes_ps"});
  if (const Json* messages = array(calls, "messages"))
    result["messages"] = condensed_messages(*messages);
  return result;
}

// Ranks and nodes as columns, the links that drew most.
Json condensed_energy(const Json& energy)
{
  Json result = energy;
  if (const Json* ranks = array(energy, "ranks")) {
    Json every = Json::object();
    if (!ranks->empty())
      for (const auto& [activity, ignored] : ranks->front().items())
        every[activity] = columns(*ranks, {activity.c_str()})[activity];
    result["ranks"] = std::move(every);
  }
  if (const Json* nodes = array(energy, "nodes"))
    result["nodes"] = columns(*nodes, {"name", "state", "joules", "peak_watts"});
  if (const Json* links = array(energy, "links")) {
    std::vector<Json> most(links->begin(), links->end());
    std::stable_sort(most.begin(), most.end(),
                     [](const Json& a, const Json& b) { return a.value("joules", 0.0) > b.value("joules", 0.0); });
    result["links"] = first_of(Json(most), most_of_others);
  }
  return result;
}

// The longest segments, in the order of time.
Json condensed_path(const Json& path)
{
  Json result = path;
  const Json* segments = array(path, "segments");
  if (segments == nullptr || segments->size() <= most_segments)
    return result;
  std::vector<std::size_t> order(segments->size());
  std::iota(order.begin(), order.end(), 0U);
  const auto length = [segments](std::size_t i) {
    return number((*segments)[i], "end_ps") - number((*segments)[i], "begin_ps");
  };
  std::nth_element(order.begin(), order.begin() + most_segments, order.end(),
                   [&length](std::size_t a, std::size_t b) { return length(a) > length(b); });
  order.resize(most_segments);
  std::sort(order.begin(), order.end());
  Json kept = Json::array();
  for (const std::size_t i : order)
    kept.push_back((*segments)[i]);
  result["segments"] = std::move(kept);
  result["segments_in_all"] = segments->size();
  return result;
}

bool is_one_of(const std::string& key, std::initializer_list<const char*> keys)
{
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

} // namespace

Json condensed(const Json& report)
{
  Json result = Json::object();
  for (const auto& [key, value] : report.items()) {
    if (key == "ranks" && value.is_array())
      result[key] =
          columns(value, {"host", "job", "rank_of_job", "program", "exit_status", "signal", "finished_ps", "compute_ps",
                          "learned_ps", "doubt_ps", "communication_ps", "waiting_ps", "messages_sent", "bytes_sent",
                          "messages_received", "bytes_received", "segments_sent", "segment_bytes_sent"});
    else if (key == "mpi_calls" && value.is_object())
      result[key] = condensed_calls(value);
    else if (key == "links" && value.is_object())
      result[key] = condensed_links(value);
    else if (key == "timeline" && value.is_object())
      result[key] = condensed_timeline(value);
    else if (key == "energy" && value.is_object())
      result[key] = condensed_energy(value);
    else if (key == "critical_path" && value.is_object())
      result[key] = condensed_path(value);
    else if (is_one_of(key, {"profile", "kernels", "folding"}) && value.is_array())
      result[key] = first_of(value, most_of_others);
    else
      result[key] = value;
  }
  if (const Json* ranks = array(report, "ranks"))
    result["rank_count"] = ranks->size();
  result["findings"] = findings_json(findings(report));
  return result;
}

Json condensed_repetitions(const Json& report)
{
  const Json* runs = array(report, "runs");
  if (runs == nullptr || runs->empty())
    return Json::object();
  const std::size_t middle = middle_of(*runs);
  Json result = condensed((*runs)[middle]);
  Json spread = Json::object();
  for (const char* key : {"repetitions", "confidence", "simulated_ps", "compute_ps", "communication_ps", "waiting_ps"})
    if (const Json* value = member(report, key))
      spread[key] = *value;
  spread["shown"] = middle;
  spread["runs"] = Json::array();
  for (const Json& run : *runs)
    spread["runs"].push_back({{"simulated_ps", number(run, "simulated_ps")},
                              {"seed", number(run, "seed")},
                              {"exit_code", number(run, "exit_code")},
                              {"ending", text(run, "ending")}});
  result["repetitions"] = std::move(spread);
  return result;
}

} // namespace umwelt::report
