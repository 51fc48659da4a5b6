// SPDX-License-Identifier: LGPL-2.1-or-later
// A two-level fat tree of BXI switches: `leaf` nodes per leaf switch, every leaf switch cabled once to each of `spines`
// spine switches. Routing is D-mod-K (E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations
// on real life fat trees", 2010): the spine is chosen by the destination, so that shift permutations do not collide.
// SimGrid's fat-tree zone does it; we choose the shape, make each direction of a cable a link of its own, and give the
// links names.
#include <stdexcept>

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include "platforms/builders.h"
#include "platforms/simgrid.h"

namespace umwelt::platform
{

namespace
{

struct FatTree {
  std::uint64_t leaf = 24;   // half of a 48-port BXI switch: as many cables up as down
  std::uint64_t spines = 24; // likewise
  double bandwidth = 12.5e9; // 100 Gb/s, BXI's signalling rate; framing is the NIC model's affair
  // BXI switch about 130 ns port to port, plus cables; a link carries its share of the switches at its ends.
  sim::SimTime latency = 100 * sim::nanosecond;
  double spine_bandwidth = 12.5e9;
  sim::SimTime spine_latency = 100 * sim::nanosecond;
  // The nodes of the measured cluster: two AMD EPYC 7763 of 64 cores.
  std::uint64_t cores = 128;
  std::uint64_t sockets = 2;
  std::uint64_t memory = 256UL << 30;

  template <class Visitor> void visit(Visitor& v)
  {
    v.count("leaf", leaf, "nodes per leaf switch");
    v.count("spines", spines, "spine switches");
    v.bandwidth("bw", bandwidth, "of a cable between node and leaf, per direction");
    v.time("lat", latency, "of a cable between node and leaf, with its share of the switch");
    v.bandwidth("spine_bw", spine_bandwidth, "of a cable between leaf and spine, per direction");
    v.time("spine_lat", spine_latency, "of a cable between leaf and spine, with its share of the switches");
    v.count("cores", cores, "per node");
    v.count("sockets", sockets, "per node, each a NUMA node");
    v.size("memory", memory, "per node");
  }
};

constexpr std::uint64_t most_ports = 4096; // far above any switch; keeps a slip of the keyboard from eating the memory

void check(const FatTree& tree)
{
  const auto in_range = [](const char* key, std::uint64_t value) {
    if (value == 0 || value > most_ports)
      throw std::invalid_argument(fmt::format(
          "platform bxi: parameter {}: expected 1 to {}, got {}. Correct the value.", key, most_ports, value));
  };
  in_range("leaf", tree.leaf);
  in_range("spines", tree.spines);
  in_range("cores", tree.cores);
  check_machine("platform bxi", tree.sockets, tree.memory);
}

// Gives every link its rate and a name, going along one route per cable.
void dress(Platform& platform, const FatTree& tree, std::size_t hosts, const std::vector<simgrid::s4u::Host*>& all)
{
  const auto route = [&](std::size_t from, std::size_t to) {
    std::vector<simgrid::s4u::Link*> links;
    all[from]->route_to(all[to], links, nullptr);
    return links;
  };
  const auto set = [&](simgrid::s4u::Link* link, double bandwidth, sim::SimTime latency, std::string name) {
    link->set_bandwidth(bandwidth);
    link->set_latency(sim::to_seconds(latency));
    platform.name_link(link, std::move(name));
  };
  for (std::size_t node = 0; node < hosts; ++node) { // SimGrid routes a node to itself over its own cable
    const auto cable = route(node, node);
    set(cable.front(), tree.bandwidth, tree.latency, fmt::format("bxi{} up", node));
    set(cable.back(), tree.bandwidth, tree.latency, fmt::format("bxi{} down", node));
  }
  const std::size_t leaves = hosts / tree.leaf;
  for (std::size_t a = 0; a < leaves && leaves > 1; ++a)
    for (std::size_t target = 0; target < hosts; ++target) {
      const std::size_t b = target / tree.leaf;
      if (b == a)
        continue;
      const auto links = route(a * tree.leaf, target); // up to the spine that serves `target`, and down
      const std::size_t spine = target % tree.spines;
      set(links[1], tree.spine_bandwidth, tree.spine_latency, fmt::format("leaf{} to spine{}", a, spine));
      set(links[2], tree.spine_bandwidth, tree.spine_latency, fmt::format("spine{} to leaf{}", spine, b));
    }
}

} // namespace

std::vector<ParameterInfo> fat_tree_parameters()
{
  return list_parameters<FatTree>();
}

std::unique_ptr<Platform> build_fat_tree(const Request& request, const Parameters& parameters)
{
  namespace s4u = simgrid::s4u;
  auto tree = read_parameters<FatTree>(parameters, "platform bxi");
  check(tree);
  if (request.cores != 0)
    tree.cores = request.cores;
  const unsigned wanted = request.nodes == 0 ? 1 : request.nodes;
  const auto leaves = static_cast<unsigned>((wanted + tree.leaf - 1) / tree.leaf);
  // A single leaf switch needs no more ports than the run has nodes.
  if (leaves == 1)
    tree.leaf = wanted;

  simgrid_engine();
  const std::size_t hosts = leaves * tree.leaf;
  std::vector<s4u::Host*> all(hosts);
  const s4u::ClusterCallbacks make_node([&](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    all[id] = zone->create_host(fmt::format("bxi{}", id), 1e9)->set_core_count(static_cast<int>(tree.cores));
    return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>{all[id]->get_netpoint(),
                                                                                               nullptr};
  });
  const s4u::FatTreeParams shape(2, {static_cast<unsigned>(tree.leaf), leaves},
                                 {1, static_cast<unsigned>(leaves == 1 ? 1 : tree.spines)}, {1, 1});
  s4u::create_fatTree_zone("bxi", nullptr, shape, make_node, tree.bandwidth, sim::to_seconds(tree.latency),
                           s4u::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  simgrid_engine().seal_platform();

  std::vector<Node> nodes; // the last leaf may have more ports than the run has nodes
  for (unsigned id = 0; id < wanted; ++id)
    nodes.push_back(Node{all[id]->get_name(), static_cast<unsigned>(tree.cores), 1.0, all[id],
                         sockets_of(tree.sockets, tree.cores), tree.memory});
  auto platform = std::make_unique<Platform>("bxi", std::move(nodes));
  dress(*platform, tree, hosts, all);
  return platform;
}

} // namespace umwelt::platform
