// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/gate/services.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/sockets/stack.h"

namespace umwelt::gate::services
{

using job::Rank;

int umw_node_wake(Rank& rank, int)
{
  rank.job.wake_peers(rank);
  return 0;
}

int umw_socket_create(Rank& rank, int datagram, int v6, int fd)
{
  const int own = rank.job.descriptor_of(rank, fd);
  if (own < 0)
    return own;
  return rank.job.sockets().create(static_cast<std::uint32_t>(rank.index), rank.node,
                                   datagram != 0 ? sockets::Type::datagram : sockets::Type::stream,
                                   v6 != 0 ? sockets::Family::v6 : sockets::Family::v4, own);
}

int umw_socket_bind(Rank& rank, int number, const umw_address* address)
{
  return rank.job.sockets().bind(number, sockets::address_from(*address));
}

int umw_socket_reuse(Rank& rank, int number, int yes)
{
  return rank.job.sockets().set_reuse(number, yes != 0);
}

int umw_socket_only_v6(Rank& rank, int number, int yes)
{
  return rank.job.sockets().set_only_v6(number, yes != 0);
}

int umw_socket_listen(Rank& rank, int number, int backlog)
{
  return rank.job.sockets().listen(number, backlog);
}

int umw_socket_connect(Rank& rank, int number, const umw_address* address, std::uint64_t filled)
{
  return rank.job.sockets().connect(number, sockets::address_from(*address), filled);
}

int umw_socket_renew(Rank& rank, int number, int fd)
{
  const int own = rank.job.descriptor_of(rank, fd);
  return own < 0 ? own : rank.job.sockets().renew(number, own);
}

int umw_socket_disconnect(Rank& rank, int number)
{
  return rank.job.sockets().disconnect(number);
}

int umw_socket_accept(Rank& rank, int number, int fd)
{
  const int own = rank.job.descriptor_of(rank, fd);
  return own < 0 ? own : rank.job.sockets().accept(number, own);
}

int umw_socket_written(Rank& rank, int number)
{
  return rank.job.sockets().written(number);
}

int umw_socket_read(Rank& rank, int number)
{
  return rank.job.sockets().read(number);
}

int umw_socket_error(Rank& rank, int number)
{
  return rank.job.sockets().take_error(number);
}

int umw_socket_name(Rank& rank, int number, int peer, umw_address* address)
{
  const auto found = peer != 0 ? rank.job.sockets().peer_address(number) : rank.job.sockets().own_address(number);
  if (!found)
    return -ENOTCONN;
  *address = sockets::to_gate(*found);
  return 0;
}

int umw_socket_close(Rank& rank, int number)
{
  return rank.job.sockets().close(number);
}

std::int64_t umw_host_lookup(Rank& rank, const char* name)
{
  const auto& names = rank.job.plan().placement.hostnames;
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -ENOENT
                              : std::int64_t{sockets::host_of(static_cast<sockets::NodeIndex>(found - names.begin()))};
}

int umw_host_name(Rank& rank, std::uint32_t host, char* buffer, std::uint64_t capacity)
{
  const auto& names = rank.job.plan().placement.hostnames;
  const auto node = sockets::node_of(host, rank.node, static_cast<sockets::NodeIndex>(names.size()));
  if (!node || names[*node].size() >= capacity)
    return -ENOENT;
  std::memcpy(buffer, names[*node].c_str(), names[*node].size() + 1);
  return static_cast<int>(names[*node].size());
}

} // namespace umwelt::gate::services
