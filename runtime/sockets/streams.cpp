// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes of a connection, from one pair into the other. The window counts what has left the sender's pair and is not yet
// in the receiver's; so a rank that does not read stops its peer, as with TCP. Segments may overtake each other on the
// network, and wait here for those before them.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "runtime/sockets/segment.h"
#include "runtime/sockets/socket.h"
#include "runtime/sockets/stack.h"

namespace umwelt::sockets
{

namespace
{

constexpr std::size_t largest_segment = 64 * 1024; // what Linux hands to a NIC at once (GSO)

} // namespace

void Stack::pump(Socket& socket)
{
  while (socket.state == Socket::State::connected && socket.fd >= 0 && !socket.end_sent && socket.in_flight < window) {
    std::vector<char> bytes(std::min(largest_segment, window - socket.in_flight));
    const ssize_t size = recv(socket.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0)
      break;
    auto segment = segment_from(socket, *socket.peer_address);
    segment->number = socket.next_out++;
    if (size == 0) {
      segment->kind = Segment::Kind::end;
      socket.end_sent = true;
    } else {
      bytes.resize(static_cast<std::size_t>(size));
      segment->bytes = std::move(bytes);
      socket.in_flight += segment->bytes.size();
      host_.sent(socket.rank, segment->bytes.size());
    }
    send(std::move(segment));
  }
  end_if_over(socket);
}

void Stack::arrived_in_stream(Segment& segment)
{
  Socket* socket = find(segment.to);
  if (socket == nullptr || socket->state != Socket::State::connected ||
      (socket->closed && segment.kind == Segment::Kind::data)) {
    if (segment.kind == Segment::Kind::data)
      answer(segment, false, segment.to);
    else if (Socket* sender = find(segment.from))
      end_if_over(*sender);
    return;
  }
  if (segment.kind == Segment::Kind::data)
    host_.received(socket->rank, segment.bytes.size());
  socket->early.emplace(segment.number, std::pair(segment.kind == Segment::Kind::end, std::move(segment.bytes)));
  while (!socket->early.empty() && socket->early.begin()->first == socket->next_in) {
    auto& [is_end, bytes] = socket->early.begin()->second;
    if (is_end)
      socket->end_received = true;
    else {
      if (socket->held.empty() && socket->fd >= 0)
        host_.backlog_changed(socket->rank, 1);
      socket->held.push_back(std::move(bytes));
    }
    socket->early.erase(socket->early.begin());
    ++socket->next_in;
  }
  put_into_pair(*socket);
}

void Stack::put_into_pair(Socket& socket)
{
  if (socket.fd < 0) // not accepted yet
    return;
  bool changed = false;
  std::size_t taken = 0;
  while (!socket.held.empty()) {
    const std::vector<char>& first = socket.held.front();
    const ssize_t size = ::send(socket.fd, first.data() + socket.held_offset, first.size() - socket.held_offset,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN)
      break;
    // Otherwise the rank reads no more (shutdown): it is lost.
    const std::size_t done = size < 0 ? first.size() - socket.held_offset : static_cast<std::size_t>(size);
    taken += done;
    changed = true;
    socket.held_offset += done;
    if (socket.held_offset == first.size()) {
      socket.held.pop_front();
      socket.held_offset = 0;
      if (socket.held.empty())
        host_.backlog_changed(socket.rank, -1);
    }
  }
  if (socket.held.empty() && socket.end_received) {
    ::shutdown(socket.fd, SHUT_WR);
    changed = true;
  }
  if (changed)
    host_.socket_changed(socket.rank);
  if (Socket* sender = find(socket.peer); sender != nullptr && taken > 0) {
    sender->in_flight -= std::min(taken, sender->in_flight);
    const bool had_no_room = sender->in_flight + taken >= window;
    const Id sender_id = sender->id;
    pump(*sender);
    if (sender = find(sender_id); had_no_room && sender != nullptr)
      host_.socket_changed(sender->rank);
  }
}

void Stack::drop_backlog(Socket& socket)
{
  if (!socket.held.empty() && socket.fd >= 0)
    host_.backlog_changed(socket.rank, -1);
  socket.held.clear();
  socket.held_offset = 0;
}

void Stack::end_if_over(Socket& socket)
{
  if (socket.closed && socket.end_sent && socket.in_flight == 0)
    erase(socket.id);
}

} // namespace umwelt::sockets
