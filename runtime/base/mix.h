// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers that look random and depend on their arguments alone, never on who asked before (S. Vigna's splitmix64; G.
// Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
#pragma once

#include <cstdint>

namespace umwelt::sim
{

constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15; // by which splitmix64 counts on

// Its finaliser: a bijection in which each bit of the argument changes half of the result's.
constexpr std::uint64_t mix(std::uint64_t value)
{
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// Its first number after the state `value`.
constexpr std::uint64_t splitmix(std::uint64_t value)
{
  return mix(value + golden_ratio);
}

} // namespace umwelt::sim
