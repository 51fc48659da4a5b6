// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/assembly.h"

#include <fmt/format.h>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "platforms/builders.h"
#include "platforms/simgrid.h"
#include "platforms/simgrid_versions.h"
#include "platforms/topologies/shape.h"

namespace umwelt::platform
{

namespace
{

// SimGrid asks a topology for its routes. (Its own clusters know other ones, and no virtual channels.) The engine owns
// it.
class TopologyZone final : public simgrid::kernel::routing::NetZoneImpl
{
public:
  using Points = std::map<std::string, xbt_node_t, std::less<>>;
  using Lines = std::map<std::string, xbt_edge_t, std::less<>>;

  TopologyZone(const std::string& name, std::shared_ptr<const Network> network)
      : NetZoneImpl(name), network_(std::move(network)), links_(network_->topology->graph().channels().size())
  {
  }

  void set_link(ChannelIndex channel, simgrid::s4u::Link* link) { links_[channel] = link; }

private:
  void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override
  {
    if (from == to) // nothing is sent there
      return;
    const auto add = [&](const simgrid::s4u::Link& link) {
      into->link_list_.push_back(link.get_impl());
      if (latency != nullptr)
        *latency += link.get_latency();
    };
    for (const simgrid::s4u::Link* link : *network_->detour)
      add(*link);
    if (!network_->detour->empty())
      return;
    for (const Hop& hop : network_->topology->route(static_cast<Vertex>(from->id()), static_cast<Vertex>(to->id())))
      add(*links_[hop.channel]);
  }
  void get_graph(const s_xbt_graph_t*, Points*, Lines*) override {} // what SimGrid's own drawings show

  std::shared_ptr<const Network> network_;
  std::vector<simgrid::s4u::Link*> links_; // by channel; nullptr of nodes that are left out
};

} // namespace

std::uint32_t rails_of(const std::string& object, const Machine& machine)
{
  constexpr std::uint64_t most_rails = 64;
  check_range(object, "rails", machine.rails, 1, most_rails);
  return static_cast<std::uint32_t>(machine.rails);
}

std::unique_ptr<Platform> assemble(const Request& request, const std::string& name, Network network, Machine machine)
{
  const std::string object = "platform " + name;
  check_range(object, "cores", machine.cores, 1, most_ports);
  check_machine(object, machine.sockets, machine.memory);
  if (request.cores != 0)
    machine.cores = request.cores;
  const Topology& topology = *network.topology;
  const Graph& graph = topology.graph();
  if (network.nodes == 0)
    network.nodes = graph.nodes();
  const auto shared = std::make_shared<const Network>(std::move(network));

  simgrid_engine();
  auto* zone = new TopologyZone(name, shared); // NOLINT(cppcoreguidelines-owning-memory)
  versions::join(*zone);
  std::vector<Node> nodes;
  nodes.reserve(shared->nodes);
  for (std::uint32_t id = 0; id < shared->nodes; ++id) {
    std::string hostname = topology.vertex_name(id, shared->prefix);
    simgrid::s4u::Host* host =
        versions::add_host(*zone->get_iface(), hostname, 1e9)->set_core_count(static_cast<int>(machine.cores));
    nodes.push_back(Node{std::move(hostname), static_cast<unsigned>(machine.cores), 1.0, host,
                         sockets_of(machine.sockets, machine.cores), machine.memory});
  }
  for (ChannelIndex index = 0; index < graph.channels().size(); ++index) {
    const Channel& channel = graph.channels()[index];
    if (shared->absent(channel.from) || shared->absent(channel.to))
      continue;
    const Cable& cable = shared->cable(channel.kind);
    simgrid::s4u::Link* link =
        versions::add_link(*zone->get_iface(), topology.channel_name(index, shared->prefix), cable.bandwidth);
    zone->set_link(index, link->set_latency(sim::to_seconds(cable.latency)));
  }
  zone->get_iface()->seal();
  simgrid_engine().seal_platform();
  return std::make_unique<Platform>(name, std::move(nodes), shared);
}

} // namespace umwelt::platform
