// SPDX-License-Identifier: LGPL-2.1-or-later
// CPU time of short bursts. The time stamp counter is read at both ends (about 10 ns each); the thread's CPU clock, a
// system call, only for bursts long enough to have been interrupted by the kernel, to take out what the thread did
// not run.
#pragma once

#include <cstdint>

#include "net_models/core/time.h"

namespace umwelt::engine
{

class BurstMeter
{
public:
  BurstMeter(); // measures the counter's frequency, which takes a few milliseconds

  [[nodiscard]] double ps_per_tick() const { return ps_per_tick_; }
  // Bursts beyond this many ticks are corrected.
  [[nodiscard]] std::uint64_t correction_ticks() const { return correction_ticks_; }
  [[nodiscard]] static std::uint64_t ticks() { return __builtin_ia32_rdtsc(); }

  // CPU time of the burst that began at `begin` ticks and ends now.
  sim::SimTime measure(std::uint64_t begin);

  // Time between the last burst and now, whatever the thread did in it, is no matter for correction.
  void skip();

private:
  double ps_per_tick_;
  std::uint64_t correction_ticks_;
  std::uint64_t last_ticks_ = 0; // when the CPU clock was last read
  std::int64_t last_cpu_ns_ = 0; // and what it said
};

} // namespace umwelt::engine
