// SPDX-License-Identifier: LGPL-2.1-or-later
// What a run has drawn and cost (--power), for summary and report. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::observe
{

// Joules and watts.
struct EnergyRecord {
  std::string source;       // where the watts are from
  bool nodes_known = false; // otherwise the network and prices are at most
  double nodes_joules = 0;  // of all nodes that count
  double links_joules = 0;
  double switches_joules = 0;
  double nics_joules = 0;
  bool network_known = false;
  double peak_watts = 0;    // of all nodes at a time,
  double network_watts = 0; // of the network then, or, if nobody knows what nodes draw, at most
  sim::SimTime peak_at = 0;

  // Of the ranks' parts.
  struct Part {
    std::string name; // "computing", or a level of MPI_Pcontrol
    double joules = 0;
  };
  std::vector<Part> activities; // idle the first
  std::vector<Part> phases;     // none: nobody asked, or there was one
  double unclaimed_joules = 0;  // nodes without ranks

  struct Rank {
    double joules = 0;
    double idle = 0;                // its part of what its node draws idle,
    std::vector<double> activities; // and of what its cores take, in the order of `activities` behind idle
  };
  std::vector<Rank> ranks;
  struct Node {
    std::uint32_t node = 0; // of the platform
    std::string name;
    std::string state; // DVFS state it ended in
    double joules = 0;
    double peak_watts = 0;
    double nic_joules = 0;
    double cap = 0; // watts that it was not to exceed; 0: none
  };
  std::vector<Node> nodes; // that have had ranks, or count without
  struct Link {
    std::string name;
    double joules = 0;
  };
  std::vector<Link> links; // that have carried something
  struct Change {          // of DVFS states
    sim::SimTime at = 0;
    std::size_t nodes = 0;
    std::string state;
  };
  std::vector<Change> changes;
  std::vector<std::string> not_reached; // options for a time that never came

  // Cost.
  double money = 0;
  double node_hours = 0;
  std::string currency; // empty: no prices

  [[nodiscard]] double joules() const { return nodes_joules + links_joules + switches_joules + nics_joules; }
};

} // namespace umwelt::observe
