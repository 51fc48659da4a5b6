// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/text.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace umwelt::tune
{

std::string bytes_text(std::uint64_t bytes)
{
  constexpr std::array<std::string_view, 4> units{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (bytes > 0 && bytes % 1024 == 0 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, units[unit]);
}

std::string time_text(std::int64_t ns)
{
  const auto value = static_cast<double>(ns);
  if (ns < 1'000'000)
    return fmt::format("{:.3f} us", value / 1e3);
  return ns < 1'000'000'000 ? fmt::format("{:.3f} ms", value / 1e6) : fmt::format("{:.3f} s", value / 1e9);
}

} // namespace umwelt::tune
