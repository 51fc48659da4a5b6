// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/what_if.h"

#include <string>

#include <fmt/format.h>

#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"

namespace umwelt::plan
{

namespace
{

// Beyond, times and rates are no longer ones of a machine, and sums of them leave simulated time.
constexpr double most_factor = 1e9;

double read_bounded(std::string_view option, std::string_view text)
{
  const double factor = read_factor(option, text);
  if (factor > most_factor || factor < 1 / most_factor)
    throw UsageError(option, fmt::format("a factor from {} to {}", 1 / most_factor, most_factor), in_quotes(text),
                     "Take one nearer to 1.");
  return factor;
}

} // namespace

platform::LinkFactor parse_link_factor(std::string_view option, std::string_view text)
{
  const std::size_t equals = text.rfind('='); // names of links may have one, numbers have none
  if (equals == std::string_view::npos)
    return {"", read_bounded(option, text)};
  const std::string_view links = text.substr(0, equals);
  if (links.empty())
    throw UsageError(option, "F, or CLASS=F for some links", in_quotes(text),
                     fmt::format("For example: {0} 0.5, or {0} 'leaf*=2'", option));
  return {std::string(links), read_bounded(fmt::format("{} {}", option, links), text.substr(equals + 1))};
}

double parse_compute_factor(std::string_view option, std::string_view text)
{
  return read_bounded(option, text);
}

void apply_factors(const RunOptions& options, platform::Platform& platform)
{
  platform::scale_links(platform, options.link_factors);
  platform.speed_up(options.compute_factor);
}

} // namespace umwelt::plan
