// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/shape.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/parameters.h"

namespace umwelt::platform
{

std::string shape_text(const Shape& shape)
{
  return fmt::format("{}", fmt::join(shape, "x"));
}

void check_range(const std::string& object, std::string_view key, std::uint64_t value, std::uint64_t least,
                 std::uint64_t most)
{
  if (value < least || value > most)
    throw std::invalid_argument(fmt::format("{}: parameter {}: expected {} to {}, got {}. Correct the value.", object,
                                            key, least, most, value));
}

Shape parse_shape(const std::string& object, std::string_view key, std::string_view text, std::uint32_t least)
{
  Shape shape;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const auto end = rest.find('x');
    more = end != std::string_view::npos;
    std::uint64_t value = 0;
    if (!parse_count(rest.substr(0, end), value) || value < least || value > most_nodes)
      throw std::invalid_argument(
          fmt::format("{}: parameter {}: expected numbers from {} on with an x between them (4x4x8), got '{}'. Correct "
                      "the value.",
                      object, key, least, text));
    shape.push_back(static_cast<std::uint32_t>(value));
    if (more)
      rest.remove_prefix(end + 1);
  }
  return shape;
}

void check_size(const std::string& object, std::uint64_t nodes, std::uint64_t cables)
{
  const auto count = [](std::uint64_t value) {
    return value == ~std::uint64_t{0} ? "more than 64 bits can count" : fmt::format("{}", value);
  };
  if (nodes > most_nodes)
    throw std::invalid_argument(
        fmt::format("{}: expected at most {} nodes, as many as have an address in 10.0.0.0/8, got {}. Make it smaller.",
                    object, most_nodes, count(nodes)));
  if (cables > most_cables)
    throw std::invalid_argument(
        fmt::format("{}: expected at most {} cables, got {}. Make it smaller.", object, most_cables, count(cables)));
}

} // namespace umwelt::platform
