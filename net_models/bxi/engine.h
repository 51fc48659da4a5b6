// SPDX-License-Identifier: LGPL-2.1-or-later
// What a NIC does for its host goes through one engine: commands in, events and counts out. A batch of Puts with two
// events each takes as much longer than one of Gets with one event as a single event takes, however little the host has
// to do. Events never wait for commands, since the network behind them would have to wait, too; commands wait for
// events.
#pragma once

#include <algorithm>

#include "runtime/base/time.h"

namespace umwelt::net
{

class BxiEngine
{
public:
  // When a command has been taken in that was there at `ready` and keeps the engine for `duration`: the start, which
  // may lie in the past, as the NIC works ahead of the commands that leave.
  sim::SimTime take_in(sim::SimTime now, sim::SimTime ready, sim::SimTime duration)
  {
    sim::SimTime start = std::max(ready, commands_free_);
    if (ready > now) // those that wait have been pushed back already
      start = std::max(start, events_free_);
    commands_free_ = start + duration;
    return start;
  }

  // When an event has been written that was caused at `ready`. `waiting`: so are commands, which it pushes back.
  sim::SimTime write(sim::SimTime ready, sim::SimTime duration, bool waiting)
  {
    const sim::SimTime start = std::max(ready, events_free_);
    events_free_ = start + duration;
    if (waiting || commands_free_ > start)
      commands_free_ += duration;
    return events_free_;
  }

  [[nodiscard]] sim::SimTime events_free() const { return events_free_; }

private:
  sim::SimTime events_free_ = 0;
  sim::SimTime commands_free_ = 0;
};

} // namespace umwelt::net
