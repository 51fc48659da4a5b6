// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/platform.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include "platforms/builders.h"
#include "platforms/simgrid.h"
#include "runtime/base/key_table.h"
#include "runtime/base/parameters.h"

namespace umwelt::platform
{

struct Platform::Routes {
  sim::KeyTable<const Route> known;
  std::deque<Route> routes; // references stay valid
  std::deque<Link> links;
  std::unordered_map<const simgrid::s4u::Link*, LinkIndex> index_of;

  LinkIndex index(simgrid::s4u::Link* link)
  {
    const auto [found, fresh] = index_of.try_emplace(link, static_cast<LinkIndex>(links.size()));
    if (fresh)
      links.push_back(Link{link->get_name(), link->get_bandwidth(), sim::from_seconds(link->get_latency()), link});
    return found->second;
  }
};

Platform::Platform(std::string name, std::vector<Node> nodes, std::shared_ptr<const Network> network)
    : name_(std::move(name)), nodes_(std::move(nodes)), network_(std::move(network)),
      routes_(std::make_unique<Routes>())
{
}

Platform::~Platform()
{
  release_simgrid();
}

std::size_t Platform::link_count() const
{
  return routes_->links.size();
}

const Link& Platform::link(LinkIndex index) const
{
  return routes_->links[index];
}

void Platform::speed_up(double factor)
{
  for (Node& node : nodes_)
    node.speed *= factor;
}

LinkIndex Platform::link_named(const std::string& name) const
{
  simgrid::s4u::Link* const link = simgrid::s4u::Link::by_name_or_null(name);
  if (link == nullptr)
    throw std::invalid_argument(fmt::format("platform {}: expected the name of a link, got '{}'.", name_, name));
  return routes_->index(link);
}

const Route& Platform::route(NodeIndex from, NodeIndex to) const
{
  const std::uint64_t pair = (static_cast<std::uint64_t>(from) << 32 | to) + 1;
  if (const Route* const known = routes_->known.find(pair); known != nullptr)
    return *known; // a mere look: several threads may do it at once (net_models/calibration)
  std::vector<simgrid::s4u::Link*> links;
  double latency = 0; // unused: SimGrid's sum is in floating point, ours in picoseconds
  if (from != to)
    nodes_[from].host->route_to(nodes_[to].host, links, &latency);
  const Route& route = routes_->routes.emplace_back(route_over(links));
  routes_->known.keep(pair, &route);
  return route;
}

Route Platform::route_over(std::span<simgrid::s4u::Link* const> links) const
{
  Route route;
  route.bandwidth = std::numeric_limits<double>::infinity();
  for (simgrid::s4u::Link* link : links) {
    const LinkIndex index = routes_->index(link);
    route.links.push_back(index);
    route.latency += routes_->links[index].latency;
    route.bandwidth = std::min(route.bandwidth, routes_->links[index].bandwidth);
  }
  return route;
}

void check_machine(const std::string& object, std::uint64_t sockets, std::uint64_t memory)
{
  constexpr std::uint64_t most_sockets = 64;
  constexpr std::uint64_t least_memory = 1UL << 20;
  if (sockets == 0 || sockets > most_sockets)
    throw std::invalid_argument(fmt::format("{}: parameter sockets: expected 1 to {}, got {}. Correct the value.",
                                            object, most_sockets, sockets));
  if (memory < least_memory)
    throw std::invalid_argument(fmt::format("{}: parameter memory: expected at least 1MiB, got {}. Correct the value.",
                                            object, size_text(memory)));
}

unsigned sockets_of(std::uint64_t sockets, std::uint64_t cores)
{
  return static_cast<unsigned>(std::min(sockets, cores));
}

} // namespace umwelt::platform
