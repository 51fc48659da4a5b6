// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/break_points.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "preload/abi/mpi_calls.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"

namespace umwelt::plan
{
namespace
{

constexpr std::string_view example = "For example: --break rank=2:MPI_Recv:10";

} // namespace

BreakPoint parse_break(std::string_view option, std::string_view text)
{
  constexpr std::string_view prefix = "rank=";
  const std::size_t colon = text.find(':');
  if (!text.starts_with(prefix) || colon == std::string_view::npos)
    throw UsageError(option, "rank=R:FUNCTION or rank=R:FUNCTION:N", in_quotes(text), example);
  BreakPoint point;
  point.text = fmt::format("{} {}", option, text);
  point.rank =
      static_cast<std::uint32_t>(read_count(option, std::string(text.substr(prefix.size(), colon - prefix.size())),
                                            "a rank", 0, std::numeric_limits<std::uint32_t>::max()));
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t second = rest.find(':');
  point.function = read_function(option, rest.substr(0, second));
  if (second != std::string_view::npos)
    point.count = read_count(option, std::string(rest.substr(second + 1)), "the number of a call, from 1 on", 1,
                             std::numeric_limits<std::uint64_t>::max());
  return point;
}

std::vector<BreakPoint> plan_breaks(std::vector<BreakPoint> breaks, std::size_t ranks, RegionFunctions& functions)
{
  for (BreakPoint& point : breaks) {
    if (point.rank >= ranks)
      throw UsageError(point.text, fmt::format("a rank below {}, the number of ranks", ranks),
                       fmt::format("{}", point.rank), "Ranks are counted from 0.");
    point.number = functions.number_of(point.function);
  }
  return breaks;
}

bool has_mpi(const std::vector<BreakPoint>& breaks)
{
  return std::any_of(breaks.begin(), breaks.end(),
                     [](const BreakPoint& point) { return point.number < UMW_MPI_FUNCTIONS; });
}

} // namespace umwelt::plan
