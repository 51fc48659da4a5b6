// SPDX-License-Identifier: LGPL-2.1-or-later
// One line on a terminal that tells how far the simulation is, rewritten in place at most twice a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "runtime/base/time.h"

namespace umwelt::observe
{

// Seconds of wall-clock time since any fixed moment, monotonic.
using WallClock = std::function<double()>;
double monotonic_seconds(); // a few ns; steps of the kernel's tick

class Progress
{
public:
  // Shows nothing if `stream` is not a terminal; `force` is for tests. Other writers to the terminal call erase()
  // first.
  explicit Progress(std::FILE* stream, WallClock clock = monotonic_seconds, bool force = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap when it is not yet time for the next line.
  void update(sim::SimTime now, std::uint64_t events);
  // The same while ranks are loaded, which takes a while with hundreds of them: so many of all have begun.
  void starting(std::size_t begun, std::size_t all);
  // Takes the line off the screen; the next update shows it again.
  void erase();
  [[nodiscard]] bool active() const { return active_; }

private:
  static constexpr double period = 0.5; // seconds

  void show(const std::string& line);

  std::FILE* stream_;
  WallClock clock_;
  bool active_;
  bool visible_ = false;
  double started_;
  double shown_; // when the line was last written; rates are those since then
  sim::SimTime last_now_ = 0;
  std::uint64_t last_events_ = 0;
};

} // namespace umwelt::observe
