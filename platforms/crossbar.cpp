// SPDX-License-Identifier: LGPL-2.1-or-later
// One switch that never blocks: every node has a cable to it, nothing inside is shared. `crossbar` is BXI without a
// fabric to contend for, `ethernet` a plain cluster for comparison.
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

struct Crossbar {
  double bandwidth;
  sim::SimTime latency;
  std::uint64_t cores;
  std::uint64_t sockets;
  std::uint64_t memory;

  template <class Visitor> void visit(Visitor& v)
  {
    v.bandwidth("bw", bandwidth, "of a node's cable, per direction");
    v.time("lat", latency, "of a node's cable, with its half of the switch");
    v.count("cores", cores, "per node");
    v.count("sockets", sockets, "per node, each a NUMA node");
    v.size("memory", memory, "per node");
  }
};

struct Bxi : Crossbar {
  Bxi() : Crossbar{12.5e9, 100 * sim::nanosecond, 128, 2, 256UL << 30} {} // as `bxi`
};

struct Ethernet : Crossbar {
  Ethernet() : Crossbar{3.125e9, 5 * sim::microsecond, 32, 1, 64UL << 30} {} // 25 Gb/s through a kernel's network stack
};

std::unique_ptr<Platform> build(const Request& request, const Crossbar& machine, const std::string& name,
                                const std::string& prefix)
{
  namespace s4u = simgrid::s4u;
  const std::uint64_t cores = request.cores != 0 ? request.cores : machine.cores;
  if (cores == 0 || cores > 4096)
    throw std::invalid_argument(
        fmt::format("platform {}: parameter cores: expected 1 to 4096, got {}. Correct the value.", name, cores));
  check_machine("platform " + name, machine.sockets, machine.memory);

  simgrid_engine();
  s4u::NetZone* zone = s4u::create_star_zone(name);
  std::vector<Node> nodes;
  const unsigned wanted = request.nodes == 0 ? 1 : request.nodes;
  for (unsigned id = 0; id < wanted; ++id) {
    const std::string node = fmt::format("{}{}", prefix, id);
    s4u::Host* host = zone->create_host(node, 1e9)->set_core_count(static_cast<int>(cores));
    const auto cable = [&](const char* direction) {
      return s4u::LinkInRoute(zone->create_link(fmt::format("{} {}", node, direction), machine.bandwidth)
                                  ->set_latency(sim::to_seconds(machine.latency)));
    };
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {cable("up")}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {cable("down")}, false);
    nodes.push_back(
        Node{node, static_cast<unsigned>(cores), 1.0, host, sockets_of(machine.sockets, cores), machine.memory});
  }
  zone->seal();
  simgrid_engine().seal_platform();
  return std::make_unique<Platform>(name, std::move(nodes));
}

} // namespace

std::vector<ParameterInfo> crossbar_parameters()
{
  return list_parameters<Bxi>();
}
std::vector<ParameterInfo> ethernet_parameters()
{
  return list_parameters<Ethernet>();
}

std::unique_ptr<Platform> build_crossbar(const Request& request, const Parameters& parameters)
{
  return build(request, read_parameters<Bxi>(parameters, "platform crossbar"), "crossbar", "bxi");
}

std::unique_ptr<Platform> build_ethernet(const Request& request, const Parameters& parameters)
{
  return build(request, read_parameters<Ethernet>(parameters, "platform ethernet"), "ethernet", "node");
}

} // namespace umwelt::platform
