// SPDX-License-Identifier: LGPL-2.1-or-later
// Who listens to what sockets send. In an ordinary run nobody does: a test of a pointer for each segment.
#pragma once

#include <cstdint>
#include <span>

#include "net_models/core/model.h"
#include "runtime/sockets/address.h"

namespace umwelt::sockets
{

// Fields of TCP's header: where a segment is in its stream, and what its sender knew of the other direction.
struct StreamPlace {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  std::uint32_t time = 0, echo = 0; // time stamps
};

struct Passing {
  enum class Kind : std::uint8_t {
    syn,
    accepted, // SYN-ACK
    reset,
    data,
    end, // FIN
    datagram,
    unreachable, // nobody is at the port that a datagram went to: ICMP
  };
  Kind kind = Kind::data;
  net::NodeIndex source = 0, target = 0; // equal: it does not leave the node
  Address sender, destination;
  std::span<const char> payload;
  StreamPlace place; // what sent() answered
};

class Tap
{
public:
  // It is handed to the NIC of its source. `answered`: what it is the answer to, if it is one.
  virtual StreamPlace sent(const Passing& passing, const Passing* answered, sim::SimTime now) = 0;
  // It is there, and its target has not looked at it yet. Those that are lost never are.
  virtual void arrived(const Passing& passing, sim::SimTime now) = 0;

protected:
  ~Tap() = default;
};

} // namespace umwelt::sockets
