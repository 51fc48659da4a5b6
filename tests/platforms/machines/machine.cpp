// SPDX-License-Identifier: LGPL-2.1-or-later
// Platforms in C++. MACHINE says which one: a kind of netzone with three hosts, or a way to fail.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <simgrid/kernel/ProfileBuilder.hpp>
#include <simgrid/s4u.hpp>

namespace
{

namespace s4u = simgrid::s4u;
using Duplex = s4u::LinkInRoute::Direction;
using NetPoint = simgrid::kernel::routing::NetPoint;

std::string machine()
{
  const char* name = std::getenv("MACHINE");
  return name == nullptr ? "full" : name;
}

// a - b - c, and, where the zone does not find it itself, the way from a to c.
void chain(s4u::NetZone* zone, bool complete)
{
  std::vector<s4u::Host*> hosts;
  for (const char* name : {"a", "b", "c"})
    hosts.push_back(zone->create_host(name, 1e9)->set_core_count(4));
  hosts[0]->set_property("cpu:speed", "2")->set_property("nic:issue", "7ns");
  auto* first = zone->create_split_duplex_link("first", 1e9);
  auto* second = zone->create_split_duplex_link("second", 2e9);
  first->set_latency(1e-6);
  second->set_latency(3e-6);
  const auto points = [&](std::size_t i) { return hosts[i]->get_netpoint(); };
  zone->add_route(points(0), points(1), nullptr, nullptr, {{first, Duplex::UP}});
  zone->add_route(points(1), points(2), nullptr, nullptr, {{second, Duplex::UP}});
  if (complete)
    zone->add_route(points(0), points(2), nullptr, nullptr, {{first, Duplex::UP}, {second, Duplex::UP}});
  const auto profile = [](const char* text) {
    return simgrid::kernel::profile::ProfileBuilder::from_string("profile", text, 0);
  };
  if (machine() == "fails" || machine() == "fails_later") {
    auto* state = profile(machine() == "fails" ? "0.001 0\n0.002 1\n" : "0.0045 0\n0.0046 1\n");
    first->get_link_up()->set_state_profile(state);
    first->get_link_down()->set_state_profile(state);
  }
  if (machine() == "fails_as_one")
    first->set_state_profile(profile("0.001 0\n0.002 1\n"));
  if (machine() == "down")
    second->get_link_up()->turn_off();
  if (machine() == "bandwidth")
    first->set_bandwidth_profile(profile("0.001 1e6\n"));
  if (machine() == "nonlinear")
    first->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR, [](double capacity, int) { return capacity; });
  zone->seal();
}

void star(s4u::NetZone* zone, const char* coordinates)
{
  auto* backbone = zone->create_link("backbone", 4e9)->set_latency(5e-7);
  for (const char* name : {"a", "b", "c"}) {
    s4u::Host* host = zone->create_host(name, 1e9);
    if (coordinates != nullptr)
      host->set_coordinates(coordinates);
    auto* link = zone->create_split_duplex_link(std::string("of ") + name, 1e9);
    link->set_latency(2e-6);
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, Duplex::UP}, {backbone, Duplex::NONE}});
  }
  zone->seal();
}

void cluster(const std::string& kind)
{
  const s4u::ClusterCallbacks make([](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    return std::pair<NetPoint*, NetPoint*>{zone->create_host("node" + std::to_string(id), 1e9)->get_netpoint(),
                                           nullptr};
  });
  const auto duplex = s4u::Link::SharingPolicy::SPLITDUPLEX;
  if (kind == "torus")
    s4u::create_torus_zone(kind, nullptr, {3, 2}, make, 1e9, 1e-6, duplex)->seal();
  else if (kind == "fat_tree")
    s4u::create_fatTree_zone(kind, nullptr, {2, {2, 3}, {1, 2}, {1, 1}}, make, 1e9, 1e-6, duplex)->seal();
  else
    s4u::create_dragonfly_zone(kind, nullptr, {{2, 1}, {2, 1}, {2, 1}, 2}, make, 1e9, 1e-6, duplex)->seal();
}

void wifi()
{
  auto* zone = s4u::create_wifi_zone("wifi");
  zone->create_host("a", 1e9);
  zone->create_host("b", 1e9);
  zone->create_link("air", std::vector<double>{54e6, 36e6});
  zone->seal();
}

void empty(bool alone)
{
  auto* zone = s4u::create_empty_zone("empty");
  zone->create_host("a", 1e9);
  if (!alone)
    zone->create_host("b", 1e9);
  zone->seal();
}

} // namespace

#ifdef WITHOUT_LOAD_PLATFORM
extern "C" void load_platforms(const s4u::Engine&)
#elif !defined(MANGLED)
extern "C" void load_platform(const s4u::Engine&);
void load_platform(const s4u::Engine&)
#else
void load_platform(const s4u::Engine&);
void load_platform(const s4u::Engine&)
#endif
{
  const std::string kind = machine();
  if (kind == "full" || kind == "fails" || kind == "fails_later" || kind == "fails_as_one" || kind == "down" ||
      kind == "bandwidth" || kind == "nonlinear")
    return chain(s4u::create_full_zone("zone"), true);
  if (kind == "floyd")
    return chain(s4u::create_floyd_zone("zone"), false);
  if (kind == "dijkstra" || kind == "dijkstra_cache")
    return chain(s4u::create_dijkstra_zone("zone", kind == "dijkstra_cache"), false);
  if (kind == "star")
    return star(s4u::create_star_zone("zone"), nullptr);
  if (kind == "vivaldi" || kind == "vivaldi_apart")
    return star(s4u::create_vivaldi_zone("zone"), kind == "vivaldi" ? "0 0 0" : "3 4 1");
  if (kind == "torus" || kind == "fat_tree" || kind == "dragonfly")
    return cluster(kind);
  if (kind == "wifi")
    return wifi();
  if (kind == "empty" || kind == "empty_alone")
    return empty(kind == "empty_alone");
  if (kind == "throws")
    throw std::runtime_error("no such rack");
  if (kind == "throws_oddly")
    throw 7;
  if (kind == "crashes")
    std::abort();
  if (kind == "exits")
    std::exit(0);
  if (kind == "actor") {
    auto* zone = s4u::create_full_zone("zone");
    s4u::Host* host = zone->create_host("a", 1e9);
    zone->seal();
    s4u::Actor::create("actor", host, [] {});
  }
}
