// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/bxi/faults.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "runtime/base/parameters.h"

namespace umwelt::net
{

namespace
{

// Calls `item` for each part of a list separated by ';'.
template <class F> void each_item(std::string_view list, F item)
{
  while (!list.empty()) {
    const auto semicolon = list.find(';');
    item(list.substr(0, semicolon));
    list = semicolon == std::string_view::npos ? std::string_view{} : list.substr(semicolon + 1);
  }
}

bool is_on(const std::string& pattern, std::string_view link)
{
  return pattern == "*" || pattern == link;
}

} // namespace

std::vector<BxiFaults::Probability> BxiFaults::read_probabilities(std::string_view key, std::string_view list)
{
  std::vector<Probability> result;
  each_item(list, [&](std::string_view item) {
    const auto colon = item.rfind(':');
    Probability entry;
    if (colon == std::string_view::npos || colon == 0 || !parse_fraction(item.substr(colon + 1), entry.value))
      throw std::invalid_argument(
          fmt::format("parameter {} of model bxi: expected LINK:probability, separated by ';' (bxi0 "
                      "up:0.01), got '{}'. Correct the list.",
                      key, item));
    entry.link = item.substr(0, colon);
    result.push_back(std::move(entry));
  });
  return result;
}

std::vector<BxiFaults::Interval> BxiFaults::read_intervals(std::string_view list)
{
  std::vector<Interval> result;
  each_item(list, [&](std::string_view item) {
    const auto at = item.rfind('@');
    const auto dash = at == std::string_view::npos ? at : item.find('-', at);
    Interval entry;
    if (dash == std::string_view::npos || at == 0 || !parse_time(item.substr(at + 1, dash - at - 1), entry.from) ||
        !parse_time(item.substr(dash + 1), entry.to) || entry.to <= entry.from)
      throw std::invalid_argument(
          fmt::format("parameter down of model bxi: expected LINK@from-to, separated by ';' (bxi0 "
                      "up@10us-20us), got '{}'. Correct the list.",
                      item));
    entry.link = item.substr(0, at);
    result.push_back(std::move(entry));
  });
  return result;
}

BxiFaults::BxiFaults(const BxiParameters& parameters)
    : drop_(parameters.drop), corrupt_(parameters.corrupt), drop_on_(read_probabilities("drop_on", parameters.drop_on)),
      corrupt_on_(read_probabilities("corrupt_on", parameters.corrupt_on)), down_(read_intervals(parameters.down)),
      any_(drop_ > 0 || corrupt_ > 0 || !drop_on_.empty() || !corrupt_on_.empty() || !down_.empty()),
      random_(parameters.seed)
{
}

BxiFaults::LinkFaults BxiFaults::on(std::string_view link) const
{
  LinkFaults faults{drop_, corrupt_, {}};
  for (const Probability& entry : drop_on_)
    if (is_on(entry.link, link))
      faults.drop = entry.value;
  for (const Probability& entry : corrupt_on_)
    if (is_on(entry.link, link))
      faults.corrupt = entry.value;
  for (const Interval& entry : down_)
    if (is_on(entry.link, link))
      faults.down.emplace_back(entry.from, entry.to);
  return faults;
}

bool BxiFaults::chance(double probability)
{
  // 53 random bits: the same on every platform, which std::uniform_real_distribution does not promise.
  return probability > 0 && static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
}

BxiFaults::Outcome BxiFaults::cross(const LinkFaults& link, sim::SimTime when)
{
  const auto covers = [when](const auto& interval) { return when >= interval.first && when < interval.second; };
  if (std::any_of(link.down.begin(), link.down.end(), covers) || chance(link.drop))
    return Outcome::lost;
  return chance(link.corrupt) ? Outcome::corrupted : Outcome::passes;
}

BxiLinkFaults::Outcome BxiLinkFaults::cross(platform::LinkIndex link, sim::SimTime when)
{
  while (links_.size() <= link)
    links_.push_back(faults_.on(platform_.link(static_cast<platform::LinkIndex>(links_.size())).name));
  return faults_.cross(links_[link], when);
}

} // namespace umwelt::net
