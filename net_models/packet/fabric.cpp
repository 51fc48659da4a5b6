// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages: from the NIC's virtual network into packets, and what they are together at the target.
#include "net_models/packet/fabric.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace umwelt::net
{

using sim::SimTime;

namespace
{

// Requests and responses, compute and service, have buffers of their own: none waits for what another one holds.
constexpr std::uint32_t virtual_networks = 4;

// A NIC's networks are numbered as BxiQueue::Index: acknowledgements go with the responses.
std::uint32_t virtual_network(std::uint8_t network)
{
  return (network & 1U) * 2 + (network >= 2 ? 1 : 0);
}

} // namespace

PacketFabric::PacketFabric(const platform::Platform& platform, const PacketParameters& parameters,
                           const Framing& framing, std::uint64_t seed, LinkFaults* faults, sim::Timeline& timeline,
                           Client& client)
    : FramedFabric(platform, framing, parameters.switch_time, faults, timeline, client), parameters_(parameters),
      seed_(seed), lanes_(virtual_networks * static_cast<std::uint32_t>(parameters.vcs)), nodes_(platform.node_count())
{
  constexpr std::uint64_t most_vcs = 64;
  const auto wrong = [](const char* key, const std::string& expected, const auto& got, const char* next) {
    throw std::invalid_argument(
        fmt::format("parameter fabric_{} of the fabric packet: expected {}, got {}. {}", key, expected, got, next));
  };
  if (parameters.vcs == 0 || parameters.vcs > most_vcs)
    wrong("vcs", fmt::format("1 to {}", most_vcs), parameters.vcs, "Correct the value.");
  if (parameters.buffer < framing.most())
    wrong("buffer", fmt::format("at least a packet with its headers, {} bytes", framing.most()), parameters.buffer,
          "Take a larger buffer, or a smaller packet.");
  if (framing.most() > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument(
        fmt::format("parameter packet: expected less than 4 GiB, got {}. Correct the value.", framing.full));
  if (parameters.link_errors > 0.5)
    wrong("link_errors", "at most 0.5", parameters.link_errors, "A link that garbles more is no link.");
  if (parameters.arbitration == "age")
    by_age_ = true;
  else if (parameters.arbitration != "round_robin")
    wrong("arbitration", "round_robin or age", parameters.arbitration, "Correct the value.");
  if (parameters.routing == "random")
    routing_ = Routing::random;
  else if (parameters.routing == "valiant")
    routing_ = Routing::valiant;
  else if (parameters.routing == "ugal")
    routing_ = Routing::ugal;
  else if (parameters.routing != "static")
    wrong("routing", "static, random, valiant or ugal", parameters.routing, "Correct the value.");
  if (routing_ != Routing::fixed && platform.node_count() > 1) {
    PacketMessage any;
    any.target = 1;
    if (const bool is_file = platform.network() == nullptr; is_file || !find_detour(any, 0)) {
      if (is_file)
        wrong("routing", "static, since routes stand in the platform's file", parameters.routing, "Take static.");
      if (routing_ == Routing::random)
        wrong("routing", "static, valiant or ugal, since the platform's routes are not drawn", parameters.routing,
              "Take --platform NAME:routing=random.");
      wrong("routing", "static or random, since routes are drawn by the platform already", parameters.routing,
            "Take one of these, or another routing= of the platform (its default is one).");
    }
  }
}

PacketFabric::~PacketFabric()
{
  const auto forget = [this](sim::Event& event) { timeline_.cancel(event); };
  for (const auto& node : nodes_)
    if (node != nullptr)
      for (PacketSource& source : node->sources)
        forget(source);
  for (PacketChannel* const channel : channels_)
    if (channel != nullptr)
      forget(*channel);
}

// ---- The NIC's side ----

PacketSource& PacketFabric::source_of(const Passage& passage)
{
  std::unique_ptr<PacketNode>& node = nodes_[passage.source];
  if (node == nullptr) {
    node = std::make_unique<PacketNode>();
    for (std::uint32_t i = 0; i < PacketNode::networks; ++i) {
      PacketSource& source = node->sources[i];
      source.fabric = this;
      source.port = i;
    }
  }
  return node->sources[passage.network];
}

Fabric::Entry PacketFabric::enter(Passage& passage)
{
  passage.message = nullptr;
  passage.lost = false;
  PacketSource& source = source_of(passage);
  const SimTime now = timeline_.now();
  passage.start = now;
  if (source.message == nullptr && !source.reserved && source.waiting == nullptr && source.free_at <= now) {
    source.reserved = true;
    return Entry::free;
  }
  passage.next = nullptr;
  (source.waiting == nullptr ? source.waiting : source.last_waiting->next) = &passage;
  source.last_waiting = &passage;
  if (source.message == nullptr && !source.reserved && !source.pending())
    timeline_.schedule(source, source.free_at);
  return Entry::waits;
}

bool PacketFabric::pass(Passage& passage)
{
  if (passage.lost)
    return false;
  if (passage.at_target())
    return true;
  PacketSource& source = source_of(passage);
  PacketMessage& message = messages_.acquire();
  message = {};
  message.passage = &passage;
  message.origin = &source;
  message.source = passage.source;
  message.target = passage.target;
  const std::uint32_t network = virtual_network(passage.network);
  message.lane = network * static_cast<std::uint32_t>(parameters_.vcs) +
                 static_cast<std::uint32_t>(passage.target % parameters_.vcs);
  message.path = path(passage, network, message.lane);
  message.left = passage.bytes;
  message.born = timeline_.now();
  const std::uint64_t packets = passage.one_packet ? 1 : framing_.packets(passage.bytes);
  message.stall = passage.pause / static_cast<SimTime>(packets);
  passage.message = &message;
  source.reserved = false;
  source.message = &message;
  if (message.stall > 0) {
    timeline_.schedule(source, timeline_.now() + message.stall);
  } else {
    ask_for_next(source);
    settle_touched();
  }
  return !passage.lost;
}

void PacketSource::fire()
{
  fabric->source_ready(*this);
}

void PacketFabric::source_ready(PacketSource& source)
{
  if (source.message != nullptr) {
    ask_for_next(source);
    return settle_touched();
  }
  if (source.reserved || source.waiting == nullptr)
    return;
  Passage& next = *source.waiting;
  source.waiting = next.next;
  source.reserved = true;
  client_.entered(next);
}

void PacketFabric::ask_for_next(PacketSource& source)
{
  const PacketMessage& message = *source.message;
  const std::uint64_t most = message.begun ? framing_.full : framing_.most();
  const PacketHop& first = *message.path;
  first.channel->waiting.push_back({nullptr, &source, message.born,
                                    static_cast<std::uint32_t>(std::min(message.left, most)), first.slot, source.port,
                                    0, first.channel->asked++});
  touch(*first.channel);
}

// The channel takes the next packet of a source.
Packet& PacketFabric::cut(PacketSource& source, std::uint32_t bytes)
{
  PacketMessage& message = *source.message;
  Packet& packet = packets_.acquire();
  packet.message = &message;
  packet.at = message.path;
  packet.bytes = bytes;
  packet.tail_in = 0;
  if (!message.begun)
    message.header = &packet;
  message.begun = true;
  message.left -= bytes;
  ++message.under_way;
  ++statistics_.packets;
  statistics_.most = std::max(statistics_.most, packets_.in_use());
  return packet;
}

// The packet that was cut will have left at `end`.
void PacketFabric::cut_next(PacketSource& source, SimTime end)
{
  PacketMessage& message = *source.message;
  if (message.left == 0) {
    source.message = nullptr;
    source.free_at = end;
    if (source.waiting != nullptr)
      timeline_.schedule(source, end);
  } else if (message.stall > 0) {
    timeline_.schedule(source, end + message.stall);
  } else {
    ask_for_next(source);
  }
}

// ---- The target's side ----

// A packet is on its last link: it will be at the target then.
void PacketFabric::reach(Packet& packet, SimTime arrival)
{
  PacketMessage& message = *packet.message;
  message.tail = std::max(message.tail, arrival);
  Passage* const passage = message.passage;
  if (message.header == &packet && passage != nullptr) {
    passage->head = arrival;
    passage->hop = passage->route->links.size();
    if (passage->one_packet) {
      passage->tail = arrival;
      passage->known = static_cast<std::uint32_t>(passage->hop);
      passage->message = nullptr;
      message.passage = nullptr;
    }
    client_.entered(*passage);
  }
  finish_packet(packet);
}

void PacketFabric::finish_packet(Packet& packet)
{
  PacketMessage& message = *packet.message;
  if (message.header == &packet)
    message.header = nullptr;
  if (routing_ != Routing::fixed)
    forget_way(packet);
  packets_.release(packet);
  if (--message.under_way > 0 || message.left > 0)
    return;
  if (Passage* const passage = message.passage; passage != nullptr) {
    passage->tail = message.tail;
    passage->known = static_cast<std::uint32_t>(passage->hop);
    passage->message = nullptr;
    client_.settled(*passage);
  }
  messages_.release(message);
}

// A link has lost the message: what is at the source stays there, what is under way arrives in vain.
void PacketFabric::lose(Packet& packet)
{
  PacketMessage& message = *packet.message;
  if (message.left > 0) {
    message.left = 0;
    PacketSource& source = *message.origin;
    PacketChannel& first = *message.path->channel;
    std::erase_if(first.waiting, [&](const PacketChannel::Request& request) { return request.source == &source; });
    timeline_.cancel(source); // if its sender pauses
    source.message = nullptr;
    source.free_at = first.free_at;
    if (source.waiting != nullptr)
      timeline_.schedule(source, source.free_at);
  }
  if (Passage* const passage = message.passage; passage != nullptr) {
    passage->lost = true;
    passage->message = nullptr;
    message.passage = nullptr;
    client_.entered(*passage);
  }
}

void PacketFabric::stop(Passage& passage)
{
  if (passage.message == nullptr)
    return;
  passage.message->passage = nullptr;
  passage.message = nullptr;
}

} // namespace umwelt::net
