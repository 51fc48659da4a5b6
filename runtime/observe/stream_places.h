// SPDX-License-Identifier: LGPL-2.1-or-later
// Sequence numbers of TCP for segments that the simulation does not number: each connection counts from the time of
// its SYN, in steps of 4 us as RFC 9293 (3.4.1) has it, so that two of the same ports do not look like one. What a side
// acknowledges is what has come to it in order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "runtime/base/time.h"
#include "runtime/sockets/tap.h"

namespace umwelt::observe
{

class StreamPlaces
{
public:
  // Of what is sent now.
  sockets::StreamPlace sent(const sockets::Passing& passing, const sockets::Passing* answered, sim::SimTime now);
  void arrived(const sockets::Passing& passing);
  // Of the third part of the handshake: what its side says when `accepted` has arrived.
  [[nodiscard]] sockets::StreamPlace acknowledgement(const sockets::Passing& accepted, sim::SimTime now) const;
  // Ends of connections that are not over.
  [[nodiscard]] std::size_t size() const { return sides_.size(); }

private:
  using Key = std::tuple<net::NodeIndex, sockets::Address, sockets::Address>; // node, own, the other's
  struct Side {
    std::uint32_t next = 0;     // to be sent
    std::uint32_t expected = 0; // to come
    std::uint32_t echo = 0;
    std::map<std::uint32_t, std::uint32_t> early; // what has overtaken others: from where, how much
    std::optional<std::uint32_t> end;             // where the other's stream ends
    [[nodiscard]] bool is_over() const { return end && expected == *end; }
  };
  static Key sender_of(const sockets::Passing& passing);
  static Key receiver_of(const sockets::Passing& passing);

  std::map<Key, Side> sides_;
};

} // namespace umwelt::observe
