// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/report.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/base/demangle.h"
#include "runtime/observe/changes_report.h"
#include "runtime/observe/deadlock_report.h"
#include "runtime/observe/details_report.h"
#include "runtime/observe/energy_report.h"
#include "runtime/observe/format.h"
#include "runtime/observe/mpi_report.h"
#include "runtime/observe/tables.h"

namespace umwelt::observe
{
namespace
{

constexpr std::size_t most_rows = 16; // beyond: minimum, median, maximum
constexpr int json_version = 1;
constexpr std::string_view watched_action = "watch"; // of KernelRecord

// What the columns of the rank table are about; those of an interface that nobody has used are left out.
enum class About { rank, messages, sockets };

// A column of the rank table.
struct Column {
  About about;
  const char* title;
  std::uint64_t (*value)(const RankStatistics&);
  std::string (*show)(std::uint64_t);
};

std::string show_simulated(std::uint64_t time)
{
  return show_time(static_cast<sim::SimTime>(time));
}

constexpr auto columns = std::to_array<Column>({
    {About::rank, "compute", [](const RankStatistics& r) { return static_cast<std::uint64_t>(r.compute); },
     show_simulated},
    {About::rank, "communication", [](const RankStatistics& r) { return static_cast<std::uint64_t>(r.communication); },
     show_simulated},
    {About::rank, "waiting", [](const RankStatistics& r) { return static_cast<std::uint64_t>(r.waiting); },
     show_simulated},
    {About::messages, "sent", [](const RankStatistics& r) { return r.messages_sent; }, show_count},
    {About::messages, "bytes", [](const RankStatistics& r) { return r.bytes_sent; }, show_bytes},
    {About::messages, "received", [](const RankStatistics& r) { return r.messages_received; }, show_count},
    {About::messages, "bytes", [](const RankStatistics& r) { return r.bytes_received; }, show_bytes},
    {About::sockets, "segments sent", [](const RankStatistics& r) { return r.segments_sent; }, show_count},
    {About::sockets, "bytes", [](const RankStatistics& r) { return r.segment_bytes_sent; }, show_bytes},
    {About::sockets, "received", [](const RankStatistics& r) { return r.segments_received; }, show_count},
    {About::sockets, "bytes", [](const RankStatistics& r) { return r.segment_bytes_received; }, show_bytes},
    {About::rank, "crossings", [](const RankStatistics& r) { return r.crossings; }, show_count},
    {About::rank, "polls saved", [](const RankStatistics& r) { return r.polls_saved; }, show_count},
});

template <typename Value> Value total(const JobRecord& job, Value RankStatistics::*member)
{
  Value sum = 0;
  for (const RankRecord& rank : job.ranks)
    sum += rank.statistics.*member;
  return sum;
}

bool uses_sockets(const JobRecord& job)
{
  return total(job, &RankStatistics::segments_sent) + total(job, &RankStatistics::segments_received) > 0;
}

bool uses_messages(const JobRecord& job)
{
  return total(job, &RankStatistics::messages_sent) > 0;
}

std::vector<Column> columns_of(const JobRecord& job)
{
  std::vector<Column> shown;
  for (const Column& column : columns)
    if (column.about == About::rank || (column.about == About::sockets && uses_sockets(job)) ||
        (column.about == About::messages && (uses_messages(job) || !uses_sockets(job))))
      shown.push_back(column);
  return shown;
}

std::string traffic(const JobRecord& job)
{
  std::string text;
  if (uses_messages(job) || !uses_sockets(job))
    text = fmt::format("{} messages, {}", show_count(total(job, &RankStatistics::messages_sent)),
                       show_bytes(total(job, &RankStatistics::bytes_sent)));
  if (uses_sockets(job))
    text += fmt::format("{}sockets: {} segments, {}", text.empty() ? "" : "   ",
                        show_count(total(job, &RankStatistics::segments_sent)),
                        show_bytes(total(job, &RankStatistics::segment_bytes_sent)));
  return text;
}

std::string rank_table(const JobRecord& job)
{
  const std::vector<Column> shown = columns_of(job);
  const bool each = job.ranks.size() <= most_rows;
  std::vector<Row> rows;
  rows.push_back(each ? Row{"rank", "node"} : Row{"ranks"});
  const std::size_t labels = rows.front().size();
  for (const Column& column : shown)
    rows.front().emplace_back(column.title);

  if (each) {
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
      const RankRecord& record = job.ranks[rank];
      Row row{record.job == 1 ? fmt::format("{}", rank)
                              : fmt::format("{} (job {} rank {})", rank, record.job, record.number),
              record.host};
      for (const Column& column : shown)
        row.push_back(column.show(column.value(job.ranks[rank].statistics)));
      rows.push_back(std::move(row));
    }
    return aligned(rows, labels);
  }

  rows.insert(rows.end(), {{"minimum"}, {"median"}, {"maximum"}});
  for (const Column& column : shown) {
    std::vector<std::uint64_t> values;
    for (const RankRecord& rank : job.ranks)
      values.push_back(column.value(rank.statistics));
    std::sort(values.begin(), values.end());
    rows[1].push_back(column.show(values.front()));
    rows[2].push_back(column.show(values[(values.size() - 1) / 2]));
    rows[3].push_back(column.show(values.back()));
  }
  return aligned(rows, labels);
}

SizeHistogram sizes_of(const JobRecord& job)
{
  SizeHistogram sum;
  for (const RankRecord& rank : job.ranks)
    sum.add(rank.statistics.sizes);
  return sum;
}

std::string size_table(const SizeHistogram& sizes)
{
  constexpr std::uint64_t bar = 40;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < SizeHistogram::classes; ++i)
    most = std::max(most, sizes.count(i));
  if (most == 0)
    return {};
  std::vector<Row> rows;
  for (std::size_t i = 0; i < SizeHistogram::classes; ++i) {
    const std::uint64_t count = sizes.count(i);
    if (count == 0)
      continue;
    const auto length = static_cast<std::size_t>(
        std::max(1.0, static_cast<double>(bar) * static_cast<double>(count) / static_cast<double>(most)));
    rows.push_back({size_range(i), show_count(count), std::string(length, '#')});
  }
  // The bars end a line: pad them so that right-aligned columns leave them on the left.
  for (Row& row : rows)
    row.back().resize(bar, ' ');
  return "  message sizes\n" + aligned(rows, 0);
}

nlohmann::ordered_json json_of(const SizeHistogram& sizes)
{
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < SizeHistogram::classes; ++i) {
    if (sizes.count(i) != 0)
      json.push_back({{"from_bytes", SizeHistogram::least(i)},
                      {"to_bytes", SizeHistogram::most(i)},
                      {"messages", sizes.count(i)}});
  }
  return json;
}

// What the time that the ranks computed for rests on, where some of it is not simply what was measured.
std::string basis(const JobRecord& job)
{
  const auto compute = static_cast<double>(total(job, &RankStatistics::compute));
  const auto learned = static_cast<double>(total(job, &RankStatistics::learned));
  const auto doubt = static_cast<double>(total(job, &RankStatistics::doubt));
  if (learned <= 0 || compute <= 0)
    return {};
  const double share = std::min(100 * learned / compute, 100.0);
  std::string text = fmt::format("  computing: {:.1f} % known by instructions, which vary by {:.1f} %; {:.1f} % as "
                                 "measured",
                                 share, 100 * doubt / learned, 100 - share);
  if (const auto left_out = total(job, &RankStatistics::left_out); left_out > 0)
    text += fmt::format("; {} left out as this machine's disturbances", show_time(left_out));
  return text + "\n";
}

// Whether what was measured was disturbed by what else this machine did.
std::string disturbance(const JobRecord& job)
{
  constexpr double noticeable = 0.05;
  const auto compute = total(job, &RankStatistics::compute);
  const auto measured = static_cast<double>(compute - total(job, &RankStatistics::learned));
  const double waited = job.host.kept_waiting();
  if (!job.measured || measured <= 0 || waited < noticeable)
    return {};
  return fmt::format("  this machine was busy: others had the processor for {:.0f} % of the time that the run wanted "
                     "it; what was measured ({:.0f} % of computing) may be too long\n",
                     100 * waited, 100 * measured / static_cast<double>(compute));
}

// Functions that were watched, those first that took most.
std::string watch_table(const JobRecord& job)
{
  std::vector<const KernelRecord*> watched;
  for (const KernelRecord& kernel : job.kernels)
    if (kernel.action == watched_action && kernel.calls > 0)
      watched.push_back(&kernel);
  if (watched.empty())
    return {};
  std::stable_sort(watched.begin(), watched.end(),
                   [](const KernelRecord* a, const KernelRecord* b) { return a->time > b->time; });
  const auto compute = static_cast<double>(total(job, &RankStatistics::compute));
  std::vector<Row> rows{{"kernel", "calls", "time", "each", "of computing", "sizes", "least..median..most"}};
  for (const KernelRecord* kernel : watched) {
    std::string sizes;
    for (const KernelRecord::Size& size : kernel->sizes)
      sizes += fmt::format("{}{} {}", sizes.empty() ? "" : "  ", size.name,
                           size.least == size.most ? fmt::format("{}", size.least)
                                                   : fmt::format("{}..{}..{}", size.least, size.median, size.most));
    rows.push_back({kernel->name, show_count(kernel->calls), show_time(kernel->time),
                    show_time(kernel->time / static_cast<sim::SimTime>(kernel->calls)),
                    compute > 0 ? fmt::format("{:.1f} %", 100 * static_cast<double>(kernel->time) / compute) : "-",
                    show_count(kernel->classes), sizes});
  }
  std::size_t width = 0;
  for (const Row& row : rows)
    width = std::max(width, row.back().size());
  for (Row& row : rows)
    row.back().resize(width, ' '); // to the left
  return "\n" + aligned(rows, 1);
}

// Where ranks were when ticks came.
std::string profile_table(const JobRecord& job)
{
  constexpr double least = 0.01;
  constexpr std::size_t most = 20;
  std::uint64_t all = 0;
  for (const ProfileRecord& one : job.profile)
    all += one.ticks;
  const auto share = [all](std::uint64_t ticks) {
    return fmt::format("{:.1f} %", 100 * static_cast<double>(ticks) / static_cast<double>(all));
  };
  std::vector<Row> rows{{"function", "object", "ticks", "of all"}};
  std::uint64_t others = all;
  for (const ProfileRecord& one : job.profile) {
    if (rows.size() > most || static_cast<double>(one.ticks) < least * static_cast<double>(all))
      break;
    rows.push_back(
        {one.function.empty() ? "?" : demangle(one.function), one.object, show_count(one.ticks), share(one.ticks)});
    others -= one.ticks;
  }
  if (rows.size() == 1)
    return {};
  if (others > 0)
    rows.push_back({"others", "", show_count(others), share(others)});
  return "\n" + aligned(rows, 2);
}

// Collectives that were not those of the MPI library.
std::string collective_table(const JobRecord& job)
{
  if (job.collectives.empty())
    return {};
  std::vector<Row> rows{{"collective", "model", "calls", "time"}};
  for (const CollectiveRecord& one : job.collectives)
    rows.push_back({one.name, one.model, show_count(one.calls), show_time(one.time)});
  return "\n" + aligned(rows, 2) +
         "  times of this run are not those of the real algorithms: these collectives are "
         "modelled\n";
}

// Functions that were followed, and whether that has left the program what it is.
std::string kernel_table(const JobRecord& job)
{
  if (job.kernels.empty())
    return {};
  std::string skipped;
  std::string never;
  std::string missing;
  std::vector<Row> rows{{"kernel", "action", "calls", "not run", "measured", "time", "of one rank"}};
  for (const KernelRecord& kernel : job.kernels) {
    if (!kernel.exists) {
      missing += (missing.empty() ? "" : ", ") + kernel.name;
      if (!kernel.nearest.empty())
        missing += fmt::format(" (nearest: {})", kernel.nearest);
      continue;
    }
    if (kernel.calls == 0) {
      never += (never.empty() ? "" : ", ") + kernel.name;
      continue;
    }
    if (kernel.action == watched_action)
      continue;
    if (kernel.skipped > 0)
      skipped += (skipped.empty() ? "" : ", ") + kernel.name;
    rows.push_back({kernel.name, kernel.action, show_count(kernel.calls), show_count(kernel.skipped),
                    show_count(kernel.sampled), show_time(kernel.time), show_time(kernel.most)});
  }
  std::string text = rows.size() > 1 ? aligned(rows, 2) : std::string();
  if (job.ending != completed)
    text += "  of kernels that ranks called which had not ended themselves, nothing is known\n";
  if (!skipped.empty())
    text += fmt::format("  results of this run are not those of the program: calls of {} were not run\n", skipped);
  if (!never.empty() && job.ending == completed)
    text += fmt::format("  never called: {}\n", never);
  if (!missing.empty() && job.ending == completed)
    text += fmt::format("  neither the program nor its libraries have: {}\n", missing);
  const std::string watched = watch_table(job);
  return watched + (text.empty() ? "" : "\n" + text);
}

// Memory that may have been forgotten.
std::string fold_table(const JobRecord& job)
{
  if (job.folding.empty())
    return {};
  std::string nothing;
  std::vector<Row> rows{{"memory that may be forgotten", "allocations", "bytes", "forgotten"}};
  for (const FoldRecord& rule : job.folding) {
    if (rule.pieces > 0) {
      rows.push_back({rule.rule, show_count(rule.pieces), show_bytes(rule.bytes), show_count(rule.forgotten)});
      continue;
    }
    nothing += fmt::format("  --fold {} fitted no allocation", rule.rule);
    if (!rule.exists)
      nothing += ": ranks have loaded nothing of that name";
    if (!rule.nearest.empty())
      nothing += fmt::format(" (nearest: {})", rule.nearest);
    nothing += '\n';
  }
  std::string text = "\n" + (rows.size() > 1 ? aligned(rows, 1) : std::string());
  if (job.ending == completed)
    text += nothing;
  if (rows.size() > 1)
    text += "  results of this run are not those of the program if they depend on that memory\n";
  return text;
}

nlohmann::ordered_json json_of(const FoldRecord& rule, bool deterministic)
{
  nlohmann::ordered_json json = {
      {"rule", rule.rule}, {"allocations", rule.pieces}, {"bytes", rule.bytes}, {"exists", rule.exists}};
  if (!deterministic) // one that computes without a call is looked at when the simulating machine likes
    json["forgotten"] = rule.forgotten;
  return json;
}

nlohmann::ordered_json json_of(const KernelRecord& kernel)
{
  nlohmann::ordered_json json{{"name", kernel.name},     {"action", kernel.action},       {"calls", kernel.calls},
                              {"exists", kernel.exists}, {"skipped", kernel.skipped},     {"sampled", kernel.sampled},
                              {"time_ps", kernel.time},  {"most_of_rank_ps", kernel.most}};
  if (kernel.action == watched_action) {
    json["classes"] = kernel.classes;
    json["sizes"] = nlohmann::ordered_json::array();
    for (const KernelRecord::Size& size : kernel.sizes)
      json["sizes"].push_back(
          {{"name", size.name}, {"least", size.least}, {"median", size.median}, {"most", size.most}});
  }
  return json;
}

nlohmann::ordered_json json_of(const RankRecord& rank, std::size_t number)
{
  const RankStatistics& s = rank.statistics;
  return {{"rank", number},
          {"job", rank.job},
          {"rank_of_job", rank.number},
          {"program", rank.program},
          {"host", rank.host},
          {"exit_status", rank.exit_status},
          {"signal", rank.signal},
          {"finished_ps", rank.finished},
          {"compute_ps", s.compute},
          {"learned_ps", s.learned},
          {"doubt_ps", s.doubt},
          {"left_out_ps", s.left_out},
          {"communication_ps", s.communication},
          {"waiting_ps", s.waiting},
          {"messages_sent", s.messages_sent},
          {"bytes_sent", s.bytes_sent},
          {"messages_received", s.messages_received},
          {"bytes_received", s.bytes_received},
          {"messages_refused", s.messages_refused},
          {"sizes", json_of(s.sizes)},
          {"segments_sent", s.segments_sent},
          {"segment_bytes_sent", s.segment_bytes_sent},
          {"segments_received", s.segments_received},
          {"segment_bytes_received", s.segment_bytes_received},
          {"crossings", s.crossings},
          {"polls_answered", s.polls_answered},
          {"polls_saved", s.polls_saved},
          {"events", s.events}};
}

std::string factor_line(const JobRecord& job)
{
  std::string text;
  for (const FactorRecord& one : job.factors)
    text += fmt::format("{}{} x {}{}", text.empty() ? "" : ", ", one.of, one.factor,
                        one.links.empty() ? "" : fmt::format(" of '{}'", one.links));
  return text.empty() ? text : fmt::format("  what if: {}\n", text);
}

std::string fault_lines(const JobRecord& job)
{
  const FaultRecord& faults = job.faults;
  if (faults.failures.empty())
    return {};
  std::string text;
  for (const FaultRecord::Failure& one : faults.failures)
    text += fmt::format("{}'{}' ({} link{}) at {} {}", text.empty() ? "" : ", ", one.links, one.count,
                        one.count == 1 ? "" : "s", show_time(one.at),
                        one.length == sim::never ? "for good" : "for " + show_time(one.length)) +
            (one.times == 1 ? "" : fmt::format(" and {} times more", show_count(one.times - 1)));
  return fmt::format("  links failed: {}\n  messages: {} rerouted, {} delayed ({} in all), {} sent again, {} failed\n",
                     text, show_count(faults.rerouted), show_count(faults.delayed), show_time(faults.waited),
                     show_count(faults.resent), show_count(faults.failed));
}

nlohmann::ordered_json json_of(const FaultRecord& faults)
{
  nlohmann::ordered_json links = nlohmann::ordered_json::array();
  for (const FaultRecord::Failure& one : faults.failures) {
    nlohmann::ordered_json entry = {{"links", one.links}, {"count", one.count}, {"at_ps", one.at}};
    entry["for_ps"] = one.length == sim::never ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(one.length);
    if (one.times != 1)
      entry["times"] = one.times;
    links.push_back(std::move(entry));
  }
  return {{"links", links},
          {"rerouted", faults.rerouted},
          {"delayed", faults.delayed},
          {"delayed_ps", faults.waited},
          {"resent", faults.resent},
          {"failed", faults.failed}};
}

} // namespace

std::string summary(const JobRecord& job)
{
  const double simulated = sim::to_seconds(job.simulated);
  const double wall = job.host.wall_seconds;
  std::string text = fmt::format("umwelt: {} rank{} on {} (model {}, --cpu {}): {}\n", job.ranks.size(),
                                 job.ranks.size() == 1 ? "" : "s", job.platform, job.model, job.cpu_policy, job.ending);
  text += change_lines(job) + factor_line(job) + fault_lines(job);
  text += fmt::format("  simulated {}   wall clock {}   slowdown {}   {} events, {}\n", show_time(job.simulated),
                      show_seconds(wall), simulated > 0 ? fmt::format("{:.3g}", wall / simulated) : "-",
                      show_count(job.timeline_events),
                      wall > 0 ? show_rate(static_cast<double>(job.timeline_events) / wall) : "-");
  text += fmt::format("  {}   {} crossings   polls: {} answered, {} saved   memory {}\n", traffic(job),
                      show_count(total(job, &RankStatistics::crossings)),
                      show_count(total(job, &RankStatistics::polls_answered)),
                      show_count(total(job, &RankStatistics::polls_saved)), show_bytes(job.host.peak_resident_bytes));
  text += energy_lines(job);
  text += basis(job) + disturbance(job) + "\n";
  if (job.ranks.empty())
    return text;
  text += rank_table(job);
  const std::string sizes = size_table(sizes_of(job));
  text += sizes.empty() ? sizes : "\n" + sizes;
  return text + mpi_tables(job) + collective_table(job) + kernel_table(job) + profile_table(job) + fold_table(job);
}

std::string report_json(const JobRecord& job, bool deterministic)
{
  nlohmann::ordered_json json;
  json["report_version"] = json_version;
  json["umwelt"] = job.version;
  json["programs"] = job.programs;
  json["platform"] = job.platform;
  json["nodes"] = job.nodes;
  json["model"] = job.model;
  json["cpu"] = job.cpu_policy;
  add_changes(json, job);
  json["seed"] = job.seed;
  for (const FactorRecord& one : job.factors)
    json["factors"].push_back({{"of", one.of}, {"links", one.links}, {"factor", one.factor}});
  if (!job.faults.failures.empty())
    json["faults"] = json_of(job.faults);
  json["ending"] = job.ending;
  json["exit_code"] = job.exit_code;
  if (job.deadlock)
    json["deadlock"] = deadlock_json(job);
  json["simulated_ps"] = job.simulated;
  json["timeline_events"] = job.timeline_events;
  json["totals"] = {{"messages", total(job, &RankStatistics::messages_sent)},
                    {"bytes", total(job, &RankStatistics::bytes_sent)},
                    {"segments", total(job, &RankStatistics::segments_sent)},
                    {"segment_bytes", total(job, &RankStatistics::segment_bytes_sent)},
                    {"crossings", total(job, &RankStatistics::crossings)},
                    {"polls_answered", total(job, &RankStatistics::polls_answered)},
                    {"polls_saved", total(job, &RankStatistics::polls_saved)},
                    {"events", total(job, &RankStatistics::events)},
                    {"sizes", json_of(sizes_of(job))}};
  if (job.energy)
    json["energy"] = energy_json(*job.energy, job.simulated);
  json["ranks"] = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
    json["ranks"].push_back(json_of(job.ranks[rank], rank));
  if (!job.mpi_calls.empty())
    json["mpi_calls"] = mpi_json(job);
  if (!job.collectives.empty()) {
    json["collectives"] = nlohmann::ordered_json::array();
    for (const CollectiveRecord& one : job.collectives)
      json["collectives"].push_back(
          {{"name", one.name}, {"model", one.model}, {"calls", one.calls}, {"time_ps", one.time}});
  }
  if (!job.kernels.empty()) {
    json["kernels"] = nlohmann::ordered_json::array();
    for (const KernelRecord& kernel : job.kernels)
      json["kernels"].push_back(json_of(kernel));
  }
  if (!job.folding.empty()) {
    json["folding"] = nlohmann::ordered_json::array();
    for (const FoldRecord& rule : job.folding)
      json["folding"].push_back(json_of(rule, deterministic));
  }
  if (!job.profile.empty()) {
    json["profile"] = nlohmann::ordered_json::array();
    for (const ProfileRecord& one : job.profile)
      json["profile"].push_back({{"function", one.function}, {"object", one.object}, {"ticks", one.ticks}});
  }
  if (!job.kernels.empty() || !job.folding.empty())
    json["results_are_those_of_the_program"] =
        std::none_of(job.kernels.begin(), job.kernels.end(),
                     [](const KernelRecord& kernel) { return kernel.skipped > 0; }) &&
        std::none_of(job.folding.begin(), job.folding.end(), [](const FoldRecord& rule) { return rule.pieces > 0; });
  if (!deterministic) {
    const double simulated = sim::to_seconds(job.simulated);
    json["host"] = {{"wall_seconds", job.host.wall_seconds},
                    {"cpu_seconds", job.host.cpu_seconds},
                    {"waited_seconds", job.host.waited_seconds},
                    {"stolen_share", job.host.stolen_share},
                    {"interruptions", total(job, &RankStatistics::interruptions)},
                    {"slowdown", simulated > 0 ? nlohmann::ordered_json(job.host.wall_seconds / simulated) : nullptr},
                    {"peak_resident_bytes", job.host.peak_resident_bytes}};
  }
  // Command lines may hold bytes that are not UTF-8: they are replaced rather than refused.
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  std::string text = json.dump(2, ' ', false, replace);
  if (job.details) { // thousands of numbers: not one in a line
    text.resize(text.size() - 2);
    const nlohmann::ordered_json details = details_json(*job.details, job.simulated);
    for (const auto& [key, value] : details.items())
      text += fmt::format(",\n  \"{}\": {}", key, value.dump(-1, ' ', false, replace));
    text += "\n}";
  }
  return text + "\n";
}

} // namespace umwelt::observe
