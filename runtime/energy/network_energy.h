// SPDX-License-Identifier: LGPL-2.1-or-later
// What links, switches and NICs have drawn, from what they have carried.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net_models/core/link_load.h"
#include "platforms/platform.h"
#include "runtime/base/time.h"
#include "runtime/energy/power.h"

namespace umwelt::energy
{

// Of a node's NIC, both directions.
struct NicTraffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  bool counts = false; // the node does
};

struct NetworkEnergy {
  struct Link {
    std::string name;
    double joules = 0;
  };
  std::vector<Link> links; // that have carried something, or have a wattage of their own
  double links_joules = 0; // of all, those that nothing came to included
  double switches_joules = 0;
  std::vector<double> nics; // joules, by node
  double nics_joules = 0;

  sim::SimTime bin = 0;               // of
  std::vector<double> links_watts;    // over time,
  std::vector<double> switches_watts; // the last ones up to the end
  [[nodiscard]] double joules() const { return links_joules + switches_joules + nics_joules; }

  struct Peak {
    double watts = 0;
    sim::SimTime at = 0;
  };
  // What all of it draws at that time, of a run up to `end`; without a time when it draws most. NICs count as their
  // mean.
  [[nodiscard]] Peak peak(sim::SimTime end, std::optional<sim::SimTime> at) const;
};

// Up to `end`. `traffic`: by node.
NetworkEnergy network_energy(const Power& power, const platform::Platform& platform, const net::LinkLoad& load,
                             std::span<const NicTraffic> traffic, sim::SimTime end);

} // namespace umwelt::energy
