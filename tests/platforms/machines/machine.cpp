// SPDX-License-Identifier: LGPL-2.1-or-later
// Platforms in C++. MACHINE says which one: a kind of netzone with three hosts, or a way to fail.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <simgrid/kernel/ProfileBuilder.hpp>

#include "tests/platforms/simgrid_zones.h"

namespace
{

namespace s4u = simgrid::s4u;
namespace versions = umwelt::platform::versions;
using Duplex = s4u::LinkInRoute::Direction;

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
    hosts.push_back(versions::add_host(*zone, name, 1e9)->set_core_count(4));
  hosts[0]->set_property("cpu:speed", "2")->set_property("nic:issue", "7ns");
  auto* first = versions::add_split_duplex_link(*zone, "first", 1e9);
  auto* second = versions::add_split_duplex_link(*zone, "second", 2e9);
  first->set_latency(1e-6);
  second->set_latency(3e-6);
  versions::add_route(*zone, hosts[0], hosts[1], {{first, Duplex::UP}});
  versions::add_route(*zone, hosts[1], hosts[2], {{second, Duplex::UP}});
  if (complete)
    versions::add_route(*zone, hosts[0], hosts[2], {{first, Duplex::UP}, {second, Duplex::UP}});
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
  auto* backbone = versions::add_link(*zone, "backbone", 4e9)->set_latency(5e-7);
  for (const char* name : {"a", "b", "c"}) {
    s4u::Host* host = versions::add_host(*zone, name, 1e9);
    if (coordinates != nullptr)
      host->set_coordinates(coordinates);
    auto* link = versions::add_split_duplex_link(*zone, std::string("of ") + name, 1e9);
    link->set_latency(2e-6);
    versions::add_route(*zone, host, nullptr, {{link, Duplex::UP}, {backbone, Duplex::NONE}});
  }
  zone->seal();
}

void cluster(const std::string& kind)
{
  const auto make = [](s4u::NetZone* zone, unsigned long id) {
    return versions::add_host(*zone, "node" + std::to_string(id), 1e9);
  };
  if (kind == "torus")
    versions::add_torus({3, 2}, make)->seal();
  else if (kind == "fat_tree")
    versions::add_fat_tree({2, 3}, {1, 2}, make)->seal();
  else
    versions::add_dragonfly({{2, 1}, {2, 1}, {2, 1}, 2}, make)->seal();
}

void wifi()
{
  auto* zone = versions::add_zone("wifi", "wifi");
  versions::add_host(*zone, "a", 1e9);
  versions::add_host(*zone, "b", 1e9);
  versions::add_wifi_link(*zone, "air", {54e6, 36e6});
  zone->seal();
}

void empty(bool alone)
{
  auto* zone = versions::add_zone("empty", "empty");
  versions::add_host(*zone, "a", 1e9);
  if (!alone)
    versions::add_host(*zone, "b", 1e9);
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
    return chain(versions::add_full_zone("zone"), true);
  if (kind == "floyd" || kind == "dijkstra" || kind == "dijkstra_cache")
    return chain(versions::add_zone(kind, "zone"), false);
  if (kind == "star")
    return star(versions::add_zone(kind, "zone"), nullptr);
  if (kind == "vivaldi" || kind == "vivaldi_apart")
    return star(versions::add_zone("vivaldi", "zone"), kind == "vivaldi" ? "0 0 0" : "3 4 1");
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
    auto* zone = versions::add_full_zone("zone");
    s4u::Host* host = versions::add_host(*zone, "a", 1e9);
    zone->seal();
    versions::add_actor("actor", host, [] {});
  }
}
