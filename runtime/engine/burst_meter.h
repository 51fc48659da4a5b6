// SPDX-License-Identifier: LGPL-2.1-or-later
// CPU time of short bursts. The time stamp counter is read at both ends (about 10 ns each); the thread's CPU clock, a
// system call, only for bursts long enough to have been interrupted by the kernel, to take out what the thread did
// not run. What the kernel's timer has interrupted them for is taken out, too (timer_ticks.h).
//
// The kernel may take the processor away anywhere, also between the two reads and inside the second. The CPU clock
// stands still meanwhile, so what it says belongs to a time stamp before it and to one behind it alike: the one before
// closes what is measured, the one behind opens what comes next, and what was lost in between is in neither. What was
// lost between two bursts is no matter for the second: whenever that has taken so long that something can have been
// lost, the CPU clock is read as the burst begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/base/time.h"
#include "runtime/engine/timer_ticks.h"

namespace umwelt::engine
{

// `Clocks` has ticks(), the time stamp counter, cpu_ns(), the calling thread's CPU time, and monotonic_ns(),
// CLOCK_MONOTONIC.
template <class Clocks> class MeterOn
{
public:
  MeterOn(Clocks clocks, double ps_per_tick, const TimerTicks& timer_ticks = {})
      : clocks_(clocks), ps_per_tick_(ps_per_tick), timer_ticks_(timer_ticks),
        correction_ticks_(static_cast<std::uint64_t>(shortest_preemption / ps_per_tick)),
        oldest_ticks_(static_cast<std::uint64_t>(oldest_look / ps_per_tick))
  {
    look();
  }

  [[nodiscard]] double ps_per_tick() const { return ps_per_tick_; }
  // Bursts beyond this many ticks are corrected.
  [[nodiscard]] std::uint64_t correction_ticks() const { return correction_ticks_; }

  // A burst begins now: the ticks to give to measure().
  std::uint64_t begin()
  {
    const std::uint64_t now = clocks_.ticks();
    if (now - last_end_ > correction_ticks_ || now - opened_ > oldest_ticks_) [[unlikely]] {
      look();
      return opened_;
    }
    return now;
  }

  // CPU time of the burst that began at `begin` ticks and ends now. It may have begun later than begin() said: what
  // lies between, and between bursts, is not the program's.
  sim::SimTime measure(std::uint64_t begin)
  {
    const std::uint64_t end = clocks_.ticks();
    last_end_ = end;
    const Span before = std::exchange(earlier_, {});
    if (begin >= end) // counters of two cores may differ by a little
      return 0;
    const double burst = picoseconds(end - begin);
    if (end - begin < correction_ticks_)
      return static_cast<sim::SimTime>(burst);
    const double interrupted = timer_ticks(burst);
    const Span all = before + close(end);
    const double away = all.wall - all.cpu;
    if (away <= margin(all.wall))
      return static_cast<sim::SimTime>(std::max(burst - interrupted, 0.0));
    // Some was lost elsewhere, in pieces too short to be looked at: the burst has its share.
    const double share = burst * std::max(all.cpu, 0.0) / all.wall;
    const double ran = away < burst ? burst - away : share;
    return static_cast<sim::SimTime>(std::max(ran - interrupted * (ran / burst), 0.0));
  }

  // What has gone by since `pause`, in the middle of the burst that began at `begin`, is not the program's. Returns
  // what the burst's begin is to be from now on: now at the latest, if it began in the pause, or was put off because of
  // what led to it (TrapCost).
  std::uint64_t exclude(std::uint64_t begin, std::uint64_t pause)
  {
    const std::uint64_t end = clocks_.ticks();
    if (end - pause < correction_ticks_)
      return std::min(begin + (end - pause), end);
    last_end_ = end;
    const Span before = earlier_;
    const Span all = before + close(end);
    const double paused = std::min(picoseconds(end - pause), all.wall);
    const double away = std::max(all.wall - all.cpu - paused, 0.0); // the rest was lost in the pause
    earlier_ = {all.wall - paused, all.wall - paused - away};
    return std::min(begin + (opened_ - pause), opened_);
  }

private:
  static constexpr double shortest_preemption = 20e6; // ps; the kernel's shortest time slice is far above
  static constexpr double oldest_look = 200e6;        // ps; a thousand times what a look costs

  struct Span { // ps
    double wall = 0;
    double cpu = 0;
    friend Span operator+(Span a, Span b) { return {a.wall + b.wall, a.cpu + b.cpu}; }
  };

  [[nodiscard]] double picoseconds(std::uint64_t ticks) const { return static_cast<double>(ticks) * ps_per_tick_; }
  // What reading the clocks costs, and the error of the frequency.
  [[nodiscard]] static double margin(double wall) { return 2e6 + wall * 1e-4; }

  // What the kernel's timer has taken of a burst that ends now.
  double timer_ticks(double burst)
  {
    if (timer_ticks_.period <= 0)
      return 0;
    const double now = static_cast<double>(clocks_.monotonic_ns()) * 1000;
    return timer_ticks_.between(now - burst, now);
  }
  // From the last look to `end`, which was a moment ago.
  Span close(std::uint64_t end)
  {
    const std::uint64_t ticks = opened_;
    const std::int64_t cpu = cpu_ns_;
    look();
    return {picoseconds(end - ticks), static_cast<double>(cpu_ns_ - cpu) * 1000};
  }
  void look()
  {
    cpu_ns_ = clocks_.cpu_ns();
    last_end_ = opened_ = clocks_.ticks();
  }

  Clocks clocks_;
  double ps_per_tick_;
  TimerTicks timer_ticks_;
  std::uint64_t correction_ticks_;
  std::uint64_t oldest_ticks_;
  std::uint64_t opened_ = 0; // just after the CPU clock was last read
  std::int64_t cpu_ns_ = 0;  // and what it said
  Span earlier_;             // of the burst under way, before that
  std::uint64_t last_end_ = 0;
};

struct MachineClocks {
  [[nodiscard]] static std::uint64_t ticks() { return __builtin_ia32_rdtsc(); }
  [[nodiscard]] static std::int64_t cpu_ns();
  [[nodiscard]] static std::int64_t monotonic_ns();
};

class BurstMeter : public MeterOn<MachineClocks>
{
public:
  BurstMeter(); // measures the counter's frequency and what the timer costs, which takes some 30 ms

  [[nodiscard]] static std::uint64_t ticks() { return MachineClocks::ticks(); }
  // CPU time of the calling thread, ps.
  [[nodiscard]] static sim::SimTime cpu() { return MachineClocks::cpu_ns() * sim::nanosecond; }
};

} // namespace umwelt::engine
