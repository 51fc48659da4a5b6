// SPDX-License-Identifier: LGPL-2.1-or-later
// What the simulated machine draws while a job runs (--power), and how fast nodes compute in their DVFS states (--dvfs,
// --power-cap). Ranks say what their threads did; energy/meter.h adds it up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "net_models/core/link_load.h"
#include "net_models/mixed/assignment.h"
#include "platforms/platform.h"
#include "runtime/base/time.h"
#include "runtime/energy/meter.h"
#include "runtime/observe/energy.h"
#include "runtime/observe/power_trace.h"
#include "runtime/observe/statistics.h"
#include "runtime/observe/trace.h"
#include "runtime/plan/plan.h"

namespace umwelt::job
{

class Rank;
struct Thread;
using sim::SimTime;

class Energy
{
public:
  using Ranks = std::vector<std::unique_ptr<Rank>>;

  // All outlive it. `plan` has a power plan.
  Energy(const plan::Plan& plan, const Ranks& ranks);

  // Where models are to tell what links carry: `there`, if somebody wants that already; null: nobody needs it.
  net::LinkLoad* links(net::LinkLoad* there);

  // --- what threads do, on their own clocks ---
  // CPU time or a wait that polls begins; since when is known only when it ends in a worker process.
  static void begins(Thread& thread, SimTime since, bool polls);
  // It was that. What the rank has spent in kernels with a power of their own since the last time is part of computing.
  void ends(Rank& rank, Thread& thread, observe::RankState state, SimTime from, SimTime until);

  void rank_begins(const Rank& rank);
  void rank_ends(Rank& rank, SimTime at);
  // It has called MPI_Pcontrol(level).
  void phase(const Rank& rank, std::int64_t level, SimTime at);
  // Sets the bit of MPI_Pcontrol where phases are wanted.
  void watch(std::span<std::uint64_t> functions) const;
  [[nodiscard]] bool is_phase(std::uint32_t function) const { return by_phases_ && function == pcontrol_; }

  // Nodes compute more slowly at times.
  [[nodiscard]] bool paces() const { return paces_; }
  // How fast, 1: as in their first states. Times do not go back.
  double pace(std::uint32_t node, SimTime now);

  // Up to the end of the job; nothing comes after it. `statistics`: of the ranks.
  observe::EnergyRecord record(SimTime end);

private:
  void settle(SimTime now);
  void add_network(observe::EnergyRecord& record, SimTime end) const;
  void add_ranks(observe::EnergyRecord& record, const energy::Meter::Sums& sums) const;
  void add_nodes(observe::EnergyRecord& record, const energy::Meter::Sums& sums) const;
  void add_money(observe::EnergyRecord& record, SimTime end) const;
  [[nodiscard]] std::vector<bool> used_nodes() const; // those that ranks were on

  const plan::Plan& plan_;
  const plan::PowerPlan& power_;
  const Ranks& ranks_;
  std::unique_ptr<energy::Meter> meter_; // null: what nodes draw is not known
  net::Assignment states_;
  bool paces_ = false;
  bool by_phases_ = false;
  std::uint32_t pcontrol_ = 0;
  std::vector<std::int64_t> levels_; // of phases from 1 on; phase 0 is before the first MPI_Pcontrol
  net::LinkLoad* load_ = nullptr;    // null: nobody needs it
  std::unique_ptr<net::LinkLoad> own_load_;
};

} // namespace umwelt::job
