// SPDX-License-Identifier: LGPL-2.1-or-later
// Simulated time: a signed 64-bit count of picoseconds (range +-106 days), so that sums are exact and two
// runs compare bit by bit; doubles would make the result depend on the order of additions.
#pragma once

#include <cstdint>
#include <limits>

namespace umwelt::sim
{

using SimTime = std::int64_t; // picoseconds

inline constexpr SimTime picosecond = 1;
inline constexpr SimTime nanosecond = 1'000;
inline constexpr SimTime microsecond = 1'000'000;
inline constexpr SimTime millisecond = 1'000'000'000;
inline constexpr SimTime second = 1'000'000'000'000;
inline constexpr SimTime never = std::numeric_limits<SimTime>::max();

constexpr double to_seconds(SimTime t)
{
  return static_cast<double>(t) * 1e-12;
}
constexpr double to_microseconds(SimTime t)
{
  return static_cast<double>(t) * 1e-6;
}

// Rounds to the nearest picosecond; values beyond the range become `never`.
constexpr SimTime from_seconds(double s)
{
  const double ps = s * 1e12;
  return ps >= 9.2e18 ? never : static_cast<SimTime>(ps < 0 ? ps - 0.5 : ps + 0.5);
}

// Time to move `bytes` at `bytes_per_second`.
constexpr SimTime transfer_time(std::uint64_t bytes, double bytes_per_second)
{
  return from_seconds(static_cast<double>(bytes) / bytes_per_second);
}

} // namespace umwelt::sim
