// SPDX-License-Identifier: LGPL-2.1-or-later
// What the simulated machine draws: watts of nodes by what their cores do and by their DVFS state, of NICs, links and
// switches by what they carry; and what that costs. Plain data, read by power_file.h or from the platform
// (platform_power.h); meter.h adds it up. README.md describes the model.
//
// A node with n of its N cores busy draws idle + step(n) + the sum over busy cores of what their activity takes more
// or less than computing: P(0) = idle, and with all n computing P(n) = epsilon + n/N (computing - epsilon), the model
// of SimGrid's host energy plug-in, or what a table of measured values says for n cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace umwelt::energy
{

// What a core does. Kernels with a power of their own follow `waiting`, in the order of Power::kernels.
using Activity = std::uint8_t;
inline constexpr Activity computing = 0;     // bursts of the program and its libraries
inline constexpr Activity communicating = 1; // commands to the NIC, events from it, copies within the node
inline constexpr Activity waiting = 2;       // polls: a library that waits for the network looks all the time
inline constexpr Activity first_kernel = 3;
inline constexpr std::size_t most_kernels = 16; // with a power of their own

// A DVFS state. Watts are those of the whole node.
struct PowerState {
  std::string name;         // "2.3GHz"; without a frequency its number
  double frequency = 0;     // Hz; 0: not known
  double pace = 1;          // how fast its cores compute, 1: as in the node's first state
  double idle = 0;          // no core is busy
  std::vector<double> busy; // 1, 2, ... all cores compute
  std::vector<double> full; // by activity: all cores do that

  // With so many busy cores that compute.
  [[nodiscard]] double watts(std::size_t cores) const { return cores == 0 ? idle : busy[cores - 1]; }
  // What a core takes more when it does that in place of computing.
  [[nodiscard]] double extra(Activity activity) const
  {
    return (full[activity] - full[computing]) / static_cast<double>(busy.size());
  }
};

// Nodes that are alike.
struct NodePower {
  std::vector<PowerState> states; // the fastest first
  std::size_t first = 0;          // that it begins in
  double off = 0;                 // watts
};

// A part of the network: drawn whatever it does, and for each byte that it passes on.
struct PartPower {
  double idle = 0;     // watts
  double per_byte = 0; // joules
};

struct NetworkPower {
  PartPower nic;              // of each node, besides what the node draws; bytes that it sends and receives
  double nic_per_message = 0; // joules, for each message sent and each received
  PartPower network_switch;   // of each; bytes that leave it
  double link_idle = 0;       // watts of each direction of a cable,
  double link_busy = 0;       // and with all of its bandwidth in use
  double link_per_byte = 0;   // joules, besides
  [[nodiscard]] bool links() const { return link_idle != 0 || link_busy != 0 || link_per_byte != 0; }
  [[nodiscard]] bool switches() const { return network_switch.idle != 0 || network_switch.per_byte != 0; }
  [[nodiscard]] bool nics() const { return nic.idle != 0 || nic.per_byte != 0 || nic_per_message != 0; }
};

struct Prices {
  double node_hour = 0; // for each node that has ranks
  double kwh = 0;       // of energy that the supplier delivers:
  double pue = 1;       // so many times what the machine draws (power usage effectiveness)
  std::string currency = "EUR";
  [[nodiscard]] bool any() const { return node_hour != 0 || kwh != 0; }
};

// What counts of a node that no rank is on: nothing, or what it draws idle or off.
enum class Unused : std::uint8_t { nothing, idle, off };

struct Power {
  std::string source;                // for people: the file, or "properties of the platform"
  std::vector<NodePower> kinds;      // none: what nodes draw is not known
  std::vector<std::uint8_t> of_node; // by node: of `kinds`
  std::vector<std::string> kernels;  // of the kernels file, that have a power of their own
  NetworkPower network;
  bool link_properties = false; // links of the platform have wattages of their own
  Prices prices;
  Unused unused = Unused::nothing; // of nodes that never have ranks
  Unused ended = Unused::idle;     // of those whose ranks have ended

  [[nodiscard]] bool nodes() const { return !kinds.empty(); }
  [[nodiscard]] bool draws_in_network() const
  {
    return link_properties || network.links() || network.switches() || network.nics();
  }
  [[nodiscard]] const NodePower& node(std::uint32_t node) const { return kinds[of_node[node]]; }
  [[nodiscard]] std::size_t activities() const { return first_kernel + kernels.size(); }
  [[nodiscard]] std::string activity_name(Activity activity) const;
};

// Fills `busy` of a state: linear from epsilon (as little as can be runs) to all cores.
void set_linear(PowerState& state, double epsilon, double all, std::size_t cores);

} // namespace umwelt::energy
