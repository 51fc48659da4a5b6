// SPDX-License-Identifier: LGPL-2.1-or-later
// What a segment, a datagram or an ICMP message looks like on the wire: an Ethernet frame of IPv4 or IPv6, with
// checksums. Addresses of Ethernet are those that nodes show of their interfaces: 02:00, and the address of IPv4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/sockets/tap.h"

namespace umwelt::observe
{

enum TcpFlag : std::uint8_t { tcp_fin = 1, tcp_syn = 2, tcp_rst = 4, tcp_psh = 8, tcp_ack = 16 };

// Whom a packet goes between. Of one node: its loopback interface.
struct PacketEnds {
  net::NodeIndex source = 0, target = 0;
  sockets::Address sender, destination;
};

// Most payload that a packet of TCP has, whose length is a number of 16 bits.
std::size_t most_payload(const PacketEnds& ends);

// Each replaces `packet`.
void make_tcp_packet(std::string& packet, const PacketEnds& ends, const sockets::StreamPlace& place, unsigned flags,
                     std::span<const char> payload);
void make_udp_packet(std::string& packet, const PacketEnds& ends, std::span<const char> payload);
// Says to `ends.destination` that nobody is at the port that it has sent a datagram to.
void make_unreachable_packet(std::string& packet, const PacketEnds& ends);

} // namespace umwelt::observe
