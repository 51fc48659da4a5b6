// SPDX-License-Identifier: LGPL-2.1-or-later
// `packet`: a network of switches with buffers at their inputs, packet by packet.
//
// A channel (one direction of a link) ends in buffers, one per virtual channel. The sender knows by credits how much of
// each is free. A packet whose head is in a buffer and through the switch asks for its next channel; the channel, when
// it is free, takes one of those that ask and whose next buffer has room for it as a whole (virtual cut-through; P.
// Kermani, L. Kleinrock, 1979). Only the first packet of a buffer asks, so what is behind it waits as well
// (head-of-line blocking). As its tail leaves the buffer, credits go back, a latency later.
//
// Events: one per packet and channel, its head's arrival behind the switch; one when a channel becomes free that others
// wait for, or when credits come to one that has waited for them. Credits nobody waits for are counted when the channel
// next looks. What lies at a source is a number of bytes until its turn, so packets are never more than buffers hold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net_models/core/framed_fabric.h"
#include "net_models/packet/parameters.h"
#include "net_models/packet/parts.h"
#include "net_models/packet/ways.h"
#include "platforms/topologies/topology.h"
#include "runtime/base/pool.h"
#include "runtime/base/timeline.h"

namespace umwelt::net
{

class PacketFabric final : public FramedFabric
{
public:
  // `faults` may be null. Throws std::invalid_argument for parameters that cannot be.
  PacketFabric(const platform::Platform& platform, const PacketParameters& parameters, const Framing& framing,
               std::uint64_t seed, LinkFaults* faults, sim::Timeline& timeline, Client& client);
  ~PacketFabric() override;

  Entry enter(Passage& passage) override;
  bool pass(Passage& passage) override;

  struct Statistics {
    std::uint64_t packets = 0;
    std::uint64_t hops = 0;    // channels that they have entered
    std::uint64_t detours = 0; // packets that did not take the platform's route
    std::uint64_t resent = 0;  // by links
    std::size_t most = 0;      // packets at a time
  };
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }
  [[nodiscard]] std::size_t packets_now() const { return packets_.in_use(); }
  [[nodiscard]] std::size_t messages_now() const { return messages_.in_use(); }
  // For tests: what the books say against what lies there. Empty, or what does not add up.
  [[nodiscard]] std::string audit() const;
  // Likewise: buffers without room for `bytes` more.
  [[nodiscard]] std::size_t full_buffers(std::uint64_t bytes) const;

private:
  friend Packet;
  friend PacketSource;
  friend PacketChannel;

  enum class Routing : std::uint8_t { fixed, random, valiant, ugal };

  void stop(Passage& passage) override;

  // fabric.cpp: sources and messages
  PacketSource& source_of(const Passage& passage);
  void source_ready(PacketSource& source);
  void ask_for_next(PacketSource& source);
  Packet& cut(PacketSource& source, std::uint32_t bytes);
  void cut_next(PacketSource& source, sim::SimTime end);
  void reach(Packet& packet, sim::SimTime arrival);
  void lose(Packet& packet);
  void finish_packet(Packet& packet);

  // switch.cpp: buffers and channels
  PacketChannel& channel(platform::LinkIndex index)
  {
    if (index >= channels_.size() || channels_[index] == nullptr) [[unlikely]]
      learn(index);
    return *channels_[index];
  }
  void learn(platform::LinkIndex index);
  PacketBuffer& buffer(PacketChannel& channel, std::uint32_t slot);
  void arrived(Packet& packet);
  void ask(PacketChannel& input, std::uint32_t lane);
  void touch(PacketChannel& channel);
  void wake(PacketChannel& channel, sim::SimTime when);
  void free(PacketChannel& channel);
  void release(PacketChannel& channel);
  void settle_touched();
  void arbitrate(PacketChannel& channel);
  [[nodiscard]] std::size_t choose(const PacketChannel& channel) const;
  void collect(PacketChannel& channel);
  void give_back(PacketChannel& channel, const PacketChannel::Return& credit);
  void send(PacketChannel& channel, std::size_t which);
  sim::SimTime errors(PacketChannel& channel, sim::SimTime duration);

  // routes.cpp
  const PacketHop* path(const Passage& passage, std::uint32_t network, std::uint32_t lane);
  void choose_way(Packet& packet);
  bool find_detour(const PacketMessage& message, std::uint64_t draw);
  void forget_way(const Packet& packet);
  std::uint64_t load(PacketChannel& candidate);

  PacketParameters parameters_;
  std::uint64_t seed_;
  Routing routing_ = Routing::fixed;
  bool by_age_ = false;
  std::uint32_t lanes_; // buffers of a step: of all virtual networks
  std::vector<std::unique_ptr<PacketNode>> nodes_;
  sim::Pool<PacketChannel> channel_memory_; // close together
  std::vector<PacketChannel*> channels_;    // by LinkIndex, as they are needed
  std::vector<PacketChannel*> touched_;
  bool settling_ = false;
  sim::Pool<PacketMessage> messages_;
  sim::Pool<Packet> packets_;
  PacketWays ways_;                 // the platform's
  PacketPath way_;                  // that is being looked for
  platform::Path hops_;             // likewise
  std::vector<PacketPath> detours_; // of packets under way; their slots, from 1 on, stand at the ends
  std::vector<std::uint32_t> idle_detours_;
  std::vector<PacketChannel*> channel_of_; // by channel of the topology; null: not asked yet
  Statistics statistics_;
};

} // namespace umwelt::net
