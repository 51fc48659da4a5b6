// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/returns.h"

#include <cmath>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/model.h"

namespace umwelt::kernels
{
namespace
{

// The comma between the two arguments of "LOW, HIGH"; npos: there is not exactly one outside of parentheses.
std::size_t comma(std::string_view text)
{
  std::size_t found = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] != ',' || depth != 0)
      continue;
    if (found != std::string_view::npos)
      return std::string_view::npos;
    found = i;
  }
  return found;
}

} // namespace

Returns::Returns(std::string kernel, std::string_view text, std::span<const std::string> variables,
                 std::string_view object, std::string_view unknown, std::uint64_t seed)
    : kernel_(std::move(kernel)), names_(variables.begin(), variables.end()), key_(seed, kernel_, Purpose::result)
{
  constexpr std::string_view random = "random(";
  const auto add = [&](std::string_view part) {
    bounds_.emplace_back(part, variables, object, unknown);
    require_number(bounds_.back(), "a value to return");
  };
  if (!text.starts_with(random)) {
    add(text);
    return;
  }
  const std::string_view inner = text.substr(random.size(), text.size() - random.size() - 1);
  const std::size_t at = comma(inner);
  if (!text.ends_with(')') || at == std::string_view::npos)
    throw UsageError(object, "random(LOW, HIGH)", in_quotes(text), "For example: random(1, N)");
  add(inner.substr(0, at));
  add(inner.substr(at + 1));
}

double Returns::evaluate(const Place& place, std::span<const double> values, std::uint64_t call, bool integer) const
{
  const double low = bounds_.front().evaluate(values);
  if (!std::isfinite(low))
    refuse(bounds_.front(), low, values, "a finite value to return");
  if (bounds_.size() == 1)
    return low;
  const double high = bounds_.back().evaluate(values);
  if (!std::isfinite(high) || high < low)
    refuse(bounds_.back(), high, values, fmt::format("HIGH of random(LOW, HIGH) to be at least LOW, {:g}", low));
  const double number = Draws(key_, place.node, place.rank, call).uniform();
  if (!integer)
    return low + number * (high - low);
  return std::min(std::floor(low) + std::floor(number * (std::floor(high) - std::floor(low) + 1)), std::floor(high));
}

void Returns::refuse(const Expression& expression, double value, std::span<const double> values,
                     std::string_view expected) const
{
  const std::string with = assignments(names_, values, expression.used());
  throw UsageError(expression.object(), expected,
                   fmt::format("{:g} from {}{}", value, in_quotes(expression.text()),
                               with.empty() ? "" : fmt::format(" with {}", with)),
                   fmt::format("Kernel {} was called so. Correct the expression.", kernel_));
}

} // namespace umwelt::kernels
