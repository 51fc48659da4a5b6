// SPDX-License-Identifier: LGPL-2.1-or-later
// `dragonfly` and `slimfly`: networks in which two or three cables lie between any two switches.
#include <stdexcept>

#include <fmt/format.h>

#include "platforms/assembly.h"
#include "platforms/builders.h"
#include "platforms/topologies/dragonfly.h"
#include "platforms/topologies/shape.h"
#include "platforms/topologies/slim_fly.h"

namespace umwelt::platform
{

namespace
{

constexpr std::array routings{Routing::minimal, Routing::valiant, Routing::random};

struct DragonflyMachine : Machine, Cables {
  // Balanced, as Kim et al. have it: a = 2p = 2h, and as many groups as the ports reach.
  std::uint64_t groups = 9;
  std::uint64_t routers = 4;
  std::uint64_t hosts = 2;
  std::uint64_t global = 2;
  std::string arrangement = "palm_tree";
  std::string routing = "minimal";
  std::uint64_t seed = 0;
  Cable far{12.5e9, 300 * sim::nanosecond}; // some 40 m of optical fibre more

  template <class Visitor> void visit(Visitor& v)
  {
    v.count("groups", groups, "of routers");
    v.count("routers", routers, "per group");
    v.count("hosts", hosts, "nodes per router");
    v.count("global", global, "cables of a router to other groups");
    v.text("arrangement", arrangement, "of these: palm_tree or random");
    v.text("routing", routing, "minimal, valiant or random");
    v.count("seed", seed, "of random routes and arrangements");
    visit_cables(v);
    v.bandwidth("global_bw", far.bandwidth, "of a cable between groups, per direction");
    v.time("global_lat", far.latency, "of a cable between groups, with its share of the switches");
    visit_machine(v);
  }
};

struct SlimFlyMachine : Machine, Cables {
  std::uint64_t q = 5;
  std::uint64_t hosts = 4; // half of the cables of a router to others, as Besta and Hoefler have it
  std::string routing = "minimal";
  std::uint64_t seed = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.count("q", q, "power of a prime; 2 q^2 routers");
    v.count("hosts", hosts, "nodes per router");
    v.text("routing", routing, "minimal, valiant or random");
    v.count("seed", seed, "of random routes");
    visit_cables(v);
    visit_machine(v);
  }
};

Dragonfly::Arrangement parse_arrangement(const std::string& object, const std::string& text)
{
  if (text == "palm_tree")
    return Dragonfly::Arrangement::palm_tree;
  if (text == "random")
    return Dragonfly::Arrangement::random;
  throw std::invalid_argument(fmt::format(
      "{}: parameter arrangement: expected palm_tree or random, got '{}'. Choose one of these.", object, text));
}

} // namespace

std::vector<ParameterInfo> dragonfly_parameters()
{
  return list_parameters<DragonflyMachine>();
}
std::vector<ParameterInfo> slimfly_parameters()
{
  return list_parameters<SlimFlyMachine>();
}

std::unique_ptr<Platform> build_dragonfly(const Request& request, const Parameters& parameters)
{
  const std::string object = "platform dragonfly";
  const auto machine = read_parameters<DragonflyMachine>(parameters, object);
  check_range(object, "groups", machine.groups, 1, most_nodes);
  check_range(object, "routers", machine.routers, 1, most_ports);
  check_range(object, "hosts", machine.hosts, 1, most_ports);
  check_range(object, "global", machine.global, 0, most_ports);
  const Dragonfly::Form form{static_cast<std::uint32_t>(machine.groups),
                             static_cast<std::uint32_t>(machine.routers),
                             static_cast<std::uint32_t>(machine.global),
                             static_cast<std::uint32_t>(machine.hosts),
                             parse_arrangement(object, machine.arrangement),
                             parse_routing(object, machine.routing, routings),
                             machine.seed,
                             rails_of(object, machine)};
  Dragonfly::check(object, form);
  return assemble(request, "dragonfly",
                  {std::make_shared<Dragonfly>(form), "node", {machine.node, machine.local, machine.far}, 0}, machine);
}

std::unique_ptr<Platform> build_slimfly(const Request& request, const Parameters& parameters)
{
  const std::string object = "platform slimfly";
  const auto machine = read_parameters<SlimFlyMachine>(parameters, object);
  check_range(object, "hosts", machine.hosts, 1, most_ports);
  check_range(object, "q", machine.q, 3, most_ports);
  const SlimFly::Form form{static_cast<std::uint32_t>(machine.q), static_cast<std::uint32_t>(machine.hosts),
                           parse_routing(object, machine.routing, routings), machine.seed, rails_of(object, machine)};
  SlimFly::check(object, form);
  return assemble(request, "slimfly", {std::make_shared<SlimFly>(form), "node", {machine.node, machine.local}, 0},
                  machine);
}

} // namespace umwelt::platform
