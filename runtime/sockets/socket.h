// SPDX-License-Identifier: LGPL-2.1-or-later
// What the stack knows of one socket: its end of the pair, its place among the ports, and both directions of its
// stream.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/sockets/stack.h"

namespace umwelt::sockets
{

// How much of a socket may be in flight at once.
constexpr std::size_t window = UMW_STREAM_WINDOW;

struct Stack::Socket {
  enum class State : std::uint8_t { idle, listening, connecting, connected, refused, failed };

  struct Timeout final : sim::Event {
    Timeout(Stack& s, Id i) : stack(s), id(i) {}
    void fire() override
    {
      if (Socket* socket = stack.find(id))
        stack.fail(*socket, EHOSTUNREACH);
    }
    Stack& stack;
    Id id;
  };

  Id id = 0;
  std::uint32_t rank = 0;
  NodeIndex node = 0;
  Type type = Type::stream;
  Family family = Family::v4;
  bool only_v6 = false;
  State state = State::idle;
  int fd = -1;
  int error = 0;
  Address own;
  std::optional<Address> peer_address;
  bool bound = false;      // entered in ports_
  bool chose_host = false; // it was bound to an address of its own, rather than given one when it connected
  bool chose_port = false; // likewise
  bool reuse = false;
  bool closed = false; // the rank has no descriptor of it any more
  std::unique_ptr<Timeout> timeout;

  std::deque<Id> waiting; // to be accepted
  int backlog = 0;

  Id peer = 0;
  std::size_t filled = 0;    // bytes in the pair that are none
  std::size_t in_flight = 0; // sent and not yet in the receiver's pair
  std::uint64_t next_out = 0;
  std::map<NodeIndex, std::uint64_t> next_datagram;
  bool end_sent = false;

  std::uint64_t next_in = 0;
  std::map<std::uint64_t, std::pair<bool, std::vector<char>>> early; // by number: whether it is the end, its bytes
  std::deque<std::vector<char>> held;                                // no room in the pair yet
  std::size_t held_offset = 0;                                       // of the first
  bool end_received = false;
};

} // namespace umwelt::sockets
