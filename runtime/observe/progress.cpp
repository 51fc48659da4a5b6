// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/progress.h"

#include <ctime>
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/observe/format.h"

namespace umwelt::observe
{

double monotonic_seconds()
{
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Progress::Progress(std::FILE* stream, WallClock clock, bool force)
    : stream_(stream), clock_(std::move(clock)), active_(force || isatty(fileno(stream)) == 1), started_(clock_()),
      shown_(started_)
{
}

Progress::~Progress()
{
  erase();
}

void Progress::update(sim::SimTime now, std::uint64_t events)
{
  if (!active_)
    return;
  const double wall = clock_();
  const double passed = wall - shown_;
  if (passed < period)
    return;
  const double simulated = sim::to_seconds(now - last_now_);
  const std::string slowdown =
      simulated > 0 ? fmt::format("slowdown {:.3g}", passed / simulated) : "simulated time stands still";
  show(fmt::format("umwelt: simulated {}   wall clock {}   {}   {} events, {}", show_time(now),
                   show_seconds(wall - started_), slowdown, show_count(events),
                   show_rate(static_cast<double>(events - last_events_) / passed)));
  shown_ = wall;
  last_now_ = now;
  last_events_ = events;
}

void Progress::starting(std::size_t begun, std::size_t all)
{
  if (!active_)
    return;
  const double wall = clock_();
  if (wall - shown_ < period)
    return;
  show(fmt::format("umwelt: {} of {} ranks have begun   wall clock {}", begun, all, show_seconds(wall - started_)));
  shown_ = wall;
}

void Progress::show(const std::string& line)
{
  // Carriage return, the line, "erase to the end of the line" (ECMA-48 EL) for what is left of a longer one before.
  const std::string text = "\r" + line + "\x1b[K";
  std::fwrite(text.data(), 1, text.size(), stream_);
  std::fflush(stream_);
  visible_ = true;
}

void Progress::erase()
{
  if (!visible_)
    return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  visible_ = false;
}

} // namespace umwelt::observe
