// SPDX-License-Identifier: LGPL-2.1-or-later
// How late others were: of the time that a rank was blocked, what had gone by before somebody had begun what it waited
// for - the send of a message, the fetch of one, a store to memory that both share. The rest is on the way: the
// network, the NICs, the queues in front of them.
//
// Who waits looks again now and then, and only the message that comes in the end tells when it began. So times that
// ended with nothing are kept until something comes, unless the rank has computed since: then it was not that which it
// waited for.
//
// A long message comes in pieces, each of which begins when there is room for it, or when it is known that the last one
// has come; and who answers can do so only when it has what it answers to. So after something has gone between two
// ranks, in either direction, three times of what that was on its way have to go by, and some microseconds, before one
// of them is late for the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::job
{

// What has gone between two ranks last. In one table for all pairs, where each message needs a line of the cache, for
// both of its ends.
class Exchanges
{
public:
  struct Exchange {
    sim::SimTime last = -sim::never;
    sim::SimTime transit = 0; // it took so long
  };
  explicit Exchanges(std::size_t ranks);

  // What either of them began at that time has come to the other. Returns what went before that, as far as known.
  Exchange replace(std::size_t one, std::size_t other, sim::SimTime began, sim::SimTime now);

private:
  struct Entry {
    std::uint32_t low = 0; // its rank, from 1 on; 0: nothing
    std::uint32_t high = 0;
    Exchange exchange;
  };
  std::vector<Entry> entries_; // by a hash of both; a later pair takes the place of an earlier one
};

class Lateness
{
public:
  // The rank is about to be blocked.
  void begin() { came_ = false; }
  // Another rank began at that time what has come for this one; `before`: what had gone between both.
  void came(sim::SimTime began, const Exchanges::Exchange& before);
  // Something has happened that the rank waits for, and that follows from what it did itself.
  void progress()
  {
    if (!came_)
      latest_ = 0;
    came_ = true;
  }
  // It was blocked in between.
  void end(sim::SimTime from, sim::SimTime until);

  [[nodiscard]] sim::SimTime total() const { return total_; }

private:
  struct Blocked {
    sim::SimTime from, until;
  };
  // Together with the first of kept_ in a line of the cache: most waits have one look.
  std::size_t count_ = 0;
  sim::SimTime latest_ = 0;
  bool came_ = false;
  sim::SimTime total_ = 0;
  std::array<Blocked, 16> kept_{}; // of the same wait, in order
};

} // namespace umwelt::job
