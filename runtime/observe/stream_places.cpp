// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/stream_places.h"

namespace umwelt::observe
{

namespace
{

using sockets::Passing;
using Kind = Passing::Kind;

std::uint32_t first_number(sim::SimTime now)
{
  return static_cast<std::uint32_t>(now / (4 * sim::microsecond));
}

// As Linux counts them.
std::uint32_t time_stamp(sim::SimTime now)
{
  return static_cast<std::uint32_t>(now / sim::millisecond);
}

// Of the sequence numbers that it uses up.
std::uint32_t length_of(const Passing& passing)
{
  const bool is_flag = passing.kind == Kind::syn || passing.kind == Kind::accepted || passing.kind == Kind::end;
  return static_cast<std::uint32_t>(passing.payload.size()) + (is_flag ? 1 : 0);
}

} // namespace

StreamPlaces::Key StreamPlaces::sender_of(const Passing& passing)
{
  return {passing.source, passing.sender, passing.destination};
}

StreamPlaces::Key StreamPlaces::receiver_of(const Passing& passing)
{
  return {passing.target, passing.destination, passing.sender};
}

sockets::StreamPlace StreamPlaces::sent(const Passing& passing, const Passing* answered, sim::SimTime now)
{
  if (passing.kind == Kind::datagram || passing.kind == Kind::unreachable)
    return {};
  // It takes its numbers from what it answers, whether there is a connection or not (RFC 9293, 3.5.2).
  if (passing.kind == Kind::reset && answered != nullptr)
    return {answered->place.acknowledged, answered->place.sequence + length_of(*answered), time_stamp(now),
            answered->place.time};
  if (passing.kind == Kind::syn || passing.kind == Kind::accepted) {
    Side side;
    side.next = first_number(now);
    if (answered != nullptr) {
      side.expected = answered->place.sequence + 1;
      side.echo = answered->place.time;
    }
    sides_[sender_of(passing)] = side;
  }
  const auto found = sides_.find(sender_of(passing));
  if (found == sides_.end()) // it is over for the other side
    return {0, 0, time_stamp(now), 0};
  Side& side = found->second;
  const sockets::StreamPlace place{side.next, side.expected, time_stamp(now), side.echo};
  side.next += length_of(passing);
  return place;
}

void StreamPlaces::arrived(const Passing& passing)
{
  if (passing.kind == Kind::datagram || passing.kind == Kind::unreachable || passing.kind == Kind::syn)
    return;
  if (passing.kind == Kind::reset) {
    sides_.erase(sender_of(passing));
    sides_.erase(receiver_of(passing));
    return;
  }
  const auto found = sides_.find(receiver_of(passing));
  if (found == sides_.end())
    return;
  Side& side = found->second;
  side.echo = passing.place.time;
  if (passing.kind == Kind::accepted) {
    side.expected = passing.place.sequence + 1;
    return;
  }
  if (passing.kind == Kind::end)
    side.end = passing.place.sequence + 1;
  side.early[passing.place.sequence] = length_of(passing);
  for (auto next = side.early.find(side.expected); next != side.early.end(); next = side.early.find(side.expected)) {
    side.expected += next->second;
    side.early.erase(next);
  }
  const auto other = sides_.find(sender_of(passing));
  if (side.is_over() && (other == sides_.end() || other->second.is_over())) {
    sides_.erase(found);
    if (other != sides_.end())
      sides_.erase(other);
  }
}

sockets::StreamPlace StreamPlaces::acknowledgement(const Passing& accepted, sim::SimTime now) const
{
  const auto found = sides_.find(receiver_of(accepted));
  if (found == sides_.end())
    return {accepted.place.acknowledged, accepted.place.sequence + 1, time_stamp(now), accepted.place.time};
  return {found->second.next, found->second.expected, time_stamp(now), found->second.echo};
}

} // namespace umwelt::observe
