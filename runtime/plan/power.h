// SPDX-License-Identifier: LGPL-2.1-or-later
// What the machine draws and costs: --power, --dvfs, --power-cap, --power-trace, --power-phases, --node-hour
// (runtime/energy/README.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/platform.h"
#include "runtime/energy/power.h"
#include "runtime/plan/node_plan.h"

namespace umwelt::kernels
{
struct Kernels;
}

namespace umwelt::plan
{

struct Placement;
struct RunOptions;

// [TIME:][NODES=]STATE: a DVFS state by its frequency ("1.2GHz") or its number.
struct DvfsChoice : NodeChoice {
  sim::SimTime at = 0;
  std::string state;
};
// [NODES=]WATTS: of a node.
struct CapChoice : NodeChoice {
  double watts = 0;
};
// "1.20" or "1.20USD".
struct NodeHour {
  double price = 0;
  std::string currency;
};

struct PowerWishes {
  std::string source; // --power: a file; "none": neither that nor the platform's properties; empty: those
  std::vector<DvfsChoice> dvfs;
  std::vector<CapChoice> caps;
  std::string trace; // --power-trace: a file of CSV; empty: none
  bool phases = false;
  std::optional<NodeHour> node_hour;
};

// Throw UsageError, naming `option` as the user wrote it.
DvfsChoice parse_dvfs(std::string_view option, std::string_view text);
CapChoice parse_power_cap(std::string_view option, std::string_view text);
NodeHour parse_node_hour(std::string_view option, std::string_view text);

struct PowerPlan {
  energy::Power power;
  NodePlan states;          // DVFS states of the nodes, over time; none if no node's power is known
  std::vector<double> caps; // by node, watts; 0: none
  std::uint32_t phases = 0; // number of MPI_Pcontrol among RegionFunctions, where phases are wanted
  bool by_phases = false;

  // Nodes compute more slowly at times.
  [[nodiscard]] bool paces() const;
};

// Null: nothing is known, and nothing was asked for. Throws UsageError, std::invalid_argument.
std::shared_ptr<PowerPlan> plan_power(const RunOptions& options, const platform::Platform& platform,
                                      const Placement& placement, RegionFunctions& functions);
// Marks the kernels that have a power of their own (kernels::Kernel::power); null: there are none. Throws UsageError:
// the kernels file does not have one that is named.
void find_power_kernels(const PowerPlan& power, kernels::Kernels* kernels);

} // namespace umwelt::plan
