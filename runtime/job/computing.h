// SPDX-License-Identifier: LGPL-2.1-or-later
// How the computing of each node's ranks counts (--cpu), where that changes while they run: --cpu-at, --cpu-region,
// `umwelt ctl cpu=` (plan/node_cpus.h). A burst counts as was so when it began.
#pragma once

#include <memory>
#include <vector>

#include "net_models/mixed/assignment.h"
#include "platforms/platform.h"
#include "runtime/job/node_regions.h"
#include "runtime/observe/statistics.h"
#include "runtime/plan/node_cpus.h"
#include "runtime/rank_host/cpu.h"

namespace umwelt::job
{

class Energy;
class Rank;

class Computing
{
public:
  // `cpu` outlives it.
  Computing(const plan::NodeCpus& cpus, const rank_host::Cpu& cpu, const platform::Platform& platform);
  // How fast nodes compute at times: changes, too. It outlives this.
  void follow(Energy& energy) { energy_ = &energy; }

  [[nodiscard]] bool changes() const { return changes_ || energy_ != nullptr; }
  // A burst of the rank is about to begin, the first one, or wherever changes().
  void begins(Rank& rank, sim::SimTime now);
  // Of --cpu-region; null: there are none.
  [[nodiscard]] NodeRegions* regions() const { return regions_.get(); }

  // The nodes it names have it from `now` on; their number. Throws UsageError: there are no such nodes, or bursts would
  // have to be measured in a run where none are.
  std::size_t set(const plan::CpuChoice& choice, sim::SimTime now);

  [[nodiscard]] observe::CpusRecord record() const;

private:
  plan::NodeCpus cpus_;
  const bool changes_;
  const rank_host::Cpu& cpu_;
  const platform::Platform& platform_;
  Energy* energy_ = nullptr; // null: DVFS states do not matter
  net::Assignment assignment_;
  std::unique_ptr<NodeRegions> regions_;
};

} // namespace umwelt::job
