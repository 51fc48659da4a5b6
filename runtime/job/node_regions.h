// SPDX-License-Identifier: LGPL-2.1-or-later
// What nodes have while their ranks are at certain places of the program (--model-region, --cpu-region;
// plan/node_plan.h). A node has what the region says that one of its ranks has entered last, until all of its ranks
// have left theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net_models/mixed/assignment.h"
#include "runtime/base/time.h"
#include "runtime/observe/statistics.h"
#include "runtime/plan/node_plan.h"

namespace umwelt::job
{

class NodeRegions
{
public:
  // Both outlive it.
  NodeRegions(const plan::NodePlan& plan, net::Assignment& assignment);

  // Sets the bits of the functions of MPI (umw_mpi_function) whose calls have to be told.
  void watch(std::span<std::uint64_t> functions) const;
  // A rank on that node calls the function (plan::RegionFunctions), or has come back from it; `level`: argument of
  // MPI_Pcontrol.
  void calls(std::size_t rank, net::NodeIndex node, std::uint32_t function, sim::SimTime now);
  void came_back(std::size_t rank, net::NodeIndex node, std::uint32_t function, std::int64_t level, sim::SimTime now);
  // It has ended.
  void ended(std::size_t rank, net::NodeIndex node, sim::SimTime now);

  // Options for a place where no rank has come.
  [[nodiscard]] std::vector<std::string> not_reached() const;

private:
  using Kind = plan::Where::Kind;
  struct RankState {
    std::optional<std::size_t> region;
    std::vector<std::uint64_t> counts; // of calls, by region
  };

  void enter(std::size_t rank, net::NodeIndex node, std::size_t region, sim::SimTime now);
  void leave(std::size_t rank, net::NodeIndex node, sim::SimTime now);
  void tell(net::NodeIndex node, sim::SimTime now);
  RankState& state(std::size_t rank);

  const plan::NodePlan& plan_;
  net::Assignment& assignment_;
  std::vector<RankState> ranks_;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> inside_; // per node: rank and region, as they entered
  std::vector<bool> entered_;                                            // per region: by somebody
};

// What the plan says, as far as it goes by time.
net::Assignment assignment_of(const plan::NodePlan& plan);
// Changes that have come, with names for what nodes have.
std::vector<observe::NodeChange> changes_of(const net::Assignment& assignment,
                                            const std::function<std::string(net::Assignment::Index)>& name);
// Options for a time, or a place, that have never come. `regions` may be null.
std::vector<std::string> not_reached(const plan::NodePlan& plan, const net::Assignment& assignment,
                                     const NodeRegions* regions);

} // namespace umwelt::job
