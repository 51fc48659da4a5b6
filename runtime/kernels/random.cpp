// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/random.h"

#include "runtime/base/mix.h"

namespace umwelt::kernels
{
namespace
{

// FNV-1a, 64 bits (draft-eastlake-fnv).
std::uint64_t hash(std::string_view text)
{
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text)
    value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

} // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key)
{
  constexpr int rounds = 10;
  constexpr std::uint64_t multiplier0 = 0xd2511f53;
  constexpr std::uint64_t multiplier1 = 0xcd9e8d57;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product0 = multiplier0 * counter[0];
    const std::uint64_t product1 = multiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += 0x9e3779b9; // the golden ratio
    key[1] += 0xbb67ae85; // the square root of 3, less 1
  }
  return counter;
}

RandomKey::RandomKey(std::uint64_t seed, std::string_view kernel, Purpose purpose)
{
  using sim::mix;
  const std::uint64_t key = mix(mix(seed) ^ mix(hash(kernel) + static_cast<std::uint64_t>(purpose)));
  words_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

double Draws::uniform()
{
  // A block of Philox is two numbers.
  const std::uint32_t block = next_ / 2 & 0xffff;
  const auto words = philox4x32({static_cast<std::uint32_t>(index_),
                                 (static_cast<std::uint32_t>(index_ >> 32) & 0xffff) | block << 16, minor_, major_},
                                key_);
  const std::size_t half = next_++ % 2 * 2;
  const std::uint64_t bits = words[half] | static_cast<std::uint64_t>(words[half + 1]) << 32;
  // In the middle of its interval of 2^-53, so that neither 0 nor 1 comes, where quantiles are infinite. The largest
  // would round to 1 and is a little less instead.
  constexpr double below_one = 1 - 0x1p-53;
  const double number = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  return number < 1 ? number : below_one;
}

} // namespace umwelt::kernels
