// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/message_matches.h"

#include "runtime/base/mix.h"

namespace umwelt::observe
{

namespace
{

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value)
{
  return sim::splitmix(hash ^ value);
}

} // namespace

void MessageMatches::begin(std::uint32_t rank)
{
  rank_ = rank;
  sent_.clear();
  received_.clear();
  begun_.clear();
}

void MessageMatches::receive_begun(const umw_event& event)
{
  begun_[event.request] = {event.object, event.peer, event.tag};
}

// Receives that were begun earlier and wait for the same come first. Of one with a wildcard nobody knows whether it
// does: it is taken for one that does not.
std::uint64_t MessageMatches::place_of_receive(const umw_event& event, const Key& key)
{
  std::uint64_t earlier = 0;
  if (event.request != 0) {
    for (auto one = begun_.begin(); one != begun_.end() && one->first < event.request; ++one)
      earlier +=
          one->second.communicator == event.object && one->second.from == event.peer && one->second.tag == event.tag;
    begun_.erase(event.request);
  }
  Taken& taken = received_[key];
  std::uint64_t place = taken.all_below;
  while (taken.above.contains(place) || earlier > 0) {
    earlier -= taken.above.contains(place) ? 0 : 1;
    ++place;
  }
  taken.above.insert(place);
  while (taken.above.erase(taken.all_below) > 0)
    ++taken.all_below;
  return place;
}

std::uint64_t MessageMatches::number(const umw_event& event, std::int64_t peer)
{
  const Key key{event.object, peer, event.tag};
  const bool sends = event.kind == UMW_EVENT_SEND;
  const std::uint64_t place = sends ? sent_[key]++ : place_of_receive(event, key);
  std::uint64_t hash = mixed(event.object, static_cast<std::uint64_t>(sends ? rank_ : peer));
  hash = mixed(hash, static_cast<std::uint64_t>(sends ? peer : rank_));
  hash = mixed(mixed(hash, static_cast<std::uint32_t>(event.tag)), place);
  return hash | std::uint64_t{1} << 63;
}

} // namespace umwelt::observe
