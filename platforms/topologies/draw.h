// SPDX-License-Identifier: LGPL-2.1-or-later
// Random numbers that depend on a seed and on indices alone, never on who asked before (the finaliser of S. Vigna's
// splitmix64, as in G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
#pragma once

#include <cstdint>

namespace umwelt::platform
{

constexpr std::uint64_t mix(std::uint64_t value)
{
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// One of 0 .. count-1, count > 0.
constexpr std::uint32_t draw(std::uint32_t count, std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                             std::uint64_t c = 0)
{
  const std::uint64_t value = mix(mix(mix(mix(seed) ^ a) ^ b) ^ c);
  return static_cast<std::uint32_t>((value >> 32) * count >> 32);
}

} // namespace umwelt::platform
