// SPDX-License-Identifier: LGPL-2.1-or-later
// Datagrams, from one pair into another: each finds its own way, and is lost where there is no room.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "preload/abi/datagram.h"
#include "runtime/sockets/segment.h"
#include "runtime/sockets/socket.h"
#include "runtime/sockets/stack.h"

namespace umwelt::sockets
{

void Stack::pump_datagrams(Socket& socket)
{
  std::array<char, sizeof(umw_datagram_head) + UMW_LARGEST_DATAGRAM> bytes; // NOLINT(*-member-init)
  while (socket.fd >= 0 && socket.in_flight < window) {
    const ssize_t size = recv(socket.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    umw_datagram_head head{};
    if (size < static_cast<ssize_t>(sizeof head))
      break;
    std::memcpy(&head, bytes.data(), sizeof head);
    Address destination = address_from(head.address);
    if (destination == Address{any_v6, 0} && socket.peer_address)
      destination = *socket.peer_address;
    if (destination.host.is_any())
      destination.host = destination.host.is_v4() ? loopback_v4 : loopback_v6;
    if (const int refused = refusal(socket, destination.host); refused != 0) {
      socket.error = -refused;
      continue;
    }
    if (!socket.bound && !choose_port(socket))
      continue;
    if (!node_of(destination.host, socket.node, nodes_)) {
      const bool outside = !is_on_network(destination.host);
      if (outside)
        host_.outside_refused(socket.rank, destination.host);
      socket.error = outside ? ENETUNREACH : EHOSTUNREACH;
      continue;
    }
    auto segment = segment_from(socket, destination);
    segment->kind = Segment::Kind::datagram;
    segment->to = 0;
    segment->number = socket.next_datagram[segment->target]++;
    segment->bytes.assign(bytes.data() + sizeof head, bytes.data() + size);
    socket.in_flight += segment->bytes.size();
    host_.sent(socket.rank, segment->bytes.size());
    send(std::move(segment));
  }
}

// A NIC may let a short one overtake a long one, which a network of Ethernet frames does not.
void Stack::arrived_datagram(Segment& segment)
{
  if (Socket* sender = find(segment.from)) {
    sender->in_flight -= segment.bytes.size();
    pump_datagrams(*sender);
    host_.socket_changed(sender->rank);
  }
  take_datagram(segment, {segment.sender, segment.destination, std::move(segment.bytes)});
}

void Stack::take_datagram(const Segment& segment, Datagram datagram_or_gap)
{
  const std::pair from{segment.from, segment.target};
  Datagrams& way = datagrams_[from];
  way.early.emplace(segment.number, std::move(datagram_or_gap));
  while (!way.early.empty() && way.early.begin()->first == way.next) {
    const Datagram datagram = std::move(way.early.begin()->second);
    way.early.erase(way.early.begin());
    ++way.next;
    if (!datagram.lost)
      deliver(datagram, segment);
  }
  if (way.early.empty() && find(segment.from) == nullptr)
    datagrams_.erase(from);
}

void Stack::deliver(const Datagram& datagram, const Segment& segment)
{
  const auto found = ports_[static_cast<int>(Type::datagram)].find({segment.target, datagram.destination.port});
  if (found != ports_[static_cast<int>(Type::datagram)].end())
    for (const Id id : found->second) {
      Socket& socket = *find(id);
      if (!covers(socket.own.host, socket.only_v6, datagram.destination.host) ||
          (socket.peer_address && *socket.peer_address != datagram.sender))
        continue;
      const umw_datagram_head head{to_gate(datagram.sender)};
      std::vector<char> bytes(sizeof head + datagram.bytes.size());
      std::memcpy(bytes.data(), &head, sizeof head);
      std::copy(datagram.bytes.begin(), datagram.bytes.end(), bytes.begin() + sizeof head);
      if (::send(socket.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >=
          0) { // else there is no room: it is lost
        host_.received(socket.rank, datagram.bytes.size());
        host_.socket_changed(socket.rank);
      }
      return;
    }
  answer(segment, false, 0); // ICMP: port unreachable
}

} // namespace umwelt::sockets
