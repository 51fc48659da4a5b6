// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/option_checks.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"

namespace umwelt::cli
{
namespace
{

void check_universe(const plan::RunOptions& run)
{
  if (!run.universe)
    return;
  unsigned ranks = 0;
  for (const plan::AppContext& app : run.programs) {
    ranks += app.ranks.value_or(run.ranks_per_node.value_or(1));
    if (!app.hosts.empty())
      throw UsageError("--universe", "no hosts besides", "--host or --hostfile, whose slots are the room there is",
                       "Give the hosts more slots (--host NAME:N, slots=N), or leave them out.");
  }
  if (*run.universe < ranks)
    throw UsageError(fmt::format("--universe {}", *run.universe),
                     fmt::format("at least the {} ranks that are started", ranks), fmt::format("{}", *run.universe),
                     "It counts these and those that they spawn.");
}

void check_trace(plan::RunOptions& run)
{
  if (run.trace.empty() && (run.trace_format || !run.trace_ranks.empty()))
    throw UsageError(run.trace_format ? "--trace-format" : "--trace-ranks", "--trace FILE with it", "none",
                     "For example: --trace run.pftrace");
  if (!run.trace.empty() && !run.trace_format)
    run.trace_format = observe::trace_format_of(run.trace);
  if (!run.trace.empty() && !run.trace_format)
    throw UsageError("--trace", "a name that ends in " + observe::trace_format_endings(), in_quotes(run.trace),
                     "Name the file so, or say --trace-format " + observe::trace_format_names() + ".");
  if (!run.trace_functions.empty() && (!run.trace_format || !observe::shows_calls(*run.trace_format)))
    throw UsageError("--trace-functions", "a trace that shows calls with it",
                     run.trace.empty() ? "no --trace" : in_quotes(run.trace), "For example: --trace run.otf2");
  if (!run.trace.empty() && run.repeat > 1)
    throw UsageError("--trace", "one run", fmt::format("--repeat {}", run.repeat),
                     "Leave one of them out: a trace is of one run.");
  if (!run.power.trace.empty() && run.repeat > 1)
    throw UsageError("--power-trace", "one run", fmt::format("--repeat {}", run.repeat),
                     "Leave one of them out: a trace is of one run.");
  if (!run.html.empty() && run.repeat > 1)
    throw UsageError("--html", "one run", fmt::format("--repeat {}", run.repeat),
                     "Write --report FILE, and let `umwelt report FILE` make the page of all runs.");
}

void check_factors(plan::RunOptions& run)
{
  if (run.compute_factor != 1 && run.cpu.kind == engine::CpuPolicy::Kind::none && run.kernels_files.empty() &&
      run.timed_cpus.empty() && run.region_cpus.empty())
    run.notes.push_back(
        fmt::format("--compute-factor {} has no effect: with --cpu none computing takes no time", run.compute_factor));
}

void check_watch(const plan::RunOptions& run)
{
  if (!run.watch)
    return;
  if (!run.kernels_files.empty())
    throw UsageError("umwelt kernels", "no --kernels", "--kernels " + run.kernels_files.front(),
                     "Functions are watched as they are; models are for umwelt run.");
  if (run.compute_factor != 1)
    throw UsageError("umwelt kernels", "no --compute-factor", fmt::format("--compute-factor {}", run.compute_factor),
                     "Times are measured as they are; --compute-factor is for umwelt run.");
  if (run.repeat > 1)
    throw UsageError("umwelt kernels", "one run", fmt::format("--repeat {}", run.repeat), "Leave --repeat out.");
}

void check_ctl(const plan::RunOptions& run)
{
  if (run.repeat > 1)
    for (const auto& [given, option] :
         {std::pair(run.ctl, "--ctl"), {run.serve.has_value(), "--serve"}, {!run.breaks.empty(), "--break"}})
      if (given)
        throw UsageError(option, "one run", fmt::format("--repeat {}", run.repeat),
                         "Leave one of them out: a run that is looked into by hand is none of several alike.");
}

void check_fabric(const plan::RunOptions& run)
{
  for (const auto& [key, value] : run.nic) {
    if (key != "fabric")
      continue;
    if (run.model != "bxi")
      throw UsageError(fmt::format("--fabric {}", value), "--model bxi, whose NIC has a fabric beside it",
                       "--model " + run.model, "Leave one of them out.");
    if (value != "occupancy" && value != "flow" && value != "packet")
      throw UsageError("--fabric", "occupancy, flow or packet", in_quotes(value), "For example: --fabric packet");
  }
}

} // namespace

void check_job(plan::RunOptions& run)
{
  check_fabric(run);
  check_ctl(run);
  check_universe(run);
  check_trace(run);
  check_watch(run);
  check_factors(run);
}

} // namespace umwelt::cli
