// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/format.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace umwelt::observe
{
namespace
{

// `value` in the largest unit that keeps it at 1 or above; each unit is `step` of the one before.
template <std::size_t count>
std::string scaled(double value, double step, const std::array<std::string_view, count>& units)
{
  std::size_t unit = 0;
  // Compared as it will be printed, so that 999.96 becomes 1.000 of the next unit.
  while (unit + 1 < count && std::abs(value) >= step * (1 - 5e-5)) {
    value /= step;
    ++unit;
  }
  const double magnitude = std::abs(value);
  const int decimals = magnitude >= 999.5 ? 0 : magnitude >= 99.95 ? 1 : magnitude >= 9.995 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

} // namespace

std::string show_time(sim::SimTime time)
{
  static constexpr std::array<std::string_view, 5> units{"ps", "ns", "us", "ms", "s"};
  if (time == 0)
    return "0";
  if (time < 1000 && time > -1000)
    return fmt::format("{} ps", time);
  return scaled(static_cast<double>(time), 1000, units);
}

std::string show_seconds(double seconds)
{
  if (seconds < 100)
    return fmt::format("{:.{}f} s", seconds, seconds < 9.995 ? 2 : 1);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string show_bytes(std::uint64_t bytes)
{
  static constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return bytes < 1024 ? fmt::format("{} B", bytes) : scaled(static_cast<double>(bytes), 1024, units);
}

std::string show_count(std::uint64_t number)
{
  static constexpr std::array<std::string_view, 5> units{"M", "G", "T", "P", "E"};
  return number < 1'000'000 ? fmt::format("{}", number) : scaled(static_cast<double>(number) * 1e-6, 1000, units);
}

std::string show_rate(double per_second)
{
  static constexpr std::array<std::string_view, 4> units{"/s", "k/s", "M/s", "G/s"};
  return std::isfinite(per_second) ? scaled(per_second, 1000, units) : "-";
}

} // namespace umwelt::observe
