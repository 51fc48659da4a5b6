// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"

namespace umwelt
{
namespace
{

// The number at the beginning of `text`, which is moved behind it.
template <typename Number> std::optional<Number> take_number(std::string_view& text)
{
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{})
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

} // namespace

std::uint64_t read_count(std::string_view option, std::string_view text, std::string_view what, std::uint64_t least,
                         std::uint64_t most)
{
  std::string_view rest = text;
  const auto number = take_number<std::uint64_t>(rest);
  if (!number || !rest.empty() || *number < least || *number > most)
    throw UsageError(option, fmt::format("{} between {} and {}", what, least, most), in_quotes(text),
                     fmt::format("Give a whole number, for example {}.", std::max<std::uint64_t>(least, 1)));
  return *number;
}

double read_factor(std::string_view option, std::string_view text)
{
  std::string_view rest = text;
  const auto number = take_number<double>(rest);
  if (!number || !rest.empty() || !std::isfinite(*number) || *number <= 0)
    throw UsageError(option, "a number greater than 0", in_quotes(text), "For example: 1.5");
  return *number;
}

sim::SimTime read_duration(std::string_view option, std::string_view text)
{
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array<Unit, 5> units{{{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};

  std::string_view rest = text;
  const auto number = take_number<double>(rest);
  if (number && std::isfinite(*number) && *number >= 0) {
    while (!rest.empty() && rest.front() == ' ')
      rest.remove_prefix(1);
    if (rest.empty() && *number == 0)
      return 0;
    for (const Unit& unit : units) {
      if (rest == unit.name)
        return sim::from_seconds(*number * unit.seconds);
    }
  }
  throw UsageError(option, "a duration: a number and one of ps, ns, us, ms, s", in_quotes(text),
                   "For example: 500ns or 2us");
}

std::uint64_t read_size(std::string_view option, std::string_view text)
{
  std::uint64_t bytes = 0;
  if (!parse_size(text, bytes) || bytes == 0)
    throw UsageError(option, "a size: a number and one of B, KiB, MiB, GiB, kB, MB, GB", in_quotes(text),
                     "For example: 64MiB");
  return bytes;
}

std::pair<std::string, std::string> read_assignment(std::string_view option, std::string_view text)
{
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw UsageError(option, "KEY=VALUE", in_quotes(text),
                     "Write the key, '=' and the value without blanks around '='.");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

} // namespace umwelt
