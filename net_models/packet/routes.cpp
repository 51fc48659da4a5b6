// SPDX-License-Identifier: LGPL-2.1-or-later
// Ways of packets: the platform's routes with their virtual channels, or those that switches choose.
//
// UGAL-L (A. Singh, "Load-balanced routing in interconnection networks", 2005; J. Kim et al., 2008): the
// first switch compares the platform's route with one over a drawn place. Where fewer bytes wait for the first cable,
// times the number of cables between switches, the packet goes.
#include "net_models/packet/fabric.h"

#include <cassert>

#include "platforms/network.h"
#include "runtime/base/mix.h"

namespace umwelt::net
{

namespace
{

constexpr platform::LinkIndex no_link = 0xffffffff;
constexpr std::size_t ends = 2; // links between a node and a switch in a way

} // namespace

const PacketPath& PacketFabric::path(platform::NodeIndex from, platform::NodeIndex to)
{
  PacketPath& path = paths_[static_cast<std::uint64_t>(from) << 32 | to];
  if (!path.empty())
    return path;
  const platform::Route& route = platform_.route(from, to);
  if (platform_.network() != nullptr) {
    const platform::Path hops = platform_.network()->topology->route(from, to);
    assert(hops.size() == route.links.size());
    for (std::size_t i = 0; i < hops.size(); ++i)
      path.push_back({route.links[i], hops[i].virtual_channel});
  } else {
    // A file says nothing of virtual channels. With one more after each link no ring of waiting can be, whatever the
    // routes (K. Gunther, "Prevention of deadlocks in packet-switched data transport systems", 1981).
    for (std::size_t i = 0; i < route.links.size(); ++i)
      path.push_back({route.links[i], static_cast<std::uint32_t>(i)});
  }
  for (const PacketHop& hop : path)
    channel(hop.link);
  return path;
}

// The packet is at its first switch.
void PacketFabric::choose_way(Packet& packet)
{
  const PacketMessage& message = *packet.message;
  if (message.path->size() <= ends) // source and target are at the same switch
    return;
  const std::uint64_t draw =
      sim::splitmix(sim::splitmix(sim::splitmix(seed_) ^ message.source) ^ nodes_[message.source]->draws++);
  packet.own.clear();
  append_detour(message, draw, packet.own);
  if (routing_ == Routing::ugal) {
    const platform::LinkIndex one = (*message.path)[1].link;
    const platform::LinkIndex other = packet.own[1].link;
    if (one == other || load(one) * (message.path->size() - ends) <= load(other) * (packet.own.size() - ends))
      return;
  }
  ++statistics_.detours;
  packet.at = packet.own.data();
  packet.last = packet.at + packet.own.size() - 1;
}

bool PacketFabric::append_detour(const PacketMessage& message, std::uint64_t draw, PacketPath& path)
{
  const platform::Network& network = *platform_.network();
  platform::Path hops;
  if (!network.topology->detour(message.source, message.target, draw, hops))
    return false;
  links_.resize(network.topology->graph().channels().size(), no_link);
  for (const platform::Hop& hop : hops) {
    platform::LinkIndex& link = links_[hop.channel];
    if (link == no_link) {
      link = platform_.link_named(network.topology->channel_name(hop.channel, network.prefix));
      channel(link);
    }
    path.push_back({link, hop.virtual_channel});
  }
  return true;
}

// Bytes in the switch that want to go over a channel, and those at its other end or on the way there.
std::uint64_t PacketFabric::load(platform::LinkIndex index)
{
  PacketChannel& candidate = channel(index);
  collect(candidate);
  return candidate.queued + candidate.outstanding;
}

} // namespace umwelt::net
