// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/mpi_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/mpi/functions.h"
#include "runtime/observe/format.h"
#include "runtime/observe/tables.h"

namespace umwelt::observe
{

namespace
{

using Function = mpi::Totals::Function;

constexpr std::size_t most_functions = 12; // in the summary
constexpr std::size_t most_sites = 8;

// A function in all ranks.
struct InAll {
  mpi::Count sum;
  sim::SimTime most = 0; // time in it of the rank with most
};

// What is about the same in all ranks, with most time first. `member`: of mpi::Totals.
template <class Key, class Member> std::vector<std::pair<Key, mpi::Count>> in_all(const JobRecord& job, Member member)
{
  std::map<Key, mpi::Count> sums;
  for (const mpi::Totals& rank : job.mpi_calls)
    for (const auto& [key, count] : rank.*member)
      sums[key] += count;
  std::vector<std::pair<Key, mpi::Count>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  return sorted;
}

std::vector<std::pair<Function, InAll>> functions_of(const JobRecord& job)
{
  std::map<Function, InAll> sums;
  for (const mpi::Totals& rank : job.mpi_calls) {
    std::map<Function, mpi::Count> of_rank;
    for (const auto& [of, count] : rank.sites)
      of_rank[of.first] += count;
    for (const auto& [function, count] : of_rank) {
      sums[function].sum += count;
      sums[function].most = std::max(sums[function].most, count.time);
    }
  }
  std::vector<std::pair<Function, InAll>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.sum.time > b.second.sum.time; });
  return sorted;
}

sim::SimTime life(const JobRecord& job)
{
  sim::SimTime sum = 0;
  for (const RankRecord& rank : job.ranks)
    sum += rank.finished;
  return sum;
}

std::string share(sim::SimTime part, sim::SimTime all)
{
  return all > 0 ? fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(all)) : "-";
}

// What kind of call ranks were blocked in.
enum class Place { send, receive, completion, barrier, collective, other };
constexpr std::array<std::string_view, 6> place_names = {"sends",    "receives",    "completion",
                                                         "barriers", "collectives", "other"};
// Who was late, if somebody was.
constexpr std::array<std::string_view, 6> late_names = {"receivers",   "senders",        "either, in completion",
                                                        "in barriers", "in collectives", "in others"};

Place place_of(Function function)
{
  switch (mpi::function_class(function)) {
  case UMW_MPI_point_to_point:
    return mpi::function_receives(function) ? Place::receive : Place::send;
  case UMW_MPI_completion:
    return Place::completion;
  case UMW_MPI_collective:
    return function == UMW_MPI_Barrier ? Place::barrier : Place::collective;
  default:
    return Place::other;
  }
}

using Places = std::array<sim::SimTime, place_names.size()>;

Places times_of(const mpi::Totals& rank, sim::SimTime mpi::Count::*part)
{
  Places sums{};
  for (const auto& [of, count] : rank.sites)
    sums.at(static_cast<std::size_t>(place_of(of.first))) += count.*part;
  return sums;
}

// Of all ranks.
Places sum_of(const JobRecord& job, sim::SimTime mpi::Count::*part)
{
  Places sums{};
  for (const mpi::Totals& rank : job.mpi_calls) {
    const Places own = times_of(rank, part);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums.at(i) += own.at(i);
  }
  return sums;
}

std::string shares(const JobRecord& job, const Places& times, const std::array<std::string_view, 6>& names)
{
  std::string text;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times.at(i) > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", names.at(i), share(times.at(i), life(job)));
  return text;
}

std::string function_table(const JobRecord& job)
{
  const auto functions = functions_of(job);
  std::vector<Row> rows{{"MPI", "calls", "time", "share", "of one rank", "blocked", "bytes"}};
  mpi::Count left;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const auto& [function, all] = functions[i];
    if (i >= most_functions)
      left += all.sum;
    else
      rows.push_back({std::string(mpi::function_name(function)), show_count(all.sum.calls), show_time(all.sum.time),
                      share(all.sum.time, life(job)), show_time(all.most), show_time(all.sum.waited),
                      show_bytes(all.sum.bytes)});
  }
  if (left.calls > 0)
    rows.push_back({fmt::format("{} others", functions.size() - most_functions), show_count(left.calls),
                    show_time(left.time), share(left.time, life(job)), "", show_time(left.waited),
                    show_bytes(left.bytes)});
  return rows.size() > 1 ? aligned(rows, 1) : std::string();
}

std::string site_table(const JobRecord& job)
{
  const auto sites = in_all<std::pair<Function, std::string>>(job, &mpi::Totals::sites);
  std::vector<Row> rows{{"called from", "", "calls", "time", "blocked", "bytes"}};
  for (std::size_t i = 0; i < std::min(sites.size(), most_sites); ++i) {
    const auto& [of, count] = sites[i];
    rows.push_back({of.second, std::string(mpi::function_name(of.first)), show_count(count.calls),
                    show_time(count.time), show_time(count.waited), show_bytes(count.bytes)});
  }
  return rows.size() > 1 ? "\n" + aligned(rows, 2) : "";
}

std::string waits_line(const JobRecord& job)
{
  const std::string waited = shares(job, sum_of(job, &mpi::Count::waited), place_names);
  const std::string late = shares(job, sum_of(job, &mpi::Count::late), late_names);
  std::string text = waited.empty() ? "" : fmt::format("  blocked in MPI, share of the ranks' time: {}\n", waited);
  if (!late.empty())
    text += fmt::format("  of that, others had not begun yet; late were: {}\n", late);
  return text;
}

nlohmann::ordered_json json_of(const mpi::Count& count)
{
  return {{"calls", count.calls},
          {"bytes", count.bytes},
          {"time_ps", count.time},
          {"waited_ps", count.waited},
          {"late_ps", count.late}};
}

nlohmann::ordered_json named(Function function)
{
  return {{"name", mpi::function_name(function)},
          {"class", place_names.at(static_cast<std::size_t>(place_of(function)))}};
}

nlohmann::ordered_json with(nlohmann::ordered_json json, const mpi::Count& count)
{
  json.update(json_of(count));
  return json;
}

// The rank that has this number in the job of `rank`; -1: one of another job.
std::int64_t rank_with_number(const JobRecord& job, std::size_t rank, std::uint32_t number)
{
  for (std::size_t other = 0; number != UMW_MPI_PEER_ELSEWHERE && other < job.ranks.size(); ++other)
    if (job.ranks[other].job == job.ranks[rank].job && job.ranks[other].number == number)
      return static_cast<std::int64_t>(other);
  return -1;
}

} // namespace

std::string mpi_tables(const JobRecord& job)
{
  if (job.mpi_calls.empty())
    return {};
  std::string text = function_table(job);
  const bool none = text.empty();
  if (!none)
    text += waits_line(job) + site_table(job);
  if (job.ending != completed)
    text += "  calls of MPI are known of ranks that have ended themselves\n";
  else if (none)
    text = "  no calls of MPI\n";
  return "\n" + text;
}

nlohmann::ordered_json mpi_json(const JobRecord& job)
{
  nlohmann::ordered_json json;
  json["functions"] = nlohmann::ordered_json::array();
  std::map<std::pair<Function, std::uint32_t>, mpi::Count> sizes;
  for (const mpi::Totals& rank : job.mpi_calls)
    for (const auto& [of, count] : rank.sizes)
      sizes[of] += count;
  for (const auto& [function, all] : functions_of(job)) {
    auto& one = json["functions"].emplace_back(with(named(function), all.sum));
    one["sizes"] = nlohmann::ordered_json::array();
    for (auto of = sizes.lower_bound({function, 0}); of != sizes.end() && of->first.first == function; ++of)
      one["sizes"].push_back({{"from_bytes", SizeHistogram::least(of->first.second)},
                              {"to_bytes", SizeHistogram::most(of->first.second)},
                              {"calls", of->second.calls},
                              {"bytes", of->second.bytes}});
  }
  json["sites"] = nlohmann::ordered_json::array();
  for (const auto& [of, count] : in_all<std::pair<Function, std::string>>(job, &mpi::Totals::sites)) {
    nlohmann::ordered_json one = named(of.first);
    one["place"] = of.second;
    json["sites"].push_back(with(std::move(one), count));
  }
  json["communicators"] = nlohmann::ordered_json::array();
  for (const auto& [of, count] : in_all<std::pair<std::string, Function>>(job, &mpi::Totals::communicators))
    json["communicators"].push_back(with({{"communicator", of.first}, {"name", mpi::function_name(of.second)}}, count));
  const Places waited = sum_of(job, &mpi::Count::waited);
  const Places late = sum_of(job, &mpi::Count::late);
  for (std::size_t i = 0; i < waited.size(); ++i) {
    json["waited_ps"][std::string(place_names.at(i))] = waited.at(i);
    json["late_ps"][std::string(place_names.at(i))] = late.at(i);
  }
  json["ranks"] = nlohmann::ordered_json::array();
  json["messages"] = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < job.mpi_calls.size(); ++rank) {
    mpi::Count all;
    for (const auto& [of, count] : job.mpi_calls[rank].sites)
      all += count;
    auto& one = json["ranks"].emplace_back(with({{"rank", rank}}, all));
    const Places classes = times_of(job.mpi_calls[rank], &mpi::Count::time);
    for (std::size_t i = 0; i < classes.size(); ++i)
      if (classes.at(i) > 0)
        one["classes_ps"][std::string(place_names.at(i))] = classes.at(i);
    for (const auto& [peer, count] : job.mpi_calls[rank].peers)
      json["messages"].push_back({{"from", rank},
                                  {"to", rank_with_number(job, rank, peer)},
                                  {"messages", count.calls},
                                  {"bytes", count.bytes}});
  }
  return json;
}

} // namespace umwelt::observe
