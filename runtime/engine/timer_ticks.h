// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel's periodic timer interrupt. It counts as CPU time of whoever runs, costs some 20 us in a virtual machine
// (each access to the timer leaves the machine) where it costs 1 or 2 elsewhere, and comes 250 times a second. With 16
// ranks that wait for each other in every collective, the one that it meets holds up all. It comes on a grid of
// CLOCK_MONOTONIC that all processors share (kernel/time/tick-sched.c: tick_setup_sched_timer()), so whether one lies
// within a burst is known afterwards.
#pragma once

#include <cstdint>
#include <span>

namespace umwelt::engine
{

struct TimerTicks {
  double period = 0; // ps; 0: none was found, or they cost next to nothing
  double phase = 0;  // of the begin of one, ps of CLOCK_MONOTONIC modulo the period
  double cost = 0;   // ps, median

  // What those have cost that began between, ps of CLOCK_MONOTONIC: no more than has gone by since.
  [[nodiscard]] double between(double begin, double end) const;
};

// A time in which a loop that looks at the clock all the time saw nothing, ps of CLOCK_MONOTONIC.
struct Gap {
  double begin = 0;
  double end = 0;
};

// Of what was seen of so many periods. Most gaps of a busy machine are none.
[[nodiscard]] TimerTicks ticks_among(std::span<const Gap> gaps, double period, double watched);
// Looks at this machine for some 25 ms, longer if it is busy or its ticks are rare.
[[nodiscard]] TimerTicks find_timer_ticks();

} // namespace umwelt::engine
