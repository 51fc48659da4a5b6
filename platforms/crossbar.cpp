// SPDX-License-Identifier: LGPL-2.1-or-later
// One switch that never blocks: every node has a cable to it, nothing inside is shared. `crossbar` is BXI without a
// fabric to contend for, `ethernet` a plain cluster for comparison.
#include "platforms/assembly.h"
#include "platforms/builders.h"
#include "platforms/topologies/fat_tree.h"

namespace umwelt::platform
{

namespace
{

struct Crossbar : Machine {
  Cable cable;

  template <class Visitor> void visit(Visitor& v)
  {
    v.bandwidth("bw", cable.bandwidth, "of a node's cable, per direction");
    v.time("lat", cable.latency, "of a node's cable, with its half of the switch");
    visit_machine(v);
  }
};

struct Ethernet : Crossbar {
  Ethernet()
      : Crossbar{{.cores = 32, .sockets = 1, .memory = 64UL << 30}, {3.125e9, 5 * sim::microsecond}}
  {} // 25 Gb/s through a kernel's stack
};

std::unique_ptr<Platform> build(const Request& request, const Crossbar& machine, const std::string& name,
                                const std::string& prefix)
{
  const std::uint32_t wanted = request.nodes == 0 ? 1 : request.nodes;
  const std::uint32_t rails = rails_of("platform " + name, machine);
  check_size("platform " + name, wanted, product(wanted, rails));
  return assemble(request, name,
                  {std::make_shared<FatTree>(FatTree::Form{{wanted}, {rails}, {1}}), prefix, {machine.cable}, wanted},
                  machine);
}

} // namespace

std::vector<ParameterInfo> crossbar_parameters()
{
  return list_parameters<Crossbar>();
}
std::vector<ParameterInfo> ethernet_parameters()
{
  return list_parameters<Ethernet>();
}

std::unique_ptr<Platform> build_crossbar(const Request& request, const Parameters& parameters)
{
  return build(request, read_parameters<Crossbar>(parameters, "platform crossbar"), "crossbar", "bxi");
}

std::unique_ptr<Platform> build_ethernet(const Request& request, const Parameters& parameters)
{
  return build(request, read_parameters<Ethernet>(parameters, "platform ethernet"), "ethernet", "node");
}

} // namespace umwelt::platform
