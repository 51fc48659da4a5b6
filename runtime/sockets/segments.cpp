// SPDX-License-Identifier: LGPL-2.1-or-later
// Segments on their way: what the network model gets to carry, and who is told when it has arrived or cannot.
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/sockets/segment.h"
#include "runtime/sockets/socket.h"
#include "runtime/sockets/stack.h"

namespace umwelt::sockets
{

namespace
{

constexpr std::size_t ip_header = 20;
constexpr std::size_t ip6_header = 40;
constexpr std::size_t stream_header = 32;  // TCP with time stamps
constexpr std::size_t datagram_header = 8; // UDP

} // namespace

std::unique_ptr<Stack::Segment> Stack::segment_from(const Socket& socket, Address destination) const
{
  auto segment = std::make_unique<Segment>();
  segment->client = const_cast<Stack*>(this);
  segment->kind = Segment::Kind::data;
  segment->from = socket.id;
  segment->to = socket.peer;
  segment->sender = socket.own;
  if (segment->sender.host.is_any())
    segment->sender.host = source_towards(destination.host, socket.node);
  segment->destination = destination;
  segment->source = socket.node;
  segment->target = node_of(destination.host, socket.node, nodes_).value_or(socket.node);
  segment->initiator_process = segment->target_process = socket.rank;
  segment->from_host = false; // the kernel's commands wait for no rank
  return segment;
}

Passing Stack::Segment::passing() const
{
  constexpr Passing::Kind kinds[] = {Passing::Kind::syn,  Passing::Kind::accepted, Passing::Kind::reset,
                                     Passing::Kind::data, Passing::Kind::end,      Passing::Kind::datagram};
  return {answers_datagram ? Passing::Kind::unreachable : kinds[static_cast<std::size_t>(kind)],
          source,
          target,
          sender,
          destination,
          bytes,
          place};
}

void Stack::send(std::unique_ptr<Segment> segment, const Segment* answered)
{
  segment->payload = segment->bytes.size() + (segment->destination.host.is_v4() ? ip_header : ip6_header) +
                     (segment->kind == Segment::Kind::datagram ? datagram_header : stream_header);
  segment->began = timeline_.now();
  segment->origin = host_.departs(segment->initiator_process);
  if (tap_ != nullptr) [[unlikely]] {
    const Passing before = answered != nullptr ? answered->passing() : Passing{};
    segment->place = tap_->sent(segment->passing(), answered != nullptr ? &before : nullptr, segment->began);
  }
  Segment& started = *segment;
  under_way_.emplace(&started, std::move(segment));
  model_->start(started);
}

void Stack::answer(const Segment& to, bool accepted, Id from)
{
  auto segment = std::make_unique<Segment>();
  segment->client = this;
  segment->kind = accepted ? Segment::Kind::accepted : Segment::Kind::reset;
  segment->answers_datagram = to.kind == Segment::Kind::datagram;
  segment->from = from;
  segment->to = to.from;
  segment->sender = to.destination;
  segment->destination = to.sender;
  segment->source = to.target;
  segment->target = to.source;
  segment->initiator_process = segment->target_process = to.initiator_process;
  segment->from_host = false;
  send(std::move(segment), &to);
}

void Stack::source_read(net::Transfer& transfer)
{
  auto& segment = static_cast<Segment&>(transfer);
  segment.was_read = true;
  if (segment.was_delivered)
    under_way_.erase(&transfer);
}

void Stack::header_arrived(net::Transfer& transfer)
{
  transfer.deposit = transfer.payload;
}

void Stack::delivered(net::Transfer& transfer)
{
  auto& segment = static_cast<Segment&>(transfer);
  if (tap_ != nullptr) [[unlikely]]
    tap_->arrived(segment.passing(), timeline_.now());
  if (const Socket* socket = find(segment.to))
    host_.came(socket->rank, segment.initiator_process, segment.origin.get(), segment.began, segment.payload);
  switch (segment.kind) {
  case Segment::Kind::syn:
    arrived_syn(segment);
    break;
  case Segment::Kind::accepted:
    arrived_answer(segment);
    break;
  case Segment::Kind::reset:
    arrived_reset(segment);
    break;
  case Segment::Kind::data:
  case Segment::Kind::end:
    arrived_in_stream(segment);
    break;
  case Segment::Kind::datagram:
    arrived_datagram(segment);
    break;
  }
  segment.was_delivered = true;
  if (segment.was_read)
    under_way_.erase(&transfer);
}

// The NIC has given up on it; for IP that is a link that is down.
void Stack::failed(net::Transfer& transfer, net::TransferFailure)
{
  auto& segment = static_cast<Segment&>(transfer);
  Socket* socket = find(segment.from);
  if (segment.kind == Segment::Kind::datagram) {
    if (socket != nullptr)
      socket->in_flight -= segment.bytes.size();
    take_datagram(segment, {{}, {}, {}, true});
  } else if (socket != nullptr)
    fail(*socket, EHOSTUNREACH);
  under_way_.erase(&transfer);
}

} // namespace umwelt::sockets
