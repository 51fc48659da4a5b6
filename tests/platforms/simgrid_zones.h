// SPDX-License-Identifier: LGPL-2.1-or-later
// Zones that only tests make, of SimGrid 3.32 and 4.0.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "platforms/simgrid_versions.h"

namespace umwelt::platform::versions
{

using NetPoint = simgrid::kernel::routing::NetPoint;
using HostMaker = std::function<s4u::Host*(s4u::NetZone*, unsigned long)>;

constexpr auto duplex = s4u::Link::SharingPolicy::SPLITDUPLEX;
constexpr double cluster_bandwidth = 1e9; // bytes per second
constexpr double cluster_latency = 1e-6;  // seconds

struct DragonflyShape { // of each but nodes: how many, and cables between them
  std::pair<unsigned, unsigned> groups;
  std::pair<unsigned, unsigned> chassis;
  std::pair<unsigned, unsigned> routers;
  unsigned nodes;
};

#if UMWELT_SIMGRID_4

inline s4u::NetZone* outermost()
{
  return s4u::Engine::get_instance()->get_netzone_root();
}

// "full", "floyd", "dijkstra", "dijkstra_cache", "star", "vivaldi", "wifi" or "empty".
inline s4u::NetZone* add_zone(const std::string& kind, const std::string& name)
{
  return kind == "floyd"            ? outermost()->add_netzone_floyd(name)
         : kind == "dijkstra"       ? outermost()->add_netzone_dijkstra(name, false)
         : kind == "dijkstra_cache" ? outermost()->add_netzone_dijkstra(name, true)
         : kind == "star"           ? outermost()->add_netzone_star(name)
         : kind == "vivaldi"        ? outermost()->add_netzone_vivaldi(name)
         : kind == "wifi"           ? outermost()->add_netzone_wifi(name)
         : kind == "empty"          ? outermost()->add_netzone_empty(name)
                                    : add_full_zone(name);
}

inline auto* add_split_duplex_link(s4u::NetZone& zone, const std::string& name, double bandwidth)
{
  return zone.add_split_duplex_link(name, bandwidth);
}

inline s4u::Link* add_wifi_link(s4u::NetZone& zone, const std::string& name, const std::vector<double>& bandwidths)
{
  return zone.add_link(name, bandwidths);
}

// To: null: a star's way out.
inline void add_route(s4u::NetZone& zone, const s4u::Host* from, const s4u::Host* to,
                      const std::vector<s4u::LinkInRoute>& links)
{
  zone.add_route(from, to, links);
}

inline s4u::NetZone* with_hosts(s4u::NetZone* zone, const HostMaker& make)
{
  return zone->set_host_cb(
      [make](s4u::NetZone* cluster, const std::vector<unsigned long>&, unsigned long id) { return make(cluster, id); });
}

inline s4u::NetZone* add_torus(const std::vector<unsigned long>& dimensions, const HostMaker& make)
{
  return with_hosts(outermost()->add_netzone_torus("torus", dimensions, cluster_bandwidth, cluster_latency, duplex),
                    make);
}

inline s4u::NetZone* add_fat_tree(const std::vector<unsigned>& down, const std::vector<unsigned>& up,
                                  const HostMaker& make)
{
  return with_hosts(outermost()->add_netzone_fatTree("tree", static_cast<unsigned>(down.size()), down, up,
                                                     std::vector<unsigned>(down.size(), 1), cluster_bandwidth,
                                                     cluster_latency, duplex),
                    make);
}

inline s4u::NetZone* add_dragonfly(const DragonflyShape& shape, const HostMaker& make)
{
  return with_hosts(outermost()->add_netzone_dragonfly("dragonfly", shape.groups, shape.chassis, shape.routers,
                                                       shape.nodes, cluster_bandwidth, cluster_latency, duplex),
                    make);
}

#else

inline s4u::NetZone* add_zone(const std::string& kind, const std::string& name)
{
  return kind == "floyd"            ? s4u::create_floyd_zone(name)
         : kind == "dijkstra"       ? s4u::create_dijkstra_zone(name, false)
         : kind == "dijkstra_cache" ? s4u::create_dijkstra_zone(name, true)
         : kind == "star"           ? s4u::create_star_zone(name)
         : kind == "vivaldi"        ? s4u::create_vivaldi_zone(name)
         : kind == "wifi"           ? s4u::create_wifi_zone(name)
         : kind == "empty"          ? s4u::create_empty_zone(name)
                                    : add_full_zone(name);
}

inline auto* add_split_duplex_link(s4u::NetZone& zone, const std::string& name, double bandwidth)
{
  return zone.create_split_duplex_link(name, bandwidth);
}

inline s4u::Link* add_wifi_link(s4u::NetZone& zone, const std::string& name, const std::vector<double>& bandwidths)
{
  return zone.create_link(name, bandwidths);
}

inline void add_route(s4u::NetZone& zone, const s4u::Host* from, const s4u::Host* to,
                      const std::vector<s4u::LinkInRoute>& links)
{
  zone.add_route(from->get_netpoint(), to == nullptr ? nullptr : to->get_netpoint(), nullptr, nullptr, links);
}

inline s4u::ClusterCallbacks callbacks(const HostMaker& make)
{
  return s4u::ClusterCallbacks([make](s4u::NetZone* cluster, const std::vector<unsigned long>&, unsigned long id) {
    return std::pair<NetPoint*, NetPoint*>{make(cluster, id)->get_netpoint(), nullptr};
  });
}

inline s4u::NetZone* add_torus(const std::vector<unsigned long>& dimensions, const HostMaker& make)
{
  return s4u::create_torus_zone("torus", nullptr, dimensions, callbacks(make), cluster_bandwidth, cluster_latency,
                                duplex);
}

inline s4u::NetZone* add_fat_tree(const std::vector<unsigned>& down, const std::vector<unsigned>& up,
                                  const HostMaker& make)
{
  return s4u::create_fatTree_zone("tree", nullptr,
                                  {static_cast<unsigned>(down.size()), down, up, std::vector<unsigned>(down.size(), 1)},
                                  callbacks(make), cluster_bandwidth, cluster_latency, duplex);
}

inline s4u::NetZone* add_dragonfly(const DragonflyShape& shape, const HostMaker& make)
{
  return s4u::create_dragonfly_zone("dragonfly", nullptr, {shape.groups, shape.chassis, shape.routers, shape.nodes},
                                    callbacks(make), cluster_bandwidth, cluster_latency, duplex);
}

#endif

} // namespace umwelt::platform::versions
