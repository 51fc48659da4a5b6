// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/what_if.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

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

platform::LinkFailure parse_fault(std::string_view option, std::string_view text)
{
  constexpr std::string_view link = "link=";
  constexpr std::string_view example = "For example: --fault 'link=leaf0 to spine1:at=1ms:for=200us'";
  const auto wrong = [&](std::string_view expected, std::string_view got) {
    return UsageError(option, expected, in_quotes(got), example);
  };
  platform::LinkFailure failure;
  std::optional<sim::SimTime> at;
  std::optional<sim::SimTime> length;
  std::string_view rest = text;
  // From the end, since names of links may have colons.
  for (std::size_t colon = rest.rfind(':'); colon != std::string_view::npos; colon = rest.rfind(':')) {
    const std::string_view item = rest.substr(colon + 1);
    const std::string_view key = item.substr(0, item.find('='));
    const bool begins = key == "at";
    if (!item.starts_with("at=") && !item.starts_with("for=")) {
      if (at || length)
        break; // part of the name
      throw wrong("at=TIME or for=TIME behind the link", item);
    }
    std::optional<sim::SimTime>& time = begins ? at : length;
    if (time)
      throw wrong(fmt::format("{}= once", key), text);
    time = read_duration(fmt::format("{} {}", option, key), item.substr(key.size() + 1));
    rest = rest.substr(0, colon);
  }
  if (!rest.starts_with(link) || rest.size() == link.size())
    throw wrong("link=GLOB:at=TIME:for=TIME", text);
  if (!at)
    throw wrong("at=TIME, when the link fails", text);
  if (length == 0)
    throw wrong("for=TIME above 0, how long it is away", text);
  failure.links = rest.substr(link.size());
  failure.at = *at;
  failure.length = length.value_or(sim::never);
  failure.text = fmt::format("{} {}", option, text);
  return failure;
}

void apply_factors(const RunOptions& options, platform::Platform& platform)
{
  platform::scale_links(platform, options.link_factors);
  platform.speed_up(options.compute_factor);
}

std::unique_ptr<platform::LinkFailures> make_failures(const RunOptions& options, const platform::Platform& platform,
                                                      const Placement& placement)
{
  if (options.faults.empty() && platform.outages().empty())
    return nullptr;
  std::set<platform::NodeIndex> nodes;
  for (const RankPlace& place : placement.ranks)
    nodes.insert(place.node);
  auto failures = std::make_unique<platform::LinkFailures>(platform, options.faults);
  failures->check(std::vector<platform::NodeIndex>(nodes.begin(), nodes.end()));
  return failures;
}

} // namespace umwelt::plan
