// SPDX-License-Identifier: LGPL-2.1-or-later
// IPv4 addresses of the simulated nodes: node n has 10.0.0.1 + n in 10.0.0.0/8; every node calls itself 127.0.0.1, too.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "net_models/model.h"

namespace umwelt::sockets
{

using net::NodeIndex;

// In host byte order.
struct Address {
  std::uint32_t host = 0;
  std::uint16_t port = 0;
  auto operator<=>(const Address&) const = default;
};

inline constexpr std::uint32_t network = 10U << 24;
inline constexpr std::uint32_t netmask = 0xff000000;

constexpr std::uint32_t host_of(NodeIndex node)
{
  return network + 1 + node;
}

constexpr bool is_loopback(std::uint32_t host)
{
  return host >> 24 == 127;
}

// The node that `host` leads to from node `here`, of `nodes`.
constexpr std::optional<NodeIndex> node_of(std::uint32_t host, NodeIndex here, NodeIndex nodes)
{
  if (is_loopback(host) || host == 0) // connect(2) to INADDR_ANY leads to oneself
    return here;
  if (host > network && host - network - 1 < nodes)
    return host - network - 1;
  return std::nullopt;
}

} // namespace umwelt::sockets
