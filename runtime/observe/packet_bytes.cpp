// SPDX-License-Identifier: LGPL-2.1-or-later
// RFC 791 (IPv4), 8200 (IPv6), 9293 (TCP), 7323 (its time stamps and windows), 768 (UDP), 792 and 4443 (ICMP), 1071
// (checksums).
#include "runtime/observe/packet_bytes.h"

namespace umwelt::observe
{

namespace
{

constexpr std::uint8_t icmp = 1, tcp = 6, udp = 17, icmp6 = 58; // protocols of IP
constexpr std::size_t most_ip = 65535;
constexpr std::size_t ip_header = 20, ip6_header = 40, tcp_header = 32, udp_header = 8, ethernet_header = 14;
constexpr std::uint16_t most_window = 0xffff;
constexpr std::uint8_t window_shift = 14; // the largest: no acknowledgement is there to open the window again

void put16(std::string& out, std::size_t value)
{
  out += static_cast<char>(value >> 8 & 0xff);
  out += static_cast<char>(value & 0xff);
}

void put32(std::string& out, std::uint32_t value)
{
  put16(out, value >> 16);
  put16(out, value & 0xffff);
}

void put64(std::string& out, std::uint64_t value)
{
  put32(out, static_cast<std::uint32_t>(value >> 32));
  put32(out, static_cast<std::uint32_t>(value));
}

void put_host(std::string& out, sockets::IpAddress host)
{
  if (host.is_v4()) {
    put32(out, host.v4());
    return;
  }
  put64(out, host.high());
  put64(out, host.low());
}

void put_hardware(std::string& out, const PacketEnds& ends, net::NodeIndex node)
{
  const bool leaves = ends.source != ends.target;
  put16(out, leaves ? 0x0200 : 0);
  put32(out, leaves ? sockets::host_of(node) : 0);
}

bool is_v4(const PacketEnds& ends)
{
  return ends.destination.host.is_v4();
}

// Of 16 bits; the rest of an odd number of bytes is 0.
std::uint64_t sum(std::span<const char> bytes, std::uint64_t before = 0)
{
  std::size_t i = 0;
  for (; i + 1 < bytes.size(); i += 2)
    before +=
        static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) << 8 | static_cast<unsigned char>(bytes[i + 1]);
  if (i < bytes.size())
    before += static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) << 8;
  return before;
}

std::uint16_t folded(std::uint64_t sum)
{
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void set16(std::string& out, std::size_t at, std::uint16_t value)
{
  out[at] = static_cast<char>(value >> 8);
  out[at + 1] = static_cast<char>(value & 0xff);
}

void put_ip(std::string& out, const PacketEnds& ends, std::uint8_t protocol, std::size_t length)
{
  constexpr std::uint8_t hops = 64;
  if (!is_v4(ends)) {
    put32(out, 6U << 28);
    put16(out, length);
    out += static_cast<char>(protocol);
    out += static_cast<char>(hops);
  } else {
    const std::size_t begin = out.size();
    put16(out, 0x4500);
    put16(out, ip_header + length);
    put32(out, 0x4000); // not to be fragmented
    out += static_cast<char>(hops);
    out += static_cast<char>(protocol);
    put16(out, 0);
    put_host(out, ends.sender.host);
    put_host(out, ends.destination.host);
    set16(out, begin + 10, folded(sum(std::span(out).subspan(begin))));
    return;
  }
  put_host(out, ends.sender.host);
  put_host(out, ends.destination.host);
}

// Ethernet and IP; `length` follows.
void begin_packet(std::string& packet, const PacketEnds& ends, std::uint8_t protocol, std::size_t length)
{
  packet.clear();
  put_hardware(packet, ends, ends.target);
  put_hardware(packet, ends, ends.source);
  put16(packet, is_v4(ends) ? 0x0800 : 0x86dd);
  put_ip(packet, ends, protocol, length);
}

// Of what is behind the header of IP; `at`: where in it.
void end_packet(std::string& packet, const PacketEnds& ends, std::uint8_t protocol, std::size_t at)
{
  const std::size_t begin = ethernet_header + (is_v4(ends) ? ip_header : ip6_header);
  std::uint64_t all = sum(std::span(packet).subspan(begin));
  if (protocol != icmp) { // beside it: both addresses, the protocol, the length
    std::string hosts;
    put_host(hosts, ends.sender.host);
    put_host(hosts, ends.destination.host);
    all = sum(hosts, all) + protocol + (packet.size() - begin);
  }
  const std::uint16_t value = folded(all);
  set16(packet, begin + at, value == 0 && protocol == udp ? 0xffff : value); // 0 would be: there is none
}

} // namespace

std::size_t most_payload(const PacketEnds& ends)
{
  return most_ip - tcp_header - (is_v4(ends) ? ip_header : 0); // IPv6 does not count its own header
}

void make_tcp_packet(std::string& packet, const PacketEnds& ends, const sockets::StreamPlace& place, unsigned flags,
                     std::span<const char> payload)
{
  const bool is_syn = (flags & tcp_syn) != 0;
  const std::size_t header = is_syn ? tcp_header + 8 : tcp_header;
  begin_packet(packet, ends, tcp, header + payload.size());
  put16(packet, ends.sender.port);
  put16(packet, ends.destination.port);
  put32(packet, place.sequence);
  put32(packet, (flags & tcp_ack) != 0 ? place.acknowledged : 0);
  packet += static_cast<char>(header / 4 << 4);
  packet += static_cast<char>(flags);
  put16(packet, (flags & tcp_rst) != 0 ? 0 : most_window);
  put32(packet, 0); // checksum, urgent data
  if (is_syn) {
    put16(packet, 0x0204); // largest segment
    put16(packet, most_payload(ends));
    put32(packet, 0x01030300U | window_shift); // a byte that is no option, window scale
  }
  put32(packet, 0x0101080a); // time stamps
  put32(packet, place.time);
  put32(packet, place.echo);
  packet.append(payload.data(), payload.size());
  end_packet(packet, ends, tcp, 16);
}

void make_udp_packet(std::string& packet, const PacketEnds& ends, std::span<const char> payload)
{
  begin_packet(packet, ends, udp, udp_header + payload.size());
  put16(packet, ends.sender.port);
  put16(packet, ends.destination.port);
  put16(packet, udp_header + payload.size());
  put16(packet, 0);
  packet.append(payload.data(), payload.size());
  end_packet(packet, ends, udp, 6);
}

void make_unreachable_packet(std::string& packet, const PacketEnds& ends)
{
  const bool v4 = is_v4(ends);
  const std::uint8_t protocol = v4 ? icmp : icmp6;
  const PacketEnds datagram{ends.target, ends.source, ends.destination, ends.sender};
  begin_packet(packet, ends, protocol, 8 + (v4 ? ip_header : ip6_header) + udp_header);
  put16(packet, v4 ? 0x0303 : 0x0104); // port unreachable
  put16(packet, 0);
  put32(packet, 0);
  put_ip(packet, datagram, udp, udp_header); // what it is about: headers, as if of an empty datagram
  put16(packet, datagram.sender.port);
  put16(packet, datagram.destination.port);
  put16(packet, udp_header);
  put16(packet, 0);
  end_packet(packet, ends, protocol, 2);
}

} // namespace umwelt::observe
