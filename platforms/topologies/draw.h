// SPDX-License-Identifier: LGPL-2.1-or-later
// Random choices that depend on a seed and on indices alone.
#pragma once

#include <cstdint>

#include "runtime/base/mix.h"

namespace umwelt::platform
{

constexpr std::uint32_t random_bits(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c = 0)
{
  using sim::splitmix;
  return static_cast<std::uint32_t>(splitmix(splitmix(splitmix(splitmix(seed) ^ a) ^ b) ^ c) >> 32);
}

// One of 0 .. count-1, count > 0.
constexpr std::uint32_t scaled(std::uint32_t bits, std::uint32_t count)
{
  return static_cast<std::uint32_t>(std::uint64_t{bits} * count >> 32);
}
constexpr std::uint32_t draw(std::uint32_t count, std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                             std::uint64_t c = 0)
{
  return scaled(random_bits(seed, a, b, c), count);
}

} // namespace umwelt::platform
