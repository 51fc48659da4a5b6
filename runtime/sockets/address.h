// SPDX-License-Identifier: LGPL-2.1-or-later
// Addresses of the simulated nodes: node n has 10.0.0.1 + n in 10.0.0.0/8, fd62:7869::a00:1 + n in fd62:7869::/64 and
// fe80::a00:1 + n; every node calls itself 127.0.0.1 and ::1, too.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "net_models/core/model.h"
#include "preload/abi/address.h"

namespace umwelt::sockets
{

using net::NodeIndex;

inline constexpr std::uint32_t network = 10U << 24;
inline constexpr std::uint32_t netmask = 0xff000000;

// IPv4, in host byte order.
constexpr std::uint32_t host_of(NodeIndex node)
{
  return network + 1 + node;
}

// Of IPv6, or of IPv4 as ::ffff:a.b.c.d. What comes as 32 bits is IPv4.
class IpAddress
{
public:
  constexpr IpAddress() = default;                                   // ::
  constexpr IpAddress(std::uint32_t v4) : low_(mapped << 32 | v4) {} // NOLINT(google-explicit-constructor)
  constexpr IpAddress(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}
  auto operator<=>(const IpAddress&) const = default; // NOLINT(modernize-use-nullptr): a false alarm

  [[nodiscard]] constexpr std::uint64_t high() const { return high_; }
  [[nodiscard]] constexpr std::uint64_t low() const { return low_; }
  [[nodiscard]] constexpr bool is_v4() const { return high_ == 0 && low_ >> 32 == mapped; }
  [[nodiscard]] constexpr std::uint32_t v4() const { return static_cast<std::uint32_t>(low_); }
  [[nodiscard]] constexpr bool is_any() const { return is_v4() ? v4() == 0 : high_ == 0 && low_ == 0; }
  [[nodiscard]] constexpr bool is_loopback() const { return is_v4() ? v4() >> 24 == 127 : high_ == 0 && low_ == 1; }
  // As inet_ntop(3) has it.
  [[nodiscard]] std::string text() const;

private:
  static constexpr std::uint64_t mapped = 0xffff;
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

constexpr IpAddress unique_local_of(NodeIndex node)
{
  return {UMW_UNIQUE_LOCAL, host_of(node)};
}

constexpr IpAddress link_local_of(NodeIndex node)
{
  return {UMW_LINK_LOCAL, host_of(node)};
}

inline constexpr IpAddress any_v4{std::uint32_t{0}};
inline constexpr IpAddress any_v6{};
inline constexpr IpAddress loopback_v4{0x7f000001U};
inline constexpr IpAddress loopback_v6{0, 1};

struct Address {
  IpAddress host = any_v4;
  std::uint16_t port = 0;                           // in host byte order
  auto operator<=>(const Address&) const = default; // NOLINT(modernize-use-nullptr): a false alarm
};

constexpr Address address_from(const umw_address& from)
{
  return {{from.high, from.low}, from.port};
}

constexpr umw_address to_gate(const Address& address)
{
  return {address.host.high(), address.host.low(), address.port, {}};
}

// Of the simulated machine, whether there is such a node or not.
constexpr bool is_on_network(IpAddress host)
{
  if (host.is_v4())
    return (host.v4() & netmask) == network;
  return host.high() == UMW_UNIQUE_LOCAL || host.high() == UMW_LINK_LOCAL;
}

// The node that `host` leads to from node `here`, of `nodes`.
constexpr std::optional<NodeIndex> node_of(IpAddress host, NodeIndex here, NodeIndex nodes)
{
  if (host.is_loopback() || host.is_any()) // connect(2) to INADDR_ANY leads to oneself
    return here;
  if (!is_on_network(host) || (!host.is_v4() && host.low() >> 32 != 0))
    return std::nullopt;
  if (host.v4() > network && host.v4() - network - 1 < nodes)
    return host.v4() - network - 1;
  return std::nullopt;
}

// What node `here` calls itself towards `destination`.
constexpr IpAddress source_towards(IpAddress destination, NodeIndex here)
{
  if (destination.is_loopback())
    return destination;
  if (destination.is_v4())
    return host_of(here);
  return destination.high() == UMW_LINK_LOCAL ? link_local_of(here) : unique_local_of(here);
}

// Whether a socket bound to `bound` gets what is sent to `host`; with IPV6_V6ONLY, :: is of IPv6 alone (ipv6(7)).
constexpr bool covers(IpAddress bound, bool only_v6, IpAddress host)
{
  return bound == host || (bound == any_v4 && host.is_v4()) || (bound == any_v6 && !(only_v6 && host.is_v4()));
}

} // namespace umwelt::sockets
