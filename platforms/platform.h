// SPDX-License-Identifier: LGPL-2.1-or-later
// The simulated machine as the runtime and the models see it: nodes with cores and a NIC, directed links, and the route
// between any two nodes. Behind it stands a SimGrid platform, made by one of our builders or read from SimGrid XML.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/time.h"

namespace simgrid::s4u
{
class Host;
class Link;
} // namespace simgrid::s4u

namespace umwelt::platform
{

using NodeIndex = std::uint32_t;
using LinkIndex = std::uint32_t;

struct Network; // platforms/network.h

struct Node {
  std::string name; // host name as gethostname() shows it
  unsigned cores = 1;
  double speed = 1.0; // CPU speed relative to the machine that runs the simulation (2.0: bursts take half the time)
  simgrid::s4u::Host* host = nullptr;
  unsigned sockets = 1;              // packages, each a NUMA node; the cores are spread over them in order
  std::uint64_t memory = 64UL << 30; // bytes, in equal parts for the sockets
};

// One direction of a cable. Full duplex: the two directions are two links that share nothing.
struct Link {
  std::string name;
  double bandwidth = 0; // bytes per second
  sim::SimTime latency = 0;
  simgrid::s4u::Link* link = nullptr;
};

struct Route {
  std::vector<LinkIndex> links; // in travel order; empty within a node
  sim::SimTime latency = 0;     // sum over links
  double bandwidth = 0;         // the narrowest link, bytes per second; infinity within a node
};

// A time in which a link is not there, as a profile of the platform says.
struct Outage {
  simgrid::s4u::Link* link = nullptr;
  sim::SimTime from = 0;
  sim::SimTime to = sim::never; // never: for good
};

class Platform
{
public:
  Platform(std::string name, std::vector<Node> nodes, std::shared_ptr<const Network> network = nullptr);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] const Node& node(NodeIndex index) const { return nodes_[index]; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  // Grows as routes are first asked for.
  [[nodiscard]] std::size_t link_count() const;
  [[nodiscard]] const Link& link(LinkIndex index) const;
  // Asked from SimGrid once per pair and kept; the reference stays valid.
  [[nodiscard]] const Route& route(NodeIndex from, NodeIndex to) const;
  // One that somebody else has found.
  [[nodiscard]] Route route_over(std::span<simgrid::s4u::Link* const> links) const;
  // One that no route may have led over yet, by its name. Throws std::invalid_argument if there is none.
  [[nodiscard]] LinkIndex link_named(const std::string& name) const;
  // Properties the platform carries for the NIC model ("nic:key" in XML <prop>), as key=value.
  [[nodiscard]] const std::map<std::string, std::string>& nic_properties() const { return nic_properties_; }
  // Its shape; nullptr if the platform comes from a file.
  [[nodiscard]] const Network* network() const { return network_.get(); }
  // By the name of the link, then by time; without those of --fault.
  [[nodiscard]] std::span<const Outage> outages() const { return outages_; }
  // From then on nobody has asked the profiles, which go on without end; `never`: these are all outages.
  [[nodiscard]] sim::SimTime outages_known_until() const { return outages_known_until_; }
  void set_outages(std::vector<Outage> outages, sim::SimTime known_until)
  {
    outages_ = std::move(outages);
    outages_known_until_ = known_until;
  }
  // Every node computes so many times faster.
  void speed_up(double factor);
  void set_nic_property(const std::string& key, const std::string& value) { nic_properties_[key] = value; }

private:
  std::string name_;
  std::vector<Node> nodes_;
  std::shared_ptr<const Network> network_; // SimGrid's zone has it, too
  std::map<std::string, std::string> nic_properties_;
  std::vector<Outage> outages_;
  sim::SimTime outages_known_until_ = sim::never;
  struct Routes;
  std::unique_ptr<Routes> routes_;
};

// What the run asks of the platform.
struct Request {
  std::string spec;   // catalogue name ("bxi", "bxi:leaf=24,spines=12"), or path of a SimGrid platform: XML, or a
                      // shared object with load_platform()
  unsigned nodes = 1; // how many nodes the run wants at least; a platform of fixed size may have more or fewer
  unsigned cores = 0; // cores per node; 0: the platform's own
};

// Throws std::invalid_argument (object, expected, got, next step) for an unknown name, a file that is no platform or
// has what cannot be simulated, or a bad parameter. Creates the process's SimGrid engine if there is none.
std::unique_ptr<Platform> make_platform(const Request& request);

struct CatalogueEntry {
  std::string name;
  std::string summary;    // one line
  std::string parameters; // "leaf=N spines=N ...": accepted parameters with defaults
};
std::span<const CatalogueEntry> catalogue();

} // namespace umwelt::platform
