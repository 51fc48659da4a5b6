// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/compare_command.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/observe/energy_report.h"
#include "runtime/observe/format.h"
#include "runtime/observe/tables.h"
#include "runtime/report/input.h"
#include "runtime/report/member.h"
#include "runtime/report/middle_run.h"

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;
using observe::Row;

constexpr std::size_t most_functions = 8;

// A figure of every run; none where a report has none.
struct Figures {
  std::string name;
  std::vector<std::optional<double>> values;
  std::string (*show)(double);
};

std::string as_time(double picoseconds)
{
  return observe::show_time(static_cast<sim::SimTime>(picoseconds));
}

std::string as_count(double number)
{
  return observe::show_count(static_cast<std::uint64_t>(std::max(0.0, number)));
}

std::string as_bytes(double bytes)
{
  return observe::show_bytes(static_cast<std::uint64_t>(std::max(0.0, bytes)));
}

std::string change(double from, double to)
{
  if (from == to)
    return "=";
  if (from <= 0)
    return "-";
  return fmt::format("{:+.1f} %", 100 * (to - from) / from);
}

double rank_count(const Json& run)
{
  const Json* ranks = array(run, "ranks");
  return ranks == nullptr ? 1 : std::max(1.0, static_cast<double>(ranks->size()));
}

double mean_of_ranks(const Json& run, const char* key)
{
  double sum = 0;
  if (const Json* ranks = array(run, "ranks"))
    for (const Json& rank : *ranks)
      sum += static_cast<double>(number(rank, key));
  return sum / rank_count(run);
}

std::optional<double> total(const Json& run, const char* key)
{
  const Json* totals = member(run, "totals");
  return totals == nullptr ? std::nullopt : std::optional<double>(static_cast<double>(number(*totals, key)));
}

// Of runs whose machine's power is known.
std::optional<double> energy(const Json& run, const char* key)
{
  const Json* const all = member(run, "energy");
  const Json* const value = all == nullptr ? nullptr : member(*all, key);
  return value == nullptr || !value->is_number() ? std::nullopt : std::optional(value->get<double>());
}

std::string as_money(double money)
{
  return fmt::format("{:.4g}", money);
}

// Time of a rank in it, mean.
std::map<std::string, double> functions_of(const Json& run)
{
  std::map<std::string, double> times;
  if (const Json* calls = member(run, "mpi_calls"))
    if (const Json* functions = array(*calls, "functions"))
      for (const Json& one : *functions)
        times[text(one, "name")] += static_cast<double>(number(one, "time_ps")) / rank_count(run);
  return times;
}

template <class Value>
Figures figures(std::string name, const std::vector<const Json*>& runs, std::string (*show)(double), Value value)
{
  Figures result{std::move(name), {}, show};
  for (const Json* run : runs)
    result.values.push_back(value(*run));
  return result;
}

std::vector<Figures> figures_of(const std::vector<const Json*>& runs)
{
  using Found = std::optional<double>;
  std::vector<Figures> all;
  all.push_back(figures("simulated time", runs, as_time,
                        [](const Json& run) { return Found(static_cast<double>(number(run, "simulated_ps"))); }));
  all.push_back(
      figures("computing", runs, as_time, [](const Json& run) { return Found(mean_of_ranks(run, "compute_ps")); }));
  all.push_back(figures("communication", runs, as_time,
                        [](const Json& run) { return Found(mean_of_ranks(run, "communication_ps")); }));
  all.push_back(
      figures("waiting", runs, as_time, [](const Json& run) { return Found(mean_of_ranks(run, "waiting_ps")); }));
  all.push_back(figures("ranks", runs, as_count, [](const Json& run) { return Found(rank_count(run)); }));
  all.push_back(figures("messages", runs, as_count, [](const Json& run) { return total(run, "messages"); }));
  all.push_back(figures("bytes", runs, as_bytes, [](const Json& run) { return total(run, "bytes"); }));
  const auto of_energy = [&](std::string name, std::string (*show)(double), auto value) {
    Figures one = figures(std::move(name), runs, show, value);
    if (std::any_of(one.values.begin(), one.values.end(), [](const auto& found) { return found.has_value(); }))
      all.push_back(std::move(one));
  };
  of_energy("energy", observe::show_joules, [](const Json& run) { return energy(run, "joules"); });
  of_energy("average power", observe::show_watts, [](const Json& run) { return energy(run, "average_watts"); });
  of_energy("peak power", observe::show_watts, [](const Json& run) { return energy(run, "peak_watts"); });
  of_energy("cost", as_money, [](const Json& run) { return energy(run, "cost"); });
  return all;
}

// Those that changed most.
std::vector<Figures> changed_functions(const std::vector<const Json*>& runs)
{
  std::vector<std::map<std::string, double>> times;
  times.reserve(runs.size());
  std::map<std::string, double> changes;
  for (const Json* run : runs)
    times.push_back(functions_of(*run));
  const auto time_in = [](const std::map<std::string, double>& of_run, const std::string& name) {
    const auto found = of_run.find(name);
    return found != of_run.end() ? found->second : 0;
  };
  for (const auto& of_run : times)
    for (const auto& [name, time] : of_run)
      changes[name] = std::max(changes[name], std::abs(time - time_in(times.front(), name)));
  for (const auto& [name, time] : times.front()) // and those that others do not have
    for (const auto& of_run : times)
      changes[name] = std::max(changes[name], std::abs(time_in(of_run, name) - time));
  std::vector<std::pair<std::string, double>> sorted(changes.begin(), changes.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Figures> result;
  for (std::size_t i = 0; i < std::min(sorted.size(), most_functions) && sorted[i].second > 0; ++i) {
    Figures one{sorted[i].first, {}, as_time};
    for (const auto& of_run : times)
      one.values.emplace_back(of_run.empty() ? std::nullopt : std::optional(time_in(of_run, one.name)));
    result.push_back(std::move(one));
  }
  return result;
}

std::string table(const std::string& title, std::span<const Run> runs, const std::vector<Figures>& figures)
{
  if (figures.empty())
    return {};
  std::vector<Row> rows{{title}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows.front().push_back(runs[i].name);
    if (i > 0)
      rows.front().emplace_back("change");
  }
  for (const Figures& one : figures) {
    Row row{one.name};
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      const std::optional<double>& value = one.values[i];
      row.push_back(value ? one.show(*value) : "-");
      if (i > 0)
        row.push_back(value && one.values.front() ? change(*one.values.front(), *value) : "-");
    }
    rows.push_back(std::move(row));
  }
  return observe::aligned(rows, 1);
}

std::string shown(const Json& run, const char* key)
{
  const Json* value = member(run, key);
  if (value == nullptr)
    return "-";
  return value->is_string() ? value->get<std::string>() : value->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string differences(std::span<const Run> runs, const std::vector<const Json*>& chosen)
{
  std::string lines;
  for (const char* key : {"programs", "umwelt", "platform", "nodes", "model", "cpu", "seed", "factors", "ending"}) {
    bool same = true;
    for (const Json* run : chosen)
      same = same && shown(*run, key) == shown(*chosen.front(), key);
    if (same)
      continue;
    lines += fmt::format("  {}\n", key);
    for (std::size_t i = 0; i < runs.size(); ++i)
      lines += fmt::format("    {}: {}\n", runs[i].name, shown(*chosen[i], key));
  }
  return lines.empty() ? "nothing that the reports tell was different\n" : "what was different\n" + lines;
}

// Files of the same name in different directories.
void tell_apart(std::vector<Run>& runs, std::span<const std::string> paths)
{
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t other = 0; other < runs.size(); ++other)
      if (other != i && runs[other].name == runs[i].name)
        runs[i].name = paths[i];
}

} // namespace

std::string comparison_text(std::span<const Run> runs)
{
  std::vector<const Json*> chosen;
  for (const Run& run : runs)
    chosen.push_back(&middle_run(run.report));
  std::string text = table("", runs, figures_of(chosen));
  text += "  (computing, communication, waiting: mean of the ranks)\n";
  for (const Run& run : runs)
    if (const Json* all = array(run.report, "runs"))
      text += fmt::format("  {}: of {} runs, the one in the middle\n", run.name, all->size());
  if (const std::string functions = table("time in", runs, changed_functions(chosen)); !functions.empty())
    text += "\n" + functions + "  (mean of the ranks; those that changed most)\n";
  return text + "\n" + differences(runs, chosen);
}

std::string compare_command(std::span<const std::string> paths, const std::string& page)
{
  if (paths.size() < 2)
    throw UsageError("umwelt compare", "two reports or more", fmt::format("{}", paths.size()),
                     "For example: umwelt compare before.json after.json");
  std::vector<Run> runs;
  for (const std::string& path : paths)
    runs.push_back(read_report(path));
  tell_apart(runs, paths);
  if (page.empty())
    return comparison_text(runs);
  const std::size_t bytes = write_page("--html", page, runs);
  return fmt::format("{}: {}, for any browser\n", page, observe::show_bytes(bytes));
}

} // namespace umwelt::report
