// SPDX-License-Identifier: LGPL-2.1-or-later
// Random choices that depend on a seed and on indices alone.
#pragma once

#include <cstdint>

#include "runtime/base/mix.h"

namespace umwelt::platform
{

// One of 0 .. count-1, count > 0.
constexpr std::uint32_t draw(std::uint32_t count, std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                             std::uint64_t c = 0)
{
  using sim::splitmix;
  const std::uint64_t value = splitmix(splitmix(splitmix(splitmix(seed) ^ a) ^ b) ^ c);
  return static_cast<std::uint32_t>((value >> 32) * count >> 32);
}

} // namespace umwelt::platform
