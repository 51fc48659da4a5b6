// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/results.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/observe/format.h"
#include "runtime/observe/report.h"
#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/message.h"
#include "runtime/portals/fabric/process.h"
#include "runtime/report/page.h"

namespace umwelt::launch
{

namespace
{

std::unique_ptr<observe::Trace> open_trace(const plan::Plan& plan)
{
  const plan::RunOptions& options = plan.options;
  observe::TraceLayout layout;
  layout.nodes = plan.placement.hostnames;
  for (const plan::RankPlace& place : plan.placement.ranks)
    layout.rank_nodes.push_back(place.node);
  layout.machine = plan.platform->name();
  layout.nid = [](std::uint32_t node) -> std::uint32_t { return portals::Process::nid_of(node); };
  if (!options.trace_ranks.empty() && options.trace_ranks.back() >= layout.rank_nodes.size())
    throw UsageError("--trace-ranks", fmt::format("ranks below {}, the number of ranks", layout.rank_nodes.size()),
                     fmt::format("{}", options.trace_ranks.back()), "Ranks are counted from 0.");
  return std::make_unique<observe::Trace>(
      observe::TraceOptions{options.trace, *options.trace_format, options.trace_ranks}, std::move(layout),
      [](const net::Transfer& transfer) -> const void* {
        const bool of_portals =
            dynamic_cast<const portals::Fabric*>(transfer.client) != nullptr; // or a segment of a socket
        return of_portals ? static_cast<const void*>(static_cast<const portals::Leg&>(transfer).message) : &transfer;
      });
}

std::string_view remark_on(const observe::Trace& trace, observe::TraceFormat format)
{
  if (format == observe::TraceFormat::perfetto)
    return "; open it in https://ui.perfetto.dev";
  if (format == observe::TraceFormat::pcapng && trace.records() == 0)
    return "; there are no packets in it: nobody has sent anything over TCP or UDP (--trace-ranks: no node of theirs)";
  return "";
}

// Whether what is written to one of them is lost when the other is written; not so with devices and pipes.
bool replaces(const std::string& one, const std::string& other)
{
  std::error_code ignored;
  const auto place = [&ignored](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return !other.empty() && !std::filesystem::is_other(one, ignored) && place(one) == place(other);
}

} // namespace

void note(const plan::RunOptions& options, const std::string& text)
{
  if (options.verbosity >= 0)
    fmt::print(stderr, "umwelt: {}\n", text);
}

void check_results(const plan::RunOptions& options)
{
  const std::array<std::pair<const char*, const std::string*>, 4> files{{{"--report", &options.report},
                                                                         {"--html", &options.html},
                                                                         {"--trace", &options.trace},
                                                                         {"--power-trace", &options.power.trace}}};
  for (auto file = files.begin(); file != files.end(); ++file) {
    const auto& [option, path] = *file;
    if (path->empty())
      continue;
    for (auto other = std::next(file); other != files.end(); ++other)
      if (replaces(*path, *other->second))
        throw UsageError(fmt::format("{} {}", option, *path), "a file of its own",
                         fmt::format("that of {} {}", other->first, *other->second), "Name another one.");
    if (path != &options.trace || options.trace_format != observe::TraceFormat::otf2)
      observe::ResultFile::check(option, *path);
  }
}

std::unique_ptr<observe::ResultFile> open_results(plan::Plan& plan)
{
  const plan::RunOptions& options = plan.options;
  std::unique_ptr<observe::ResultFile> report;
  if (!options.report.empty())
    report = std::make_unique<observe::ResultFile>("--report", options.report);
  if (!options.trace.empty())
    plan.trace = open_trace(plan);
  if (report && plan.trace && plan.trace->file() != nullptr && report->same_file(*plan.trace->file()))
    throw UsageError("--report " + options.report, "a file of its own", "that of --trace " + options.trace,
                     "Name another one.");
  if (!options.power.trace.empty())
    plan.power_trace = std::make_unique<observe::PowerTrace>(options.power.trace, plan.placement.hostnames);
  return report;
}

bool finish_results(const plan::Plan& plan, observe::ResultFile* report, const observe::JobRecord& record,
                    bool deterministic)
{
  bool whole = true;
  const auto attempt = [&whole](const auto& write) {
    try {
      write();
    } catch (const std::runtime_error& error) {
      fmt::print(stderr, "umwelt run: {}\n", error.what());
      whole = false;
    }
  };
  const std::string& page = plan.options.html;
  const std::string json =
      report != nullptr || !page.empty() ? observe::report_json(record, deterministic) : std::string();
  if (report != nullptr)
    attempt([report, &json] {
      report->buffer() += json;
      report->finish();
    });
  if (!page.empty())
    attempt([&page, &json, &record] {
      const std::string name = record.programs.empty() ? std::string("run") : record.programs.front();
      const std::vector<report::Run> runs{{name, nlohmann::ordered_json::parse(json)}};
      report::write_page("--html", page, runs);
    });
  if (plan.trace)
    attempt([&plan, &trace = *plan.trace] {
      trace.finish();
      note(plan.options,
           fmt::format("trace {}: {} records, {}{}", plan.options.trace, observe::show_count(trace.records()),
                       observe::show_bytes(trace.bytes()), remark_on(trace, *plan.options.trace_format)));
    });
  if (plan.power_trace)
    attempt([&plan, &record, &trace = *plan.power_trace] {
      trace.finish(record.simulated);
      note(plan.options, fmt::format("power trace {}: {} lines, {}", plan.options.power.trace,
                                     observe::show_count(trace.lines()), observe::show_bytes(trace.file().bytes())));
    });
  return whole;
}

} // namespace umwelt::launch
