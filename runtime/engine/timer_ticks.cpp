// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/timer_ticks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <vector>

namespace umwelt::engine
{

namespace
{

constexpr double shortest = 4e6;       // ps; less need not be taken out
constexpr double longest = 150e6;      // ps; more is another process that runs
constexpr double window = 0.002;       // of a period: begins of ticks; other interrupts come anywhere
constexpr double again = 10e6;         // ps; what comes so soon after an interrupt is part of it
constexpr double watched_least = 25e9; // ps
constexpr double watched_most = 200e9;
constexpr double enough = 4; // periods
constexpr double seen = 0.6; // part of all ticks; others hit when another process ran

double picoseconds(clockid_t clock)
{
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e12 + static_cast<double>(now.tv_nsec) * 1e3;
}

double median(std::vector<double> values)
{
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// How far one phase lies behind another, from -0.5 to 0.5 of a period.
double behind(double phase, double other, double period)
{
  return std::remainder(phase - other, period);
}

} // namespace

double TimerTicks::between(double begin, double end) const
{
  if (period <= 0)
    return 0;
  const double ticks = std::floor((end - phase) / period) - std::floor((begin - phase) / period);
  if (ticks <= 0)
    return 0;
  const double since_last = end - phase - std::floor((end - phase) / period) * period;
  return (ticks - 1) * cost + std::min(since_last, cost);
}

TimerTicks ticks_among(std::span<const Gap> gaps, double period, double watched)
{
  std::vector<Gap> best;
  double begin = 0;
  for (const Gap& candidate : gaps) {
    std::vector<Gap> alike;
    for (const Gap& gap : gaps)
      if (std::abs(behind(gap.begin, candidate.begin, period)) <= window * period)
        alike.push_back(gap);
    if (alike.size() > best.size()) {
      best = std::move(alike);
      begin = candidate.begin;
    }
  }
  if (best.empty() || static_cast<double>(best.size()) < seen * watched / period)
    return {};
  std::vector<double> costs;
  std::vector<double> phases;
  for (const Gap& gap : best) {
    costs.push_back(gap.end - gap.begin);
    phases.push_back(behind(gap.begin, begin, period));
  }
  return {period, std::fmod(begin + median(phases) + period, period), median(costs)};
}

TimerTicks find_timer_ticks()
{
  timespec resolution{}; // clock_getres(2): that of the coarse clock is a tick
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) != 0)
    return {};
  const double period = static_cast<double>(resolution.tv_sec) * 1e12 + static_cast<double>(resolution.tv_nsec) * 1e3;
  std::vector<Gap> gaps;
  double ran = 0; // all but the time of other processes
  const double begin = picoseconds(CLOCK_MONOTONIC);
  for (double last = begin; ran < std::max(watched_least, enough * period) && last - begin < watched_most;) {
    const double now = picoseconds(CLOCK_MONOTONIC);
    if (now - last < longest)
      ran += now - last;
    if (now - last > shortest && now - last < longest) {
      if (!gaps.empty() && last - gaps.back().end < again)
        gaps.back().end = now;
      else
        gaps.push_back({last, now});
    }
    last = now;
  }
  return ticks_among(gaps, period, ran);
}

} // namespace umwelt::engine
