// SPDX-License-Identifier: LGPL-2.1-or-later
// One direction of a bus inside a node: something that carries one packet at a time. Users book it first come, first
// served; there are no flows and no solver, a booking costs a few instructions. (Links between nodes are shared by
// packets: bxi/fabric.h.)
//
// Hardware arbitrates packet by packet, so a message of a single packet never waits for the whole of a long message
// ahead of it: it slips in between two of its packets. That is modelled by two lanes. A short message waits for the
// shorts before it and for half a packet of the long one in progress (the average residue), and pushes the end of the
// long lane back by its own duration. Long messages follow each other whole; their last bytes leave at the same time as
// if their packets were interleaved, only the first of them finishes earlier than it would.
#pragma once

#include <algorithm>

#include "runtime/base/time.h"

namespace umwelt::sim
{

class Pipe
{
public:
  // Start of a message of one packet that could start at `ready`. `packet` is the time of a full packet.
  SimTime book_short(SimTime ready, SimTime duration, SimTime packet)
  {
    SimTime start = std::max(ready, short_free_);
    if (long_free_ > start) {
      start += std::min(long_free_ - start, packet / 2);
      long_free_ += duration;
    }
    short_free_ = start + duration;
    return start;
  }
  // Start of a message of several packets.
  SimTime book_long(SimTime ready, SimTime duration)
  {
    const SimTime start = std::max({ready, short_free_, long_free_});
    long_free_ = start + duration;
    return start;
  }

private:
  SimTime short_free_ = 0;
  SimTime long_free_ = 0;
};

} // namespace umwelt::sim
