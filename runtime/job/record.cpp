// SPDX-License-Identifier: LGPL-2.1-or-later
// What a run leaves for its summary and its report (runtime/observe).
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/base/version.h"
#include "runtime/job/job.h"

namespace umwelt::job
{

namespace
{

// None if they change nothing.
std::vector<observe::FactorRecord> factor_records(const plan::RunOptions& options)
{
  std::vector<observe::FactorRecord> records;
  for (const platform::LinkFactor& one : options.link_factors.latency)
    records.push_back({"latency", one.links, one.factor});
  for (const platform::LinkFactor& one : options.link_factors.bandwidth)
    records.push_back({"bandwidth", one.links, one.factor});
  if (options.compute_factor != 1)
    records.push_back({"compute", "", options.compute_factor});
  if (std::all_of(records.begin(), records.end(), [](const auto& one) { return one.factor == 1; }))
    records.clear();
  return records;
}

observe::FaultRecord fault_record(const platform::LinkFailures& failures)
{
  observe::FaultRecord record;
  for (const platform::LinkFailures::Given& given : failures.given())
    record.failures.push_back(
        {given.failure.links, given.links, given.failure.at, given.failure.length, given.failure.times});
  record.rerouted = failures.counts.rerouted;
  record.delayed = failures.counts.delayed;
  record.waited = failures.counts.waited;
  record.resent = failures.counts.resent;
  record.failed = failures.counts.failed;
  return record;
}

} // namespace

observe::JobRecord Job::record(const Outcome& outcome, double wall_seconds) const
{
  observe::JobRecord record;
  record.version = version();
  for (const std::vector<std::string>& command : commands_)
    record.programs.push_back(fmt::format("{}", fmt::join(command, " ")));
  record.platform = plan_.platform->name();
  record.nodes = plan_.platform->node_count();
  record.model = network_->model().name();
  record.models = network_->record();
  record.cpu_policy = plan_.options.cpu.text();
  record.cpus = computing_.record();
  record.measured = cpu_.measured();
  record.seed = plan_.options.seed;
  record.factors = factor_records(plan_.options);
  if (plan_.failures)
    record.faults = fault_record(*plan_.failures);
  record.exit_code = outcome.exit_code;
  record.ending = outcome.ending;
  record.timeline_events = timeline_.fired();
  for (const auto& rank : ranks_) {
    observe::RankRecord entry;
    entry.host = rank->gate.host_name;
    entry.program = rank->program;
    entry.job = rank->facts->space->number;
    entry.number = static_cast<unsigned>(rank->number);
    entry.finished = rank->phase == Rank::Phase::ended ? rank->finished : end_of_time();
    entry.exit_status = rank->end.status;
    entry.signal = rank->end.signal;
    entry.statistics = rank->statistics;
    record.simulated = std::max(record.simulated, entry.finished);
    record.ranks.push_back(std::move(entry));
    if (plan_.options.mpi_calls)
      record.mpi_calls.push_back(rank->mpi_calls.totals());
  }
  record.deadlock = deadlock_;
  if (collectives_)
    record.collectives = collectives_->records();
  record.kernels = kernel_records();
  for (const auto& [function, ticks] : profile().most(0))
    record.profile.push_back({function.second, function.first, ticks});
  record.folding = fold_records();
  if (details_) {
    std::vector<SimTime> ends;
    for (const observe::RankRecord& rank : record.ranks)
      ends.push_back(rank.finished);
    record.details = std::make_shared<observe::Details>(details_->record(ends));
  }
  record.host.wall_seconds = wall_seconds;
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  for (const rusage& usage : {own, workers_ ? workers_->usage() : rusage{}}) {
    record.host.cpu_seconds += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    record.host.peak_resident_bytes += static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  }
  record.host.waited_seconds =
      1e-9 * static_cast<double>(engine::waited_for_processor(getpid()) + (workers_ ? workers_->waited() : 0));
  const engine::ProcessorTime host = engine::processor_time();
  if (host.all > host_at_start_.all)
    record.host.stolen_share = (host.stolen - host_at_start_.stolen) / (host.all - host_at_start_.all);
  return record;
}

void Job::add_energy(observe::JobRecord& record)
{
  if (energy_)
    record.energy = std::make_shared<const observe::EnergyRecord>(energy_->record(record.simulated));
}

std::vector<kernels::Totals> Job::kernel_totals() const
{
  std::vector<kernels::Totals> all(plan_.kernels ? plan_.kernels->list.size() : 0);
  for (const auto& rank : ranks_)
    for (std::size_t i = 0; i < std::min(all.size(), rank->kernels.size()); ++i)
      all[i] += rank->kernels[i];
  return all;
}

kernels::Profile Job::profile() const
{
  kernels::Profile all;
  for (const auto& rank : ranks_)
    for (const auto& [function, ticks] : rank->profile.ticks)
      all.ticks[function] += ticks;
  return all;
}

std::vector<observe::KernelRecord> Job::kernel_records() const
{
  std::vector<observe::KernelRecord> records;
  const std::vector<kernels::Totals> totals = kernel_totals();
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const kernels::Kernel& kernel = plan_.kernels->list[i];
    const kernels::Totals& all = totals[i];
    if ((!kernel.is_expected && all.calls == 0) || (kernel.mark && all.exists))
      continue;
    sim::SimTime most = 0;
    bool told = false;
    for (const auto& rank : ranks_) {
      if (i >= rank->kernels.size())
        continue;
      told = true;
      most = std::max(most, rank->kernels[i].time);
    }
    observe::KernelRecord& record = records.emplace_back(observe::KernelRecord{
        kernel.name, std::string(kernels::action_names.at(static_cast<std::size_t>(kernel.action))), all.calls,
        all.skipped, all.sampled, all.time, most, all.exists || !told, all.nearest});
    record.classes = all.sizes.classes().size();
    const std::vector<kernels::SizeClasses::Range> ranges = all.sizes.ranges();
    for (std::size_t size = 0; size < std::min(ranges.size(), kernel.class_expressions.size()); ++size)
      record.sizes.push_back(
          {kernel.class_expressions[size].text(), ranges[size].least, ranges[size].median, ranges[size].most});
  }
  return records;
}

std::vector<observe::FoldRecord> Job::fold_records() const
{
  std::vector<observe::FoldRecord> records;
  for (std::size_t i = 0; plan_.folding && i < plan_.folding->list.size(); ++i) {
    fold::Totals all;
    all.exists = false;
    bool told = false;
    for (const auto& rank : ranks_) {
      if (i >= rank->folding.size())
        continue;
      told = true;
      all += rank->folding[i];
    }
    records.push_back(
        {plan_.folding->list[i].text, all.pieces, all.bytes, all.forgotten, all.exists || !told, all.nearest});
  }
  return records;
}

} // namespace umwelt::job
