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
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::job
{

class Lateness
{
public:
  // The rank is about to be blocked.
  void begin() { came_ = false; }
  // Rank `source` began at that time what has come for the rank at `now`.
  void came(sim::SimTime began, std::size_t source, sim::SimTime now);
  // What either of them began at that time has gone from the rank to `other`, or come as an answer.
  void exchanged(sim::SimTime began, std::size_t other, sim::SimTime now) { replace({other, now, now - began}); }
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
  std::array<Blocked, 16> kept_{}; // of the same wait, in order
  std::size_t count_ = 0;
  sim::SimTime latest_ = 0;
  struct Source {
    std::size_t rank;
    sim::SimTime last;    // went between both,
    sim::SimTime transit; // and took so long
  };
  // What it has been, as far as known.
  Source replace(const Source& source);

  std::vector<Source> sources_; // the last ones
  std::size_t oldest_ = 0;
  bool came_ = false;
  sim::SimTime total_ = 0;
};

} // namespace umwelt::job
