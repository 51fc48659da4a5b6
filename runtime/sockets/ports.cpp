// SPDX-License-Identifier: LGPL-2.1-or-later
// Who is bound to which port of a node, and to whom a connection or a datagram for it goes.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "runtime/sockets/socket.h"
#include "runtime/sockets/stack.h"

namespace umwelt::sockets
{

namespace
{

constexpr std::uint16_t first_ephemeral = 32768; // ip_local_port_range
constexpr std::uint16_t last_ephemeral = 60999;

} // namespace

bool Stack::taken(const Socket& socket, Address address) const
{
  const auto& ports = ports_[static_cast<int>(socket.type)];
  const auto found = ports.find({socket.node, address.port});
  return found != ports.end() && std::any_of(found->second.begin(), found->second.end(), [&](Id other_id) {
           const Socket& other = *find(other_id);
           const bool overlap = covers(other.own.host, other.only_v6, address.host) ||
                                covers(address.host, socket.only_v6, other.own.host);
           return overlap && !(socket.reuse && other.reuse && other.state != Socket::State::listening);
         });
}

void Stack::enter_port(Socket& socket, Address address)
{
  socket.own = address;
  socket.bound = true;
  ports_[static_cast<int>(socket.type)][{socket.node, address.port}].push_back(socket.id);
}

void Stack::leave_port(Socket& socket)
{
  if (std::exchange(socket.bound, false))
    std::erase(ports_[static_cast<int>(socket.type)][{socket.node, socket.own.port}], socket.id);
}

bool Stack::choose_port(Socket& socket)
{
  std::uint16_t& next = next_port_.try_emplace(socket.node, first_ephemeral).first->second;
  for (unsigned tries = 0; tries <= last_ephemeral - first_ephemeral; ++tries) {
    const Address candidate{socket.own.host, next};
    next = next == last_ephemeral ? first_ephemeral : static_cast<std::uint16_t>(next + 1);
    const auto& entries = ports_[static_cast<int>(socket.type)];
    const auto found = entries.find({socket.node, candidate.port});
    if (found == entries.end() || found->second.empty()) {
      enter_port(socket, candidate);
      return true;
    }
  }
  return false;
}

int Stack::bind(Id id, Address address)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  if (socket->bound)
    return -EINVAL;
  if (socket->only_v6 && address.host.is_v4())
    return -EINVAL;
  if (!address.host.is_any() && !address.host.is_loopback() &&
      address.host != source_towards(address.host, socket->node))
    return -EADDRNOTAVAIL;
  if (address.port == 0) {
    const IpAddress before = std::exchange(socket->own.host, address.host);
    if (!choose_port(*socket)) {
      socket->own.host = before;
      return -EADDRINUSE;
    }
  } else {
    if (taken(*socket, address))
      return -EADDRINUSE;
    enter_port(*socket, address);
    socket->chose_port = true;
  }
  socket->chose_host = !address.host.is_any();
  return 0;
}

int Stack::set_only_v6(Id id, bool only)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  if (socket->bound)
    return -EINVAL;
  socket->only_v6 = only;
  return 0;
}

int Stack::set_reuse(Id id, bool reuse)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  socket->reuse = reuse;
  return 0;
}

Stack::Socket* Stack::listener_at(NodeIndex node, Address address) const
{
  const auto found = ports_[static_cast<int>(Type::stream)].find({node, address.port});
  if (found == ports_[static_cast<int>(Type::stream)].end())
    return nullptr;
  for (const Id id : found->second) {
    Socket* socket = find(id);
    if (socket->state == Socket::State::listening && covers(socket->own.host, socket->only_v6, address.host))
      return socket;
  }
  return nullptr;
}

} // namespace umwelt::sockets
