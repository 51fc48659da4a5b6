// SPDX-License-Identifier: LGPL-2.1-or-later
// What the fabric of packets is made of: messages, packets, the buffers they wait in and the channels they go over.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "net_models/core/fabric.h"
#include "runtime/base/ring.h"
#include "runtime/base/timeline.h"

namespace umwelt::net
{

class PacketFabric;

struct PacketChannel;
struct PacketSource;
struct Packet;

// A step of a way: a link, and the buffer at its other end. Behind the last one stands a hop without a channel, whose
// slot tells whose way it is (PacketFabric::detours_).
struct PacketHop {
  PacketChannel* channel = nullptr;
  std::uint32_t slot = 0;
};
using PacketPath = std::vector<PacketHop>;

// A message: what is not cut into packets yet is a number.
struct PacketMessage {
  Passage* passage = nullptr; // null: nobody waits for it any more
  PacketSource* origin = nullptr;
  const PacketHop* path = nullptr;
  const Packet* header = nullptr; // the first packet, while it is under way
  std::uint64_t left = 0;         // bytes at the source
  std::uint32_t under_way = 0;    // packets
  bool begun = false;             // the first packet has left the source
  sim::SimTime born = 0;          // left its source
  sim::SimTime tail = 0;          // at the target, of the packets that are on their last link
  sim::SimTime stall = 0;         // of the sender before each packet
  platform::NodeIndex source = 0;
  platform::NodeIndex target = 0;
  std::uint32_t lane = 0; // buffer, among those of a step
};

// What a hop needs of a packet is one line of a cache: with thousands of nodes nothing else of it is at hand.
struct alignas(64) Packet final : sim::Event {
  std::uint32_t bytes = 0;
  PacketMessage* message = nullptr;
  const PacketHop* at = nullptr; // where it is: on the channel, or in the buffer behind it
  sim::SimTime tail_in = 0;      // the last bit reaches the buffer
  Packet* next = nullptr;        // behind it in the buffer

  void fire() override; // its head is through the switch and may go on
};
static_assert(sizeof(Packet) == 64);

// Where packets wait: one virtual channel at the end of a link.
struct PacketBuffer {
  Packet* first = nullptr;
  Packet* last = nullptr;
  std::uint64_t credits = 0; // bytes of it that its sender may fill
  std::uint64_t wire = 0;    // bytes on the way to it
};

// A virtual network of a NIC: one message leaves, others wait.
struct PacketSource final : sim::Event {
  std::uint32_t port = 0; // the first channel's round robin counts by it
  PacketFabric* fabric = nullptr;
  PacketMessage* message = nullptr;
  bool reserved = false;      // enter() has said that it is free
  sim::SimTime free_at = 0;   // the last message has left
  Passage* waiting = nullptr; // first
  Passage* last_waiting = nullptr;

  void fire() override;
};

struct PacketNode {
  static constexpr std::uint32_t networks = 8;
  std::array<PacketSource, networks> sources;
  std::uint64_t draws = 0; // random numbers that its packets have taken
};

// One direction of a link: the output that sends over it, and the buffers at its other end.
struct alignas(64) PacketChannel final : sim::Event {
  static constexpr std::uint32_t no_buffer = 0xffffffff; // the other end is the target, which takes all

  // The head of a buffer, or of a NIC's virtual network, that asks for the channel.
  struct Request {
    PacketChannel* input = nullptr; // whose buffer it is; null: a source's
    PacketSource* source = nullptr; // likewise
    sim::SimTime born = 0;          // if that matters
    std::uint32_t bytes = 0;
    std::uint32_t slot = 0;  // buffer at the other end
    std::uint32_t port = 0;  // round robin counts by it: the link to the buffer, or the virtual network
    std::uint32_t lane = 0;  // buffer of the port
    std::uint32_t asked = 0; // who of a port asked first goes first
  };
  struct Return {
    sim::SimTime when = 0;
    std::uint32_t slot = 0;
    std::uint32_t bytes = 0;
  };

  platform::LinkIndex index = 0;
  PacketFabric* fabric = nullptr;
  sim::SimTime free_at = 0;
  sim::SimTime latency = 0;
  double bandwidth = 0;         // left for packets
  std::vector<Request> waiting; // in no order
  std::vector<PacketBuffer> buffers;
  std::uint64_t queued = 0;         // bytes in the switch before it that want to go over it
  std::uint64_t outstanding = 0;    // bytes whose credits are not back
  sim::Ring<Return> returns;        // credits that are on their way back, by time
  PacketChannel* serving = nullptr; // whose buffer it reads, if that matters
  std::uint32_t last_port = 0;      // served last
  std::uint32_t asked = 0;          // requests so far; beyond 2^32 from 0 on
  std::uint32_t sent = 0;           // packets; beyond 2^32 from 0 on
  std::uint32_t reads : 31 = 0;     // packets that its buffers send on now
  std::uint32_t touched : 1 = 0;    // is to look for its next packet

  void fire() override;
};
static_assert(sizeof(PacketChannel) == 3 * 64);

} // namespace umwelt::net
