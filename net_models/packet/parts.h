// SPDX-License-Identifier: LGPL-2.1-or-later
// What the fabric of packets is made of: messages, packets, the buffers they wait in and the channels they go over.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "net_models/core/fabric.h"
#include "runtime/base/timeline.h"

namespace umwelt::net
{

class PacketFabric;

struct PacketSource;

struct PacketHop {
  platform::LinkIndex link = 0;
  std::uint32_t step = 0; // virtual channel that keeps the routing from deadlock
};
using PacketPath = std::vector<PacketHop>;

// A message: what is not cut into packets yet is a number.
struct PacketMessage {
  Passage* passage = nullptr; // null: nobody waits for it any more
  PacketSource* origin = nullptr;
  const PacketPath* path = nullptr;
  platform::NodeIndex source = 0;
  platform::NodeIndex target = 0;
  std::uint32_t lane = 0;      // buffer, among those of a step
  std::uint32_t under_way = 0; // packets
  std::uint64_t left = 0;      // bytes at the source
  bool begun = false;          // the first packet has left the source
  sim::SimTime born = 0;       // left its source
  sim::SimTime tail = 0;       // at the target, of the packets that are on their last link
  sim::SimTime stall = 0;      // of the sender before each packet
};

struct Packet final : sim::Event {
  PacketFabric* fabric = nullptr;
  PacketMessage* message = nullptr;
  const PacketHop* at = nullptr; // where it is: on the channel, or in the buffer behind it
  const PacketHop* last = nullptr;
  std::uint32_t bytes = 0;
  bool header = false;      // the message's first
  sim::SimTime tail_in = 0; // the last bit reaches the buffer
  Packet* next = nullptr;   // behind it in the buffer
  PacketPath own;           // its way, if that is not the message's

  void fire() override; // its head is through the switch and may go on
};

// Where packets wait for a channel: a buffer, or a NIC's virtual network.
struct PacketInput {
  std::uint32_t port = 0; // round robin counts by it: the link to the buffer, or the virtual network
  std::uint32_t lane = 0; // buffer of the port
  PacketSource* source = nullptr;
  Packet* first = nullptr;
  Packet* last = nullptr;
};

// One virtual channel at the end of a link.
struct PacketBuffer : PacketInput {
  std::uint64_t credits = 0; // bytes of it that its sender may fill
  std::uint64_t wire = 0;    // bytes on the way to it
};

// A virtual network of a NIC: one message leaves, others wait.
struct PacketSource final : sim::Event {
  PacketFabric* fabric = nullptr;
  PacketInput input;
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
struct PacketChannel final : sim::Event {
  static constexpr std::uint32_t no_buffer = 0xffffffff; // the other end is the target, which takes all

  struct Request {
    PacketInput* input = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t slot = 0; // buffer at the other end
    sim::SimTime born = 0;
  };
  struct Return {
    sim::SimTime when = 0;
    std::uint32_t slot = 0;
    std::uint32_t bytes = 0;
  };

  PacketFabric* fabric = nullptr;
  platform::LinkIndex index = 0;
  double bandwidth = 0; // left for packets
  sim::SimTime latency = 0;
  sim::SimTime free_at = 0;
  std::vector<Request> waiting; // heads of buffers, in no order
  std::deque<PacketBuffer> buffers;
  std::deque<Return> returns;       // credits that are on their way back, by time
  std::uint64_t queued = 0;         // bytes in the switch before it that want to go over it
  std::uint64_t outstanding = 0;    // bytes whose credits are not back
  std::uint32_t last_port = 0;      // served last
  std::uint32_t last_lane = 0;      // likewise
  std::uint32_t reads = 0;          // packets that its buffers send on now
  PacketChannel* serving = nullptr; // whose buffer it reads, if that matters
  std::uint64_t sent = 0;           // packets
  bool touched = false;             // is to look for its next packet

  void fire() override;
};

} // namespace umwelt::net
