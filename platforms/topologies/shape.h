// SPDX-License-Identifier: LGPL-2.1-or-later
// Lists of sizes in parameters ("4x4x8"), and how large a network may be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace umwelt::platform
{

using Shape = std::vector<std::uint32_t>;

// Node n has the address 10.0.0.1 + n of 10.0.0.0/8, whose last is for all.
inline constexpr std::uint64_t most_nodes = (1UL << 24) - 2;
// Far above any machine; keeps a slip of the keyboard from eating the memory.
inline constexpr std::uint64_t most_cables = 4'000'000;
inline constexpr std::uint64_t most_ports = 4096;

// All throw std::invalid_argument, with `object` ("platform torus") in front.
Shape parse_shape(const std::string& object, std::string_view key, std::string_view text, std::uint32_t least);
void check_range(const std::string& object, std::string_view key, std::uint64_t value, std::uint64_t least,
                 std::uint64_t most);
// Products that do not fit into 64 bits are given as the largest number.
void check_size(const std::string& object, std::uint64_t nodes, std::uint64_t cables);

// The same as a * b, but the largest number instead of an overflow.
constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b)
{
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}

std::string shape_text(const Shape& shape);

} // namespace umwelt::platform
