// SPDX-License-Identifier: LGPL-2.1-or-later
// What travels for a socket: a transfer of the network model that says which part of TCP or UDP it is.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/origin.h"
#include "runtime/sockets/stack.h"

namespace umwelt::sockets
{

struct Stack::Segment final : net::Transfer {
  enum class Kind : std::uint8_t { syn, accepted, reset, data, end, datagram };
  Kind kind = Kind::data;
  Id from = 0;
  Id to = 0; // 0: whoever is bound to the destination
  Address sender;
  Address destination;
  std::uint64_t number = 0; // in its direction of the stream
  std::vector<char> bytes;
  SimTime began = 0;                   // when it was sent
  std::unique_ptr<sim::Origin> origin; // what the host keeps of that
  StreamPlace place;                   // if somebody listens
  bool answers_datagram = false;
  bool was_read = false;
  bool was_delivered = false;

  // As those who listen see it.
  [[nodiscard]] Passing passing() const;
};

} // namespace umwelt::sockets
