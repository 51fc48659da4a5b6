// SPDX-License-Identifier: LGPL-2.1-or-later
// How the computing of ranks counts, by node, and from when on: --cpu, --cpu-at, --cpu-region (node_plan.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/cpu_policy.h"
#include "runtime/plan/node_plan.h"

namespace umwelt::plan
{

struct RunOptions;

struct CpuChoice : NodeChoice {
  engine::CpuPolicy policy;
};
using TimedCpu = Timed<CpuChoice>;
using RegionCpu = Placed<CpuChoice>;

// Throw UsageError, naming `option` as the user wrote it.
TimedCpu parse_timed_cpu(std::string_view option, std::string_view text);
RegionCpu parse_region_cpu(std::string_view option, std::string_view text);
CpuChoice parse_cpu_choice(std::string_view option, std::string_view text); // [NODES=]POLICY

struct NodeCpus : NodePlan {
  std::vector<engine::CpuPolicy> kinds; // the first is that of --cpu
  bool ctl = false;                     // others may come while it runs

  [[nodiscard]] bool change() const { return !changes.empty() || !regions.empty() || ctl; }
  // Bursts have to be measured, at least some.
  [[nodiscard]] bool measures() const;
  // Index of the kind that a choice means, made if it is new. Throws UsageError: more than 255.
  Kind kind_of(const CpuChoice& choice);
};

// Some bursts are to be measured, at the beginning or later.
bool measures(const RunOptions& options);
// All are, from the beginning to the end, but for what `umwelt ctl` may change.
bool always_measures(const RunOptions& options);

// `nodes`: of the platform. Throws UsageError.
NodeCpus plan_node_cpus(const RunOptions& options, std::uint32_t nodes, RegionFunctions& functions);

} // namespace umwelt::plan
