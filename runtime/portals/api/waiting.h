// SPDX-License-Identifier: LGPL-2.1-or-later
// How the functions of the interface wait, poll and pay.
#pragma once

#include "net_models/core/model.h"
#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::portals
{

// Time at which a time-out given now ends.
inline sim::SimTime deadline_of(const Process& process, ptl_time_t timeout)
{
  return timeout == PTL_TIME_FOREVER ? sim::never : process.fabric().host().now(process) + timeout * sim::millisecond;
}

// The program got what it asked for; taking it costs the host time.
inline void took(Process& process, sim::SimTime cost)
{
  Host& host = process.fabric().host();
  host.productive_poll(process);
  if (cost > 0)
    host.spend(process, cost);
}

// PtlEQGet and polls without time-out: look(), and once more if the host says that something may have changed.
template <class Look> bool look_twice(Process& process, Look&& look)
{
  return look() || (process.fabric().host().empty_poll(process) && look());
}

enum class Outcome { found, timed_out, ended };

// Calls look() until it is true, the deadline passes, PtlAbort is called or the process ends.
template <class Look> Outcome wait_for(Process& process, sim::SimTime deadline, Look&& look)
{
  for (;;) {
    if (!process.initialised() || process.aborted())
      return Outcome::ended;
    if (look())
      return Outcome::found;
    if (process.fabric().timeline().now() >= deadline)
      return Outcome::timed_out;
    process.fabric().host().wait(process, deadline);
  }
}

// Waits until messages have let go of an object: busy() is false. Also ends with the process.
template <class Busy> void wait_while(Process& process, Busy&& busy)
{
  while (busy()) {
    ++process.waiting_for_objects;
    process.fabric().host().wait(process, sim::never);
    --process.waiting_for_objects;
  }
}

} // namespace umwelt::portals
