// SPDX-License-Identifier: LGPL-2.1-or-later
// Ways of packets: the platform's routes with their virtual channels, or those that switches choose or draw.
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

constexpr std::size_t ends = 2;        // links between a node and a switch in a way
constexpr std::uint32_t no_detour = 0; // slot behind the last hop

std::size_t length(const PacketHop* way)
{
  std::size_t hops = 0;
  while (way[hops].channel != nullptr)
    ++hops;
  return hops;
}

// Its last link ends at the target, which takes all. Behind it stands whose way it is.
void end_way(PacketPath& way, std::uint32_t detour)
{
  way.back().slot = PacketChannel::no_buffer;
  way.push_back({nullptr, detour});
}

} // namespace

const PacketHop* PacketFabric::path(const Passage& passage, std::uint32_t network, std::uint32_t lane)
{
  // The lane follows from the target and the virtual network.
  const std::uint64_t key = (static_cast<std::uint64_t>(passage.source) << 32 | passage.target) * 4 + network;
  if (const PacketHop* const known = ways_.find(key); known != nullptr)
    return known;
  const platform::Route& route = platform_.route(passage.source, passage.target);
  way_.clear();
  if (platform_.network() != nullptr) {
    const platform::Path hops = platform_.network()->topology->route(passage.source, passage.target);
    assert(hops.size() == route.links.size());
    for (std::size_t i = 0; i < hops.size(); ++i)
      way_.push_back({&channel(route.links[i]), hops[i].virtual_channel * lanes_ + lane});
  } else {
    // A file says nothing of virtual channels. With one more after each link no ring of waiting can be, whatever the
    // routes (K. Gunther, "Prevention of deadlocks in packet-switched data transport systems", 1981).
    for (std::size_t i = 0; i < route.links.size(); ++i)
      way_.push_back({&channel(route.links[i]), static_cast<std::uint32_t>(i) * lanes_ + lane});
  }
  end_way(way_, no_detour);
  return ways_.keep(key, way_);
}

// The packet is at its first switch.
void PacketFabric::choose_way(Packet& packet)
{
  const PacketMessage& message = *packet.message;
  const std::size_t hops = length(message.path);
  if (hops <= ends) // source and target are at the same switch
    return;
  const std::uint64_t draw =
      sim::splitmix(sim::splitmix(sim::splitmix(seed_) ^ message.source) ^ nodes_[message.source]->draws++);
  find_detour(message, draw);
  if (routing_ == Routing::ugal) {
    PacketChannel& one = *message.path[1].channel;
    PacketChannel& other = *way_[1].channel;
    if (&one == &other || load(one) * (hops - ends) <= load(other) * (way_.size() - ends))
      return;
  }
  ++statistics_.detours;
  if (idle_detours_.empty()) {
    detours_.emplace_back();
    idle_detours_.push_back(static_cast<std::uint32_t>(detours_.size()));
  }
  const std::uint32_t number = idle_detours_.back();
  idle_detours_.pop_back();
  end_way(way_, number);
  detours_[number - 1] = way_;
  packet.at = detours_[number - 1].data();
}

// The packet is done, wherever it is on its way.
void PacketFabric::forget_way(const Packet& packet)
{
  const std::uint32_t number = packet.at[length(packet.at)].slot;
  if (number != no_detour)
    idle_detours_.push_back(number);
}

// Into way_, without its end.
bool PacketFabric::find_detour(const PacketMessage& message, std::uint64_t draw)
{
  const platform::Network& network = *platform_.network();
  hops_.clear();
  const platform::Topology& topology = *network.topology;
  const bool drawn = routing_ == Routing::random ? topology.redraw(message.source, message.target, draw, hops_)
                                                 : topology.detour(message.source, message.target, draw, hops_);
  if (!drawn)
    return false;
  channel_of_.resize(topology.graph().channels().size());
  way_.clear();
  for (const platform::Hop& hop : hops_) {
    PacketChannel*& found = channel_of_[hop.channel];
    if (found == nullptr)
      found = &channel(platform_.link_named(topology.channel_name(hop.channel, network.prefix)));
    way_.push_back({found, hop.virtual_channel * lanes_ + message.lane});
  }
  return true;
}

// Bytes in the switch that want to go over a channel, and those at its other end or on the way there.
std::uint64_t PacketFabric::load(PacketChannel& candidate)
{
  collect(candidate);
  return candidate.queued + candidate.outstanding;
}

} // namespace umwelt::net
