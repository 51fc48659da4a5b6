// SPDX-License-Identifier: LGPL-2.1-or-later
// Connections from the call that asks for one to their end: who listens, what a SYN finds, and what failing leaves
// behind. The peer of a datagram socket is chosen here, too.
#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "runtime/sockets/segment.h"
#include "runtime/sockets/socket.h"
#include "runtime/sockets/stack.h"

namespace umwelt::sockets
{

namespace
{

constexpr int least_backlog = 128; // a SYN that finds no room would only be sent again

} // namespace

int Stack::listen(Id id, int backlog)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  if (socket->type != Type::stream)
    return -EOPNOTSUPP;
  if (socket->state != Socket::State::idle && socket->state != Socket::State::listening)
    return -EINVAL;
  if (!socket->bound && !choose_port(*socket))
    return -EADDRINUSE;
  socket->backlog = std::max(backlog, least_backlog);
  socket->state = Socket::State::listening;
  return 0;
}

// What is wrong with the family of `destination` for a socket of IPv6, which may be bound; 0: nothing.
int Stack::refusal(const Socket& socket, IpAddress destination)
{
  if (socket.only_v6 && destination.is_v4())
    return -ENETUNREACH;
  if (!socket.chose_host || socket.own.host.is_v4() == destination.is_v4())
    return 0;
  return destination.is_v4() ? -ENETUNREACH : -EAFNOSUPPORT; // as Linux has it
}

int Stack::start_connecting(Socket& socket, Address address)
{
  switch (socket.state) {
  case Socket::State::idle:
    break;
  case Socket::State::connecting:
    return -EALREADY;
  case Socket::State::connected:
    return -EISCONN;
  case Socket::State::refused:
    return socket.error != 0 ? -std::exchange(socket.error, 0) : -ESTALE;
  default:
    return -EINVAL;
  }
  const auto node = node_of(address.host, socket.node, nodes_);
  if (!node && !is_on_network(address.host)) {
    host_.outside_refused(socket.rank, address.host);
    return -ENETUNREACH;
  }
  if (address.host.is_any())
    address.host = address.host.is_v4() ? loopback_v4 : loopback_v6;
  if (const int refused = refusal(socket, address.host); refused != 0)
    return refused;
  if (!socket.bound && !choose_port(socket))
    return -EADDRNOTAVAIL;
  if (!socket.chose_host)
    socket.own.host = source_towards(address.host, socket.node);
  socket.peer_address = address;
  if (socket.type == Type::datagram)
    return 0;
  socket.state = Socket::State::connecting;
  if (!node) { // nobody answers
    socket.timeout = std::make_unique<Socket::Timeout>(*this, socket.id);
    timeline_.schedule_in(*socket.timeout, unreachable_);
    return -EINPROGRESS;
  }
  auto segment = segment_from(socket, address);
  segment->kind = Segment::Kind::syn;
  segment->target = *node;
  send(std::move(segment));
  return -EINPROGRESS;
}

int Stack::connect(Id id, Address address, std::size_t filled)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  socket->filled += filled;
  const int result = start_connecting(*socket, address);
  if (result != -EINPROGRESS && filled > 0)
    drain_filling(*socket);
  return result;
}

void Stack::drain_filling(Socket& socket)
{
  std::array<char, 4096> nothing; // NOLINT(*-member-init)
  while (socket.fd >= 0 && socket.filled > 0) {
    const ssize_t size = recv(socket.fd, nothing.data(), std::min(nothing.size(), socket.filled), MSG_DONTWAIT);
    if (size <= 0)
      break;
    socket.filled -= static_cast<std::size_t>(size);
  }
  socket.filled = 0;
}

// What connecting has chosen.
void Stack::forget_connection(Socket& socket)
{
  socket.peer_address.reset();
  if (!socket.chose_port)
    leave_port(socket);
  if (!socket.chose_host)
    socket.own.host = socket.family == Family::v6 ? any_v6 : any_v4;
  if (!socket.bound)
    socket.own.port = 0;
}

int Stack::disconnect(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  forget_connection(*socket);
  return 0;
}

int Stack::renew(Id id, int fd)
{
  Socket* socket = find(id);
  if (socket == nullptr || socket->state != Socket::State::refused) {
    ::close(fd);
    return socket == nullptr ? -EBADF : -EINVAL;
  }
  socket->state = Socket::State::idle;
  socket->fd = fd;
  return 0;
}

Stack::Id Stack::accept(Id id, int fd)
{
  Socket* listener = find(id);
  const int refusal = listener == nullptr                           ? EBADF
                      : listener->state != Socket::State::listening ? EINVAL
                      : listener->waiting.empty()                   ? EAGAIN
                                                                    : 0;
  if (refusal != 0) {
    ::close(fd);
    return -refusal;
  }
  Socket& connection = *find(listener->waiting.front());
  listener->waiting.pop_front();
  connection.fd = fd;
  connection.rank = listener->rank;
  if (connection.state == Socket::State::failed) {
    ::close(std::exchange(connection.fd, -1));
    return connection.id;
  }
  if (!connection.held.empty())
    host_.backlog_changed(connection.rank, 1);
  put_into_pair(connection);
  return connection.id;
}

void Stack::arrived_syn(const Segment& segment)
{
  Socket* listener = listener_at(segment.target, segment.destination);
  if (listener == nullptr || static_cast<int>(listener->waiting.size()) >= listener->backlog) {
    answer(segment, false, 0);
    return;
  }
  Socket& connection = make(listener->rank, segment.target, Type::stream);
  connection.state = Socket::State::connected;
  connection.own = segment.destination;
  connection.peer_address = segment.sender;
  connection.peer = segment.from;
  listener->waiting.push_back(connection.id);
  const char one = 1;
  if (::send(listener->fd, &one, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
    host_.socket_changed(listener->rank);
  answer(segment, true, connection.id);
}

void Stack::arrived_answer(const Segment& segment)
{
  Socket* socket = find(segment.to);
  if (socket == nullptr || socket->state != Socket::State::connecting) {
    answer(segment, false, 0); // nobody waits for it any more
    return;
  }
  socket->state = Socket::State::connected;
  socket->peer = segment.from;
  drain_filling(*socket);
  host_.socket_changed(socket->rank);
  pump(*socket);
}

void Stack::arrived_reset(const Segment& segment)
{
  Socket* socket = find(segment.to);
  if (socket == nullptr)
    return;
  if (socket->closed)
    erase(segment.to);
  else if (socket->type == Type::datagram) {
    socket->error = ECONNREFUSED;
    ::send(socket->fd, "", 0,
           MSG_NOSIGNAL | MSG_DONTWAIT); // no datagram, which would have a head: the rank is to ask for the error
    host_.socket_changed(socket->rank);
  } else
    fail(*socket, socket->state == Socket::State::connecting ? ECONNREFUSED : ECONNRESET);
}

void Stack::fail(Socket& socket, int error)
{
  socket.error = error;
  if (socket.state == Socket::State::connecting) {
    socket.state = Socket::State::refused;
    forget_connection(socket);
  } else
    socket.state = Socket::State::failed;
  drop_backlog(socket);
  if (socket.fd >= 0)
    ::close(std::exchange(socket.fd, -1)); // the rank's end: POLLHUP
  if (socket.closed)
    erase(socket.id);
  else
    host_.socket_changed(socket.rank);
}

} // namespace umwelt::sockets
