// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of sockets: how they come and go, and what can be asked of one. What they do is in ports.cpp,
// connections.cpp, streams.cpp and datagrams.cpp; what they send goes through segments.cpp.
#include "runtime/sockets/stack.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "runtime/sockets/segment.h"
#include "runtime/sockets/socket.h"

namespace umwelt::sockets
{

Stack::Stack(sim::Timeline& timeline, Host& host, NodeIndex nodes, SimTime unreachable)
    : timeline_(timeline), host_(host), nodes_(nodes), unreachable_(unreachable)
{
}

Stack::~Stack()
{
  for (const auto& [id, socket] : sockets_)
    if (socket->fd >= 0)
      ::close(socket->fd);
}

Stack::Socket* Stack::find(Id id) const
{
  const auto found = sockets_.find(id);
  return found == sockets_.end() ? nullptr : found->second.get();
}

Stack::Socket& Stack::make(std::uint32_t rank, NodeIndex node, Type type)
{
  auto socket = std::make_unique<Socket>();
  socket->id = ++last_;
  socket->rank = rank;
  socket->node = node;
  socket->type = type;
  return *sockets_.emplace(last_, std::move(socket)).first->second;
}

void Stack::erase(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return;
  drop_backlog(*socket);
  leave_port(*socket);
  if (socket->timeout)
    timeline_.cancel(*socket->timeout);
  if (socket->fd >= 0)
    ::close(socket->fd);
  sockets_.erase(id);
}

Stack::Id Stack::create(std::uint32_t rank, NodeIndex node, Type type, Family family, int fd)
{
  Socket& socket = make(rank, node, type);
  socket.family = family;
  if (family == Family::v6)
    socket.own.host = any_v6;
  socket.fd = fd;
  return socket.id;
}

int Stack::close(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  socket->closed = true;
  const std::deque<Id> waiting = std::exchange(socket->waiting, {});
  for (const Id connection : waiting)
    if (Socket* child = find(connection)) {
      child->closed = true;
      if (child->peer_address) {
        auto segment = segment_from(*child, *child->peer_address);
        segment->kind = Segment::Kind::reset;
        segment->to = child->peer;
        send(std::move(segment));
      }
      erase(connection);
    }
  if (socket->type == Type::stream && socket->state == Socket::State::connected) {
    drop_backlog(*socket);
    pump(*socket);
    return 0;
  }
  if (socket->type == Type::datagram)
    pump_datagrams(*socket);
  erase(id);
  return 0;
}

void Stack::close_all(std::uint32_t rank)
{
  std::vector<Id> own;
  for (const auto& [id, socket] : sockets_)
    if (socket->rank == rank && !socket->closed)
      own.push_back(id);
  std::sort(own.begin(), own.end());
  for (const Id id : own) {
    if (Socket* socket = find(id); socket != nullptr && socket->fd >= 0)
      ::shutdown(
          socket->fd,
          SHUT_RD); // its own end may stay open in the process that carried it: what was written leaves, then the end
    close(id);
  }
}

int Stack::written(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  if (socket->type == Type::datagram)
    pump_datagrams(*socket);
  else
    pump(*socket);
  return 0;
}

int Stack::read(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  put_into_pair(*socket);
  return 0;
}

int Stack::take_error(Id id)
{
  Socket* socket = find(id);
  return socket == nullptr ? 0 : std::exchange(socket->error, 0);
}

std::optional<Address> Stack::own_address(Id id) const
{
  const Socket* socket = find(id);
  return socket == nullptr ? std::nullopt : std::optional(socket->own);
}

std::optional<Address> Stack::peer_address(Id id) const
{
  const Socket* socket = find(id);
  const bool connected =
      socket != nullptr && (socket->type == Type::datagram || socket->state == Socket::State::connected);
  return connected ? socket->peer_address : std::nullopt;
}

} // namespace umwelt::sockets
