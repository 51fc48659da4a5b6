// SPDX-License-Identifier: LGPL-2.1-or-later
// Which receive a send belongs to, seen from one side alone: messages between two ranks with the same communicator and
// tag do not overtake each other, so the n-th that is sent is the n-th that is received, in the order in which the
// receives were begun. Both sides come to the same number, without either having to be kept.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "preload/abi/mpi_events.h"

namespace umwelt::observe
{

class MessageMatches
{
public:
  // Records of this rank of the run follow; all of them, in order.
  void begin(std::uint32_t rank);
  void receive_begun(const umw_event& event);
  void receive_cancelled(const umw_event& event) { begun_.erase(event.request); }
  // Of a message that is sent to, or received from, rank `peer` of the run; its highest bit is set. Each once.
  std::uint64_t number(const umw_event& event, std::int64_t peer);

private:
  // Communicator, rank of the run, tag.
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int32_t>;
  struct Taken {
    std::uint64_t all_below = 0;
    std::set<std::uint64_t> above;
  };
  struct Begun {
    std::uint32_t communicator;
    std::int32_t from, tag; // as told: rank of the communicator
  };
  std::uint64_t place_of_receive(const umw_event& event, const Key& key);

  std::int64_t rank_ = 0;
  std::map<Key, std::uint64_t> sent_;
  std::map<Key, Taken> received_;
  std::map<std::uint64_t, Begun> begun_; // by request
};

} // namespace umwelt::observe
