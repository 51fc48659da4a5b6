// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/analysis/route_check.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "platforms/network.h"

namespace umwelt::platform
{

std::vector<Step> steps(const Platform& platform, NodeIndex from, NodeIndex to)
{
  std::vector<Step> result;
  if (from == to)
    return result;
  if (const Network* network = platform.network())
    for (const Hop& hop : network->topology->route(from, to))
      result.push_back({hop.channel, hop.virtual_channel});
  else
    for (const LinkIndex link : platform.route(from, to).links)
      result.push_back({link, 0});
  return result;
}

std::string link_name(const Platform& platform, std::uint32_t link)
{
  const Network* network = platform.network();
  return network != nullptr ? network->topology->channel_name(link, network->prefix) : platform.link(link).name;
}

namespace
{

class Dependencies
{
public:
  void add(const std::vector<Step>& route)
  {
    for (std::size_t i = 0; i < route.size(); ++i) {
      const std::uint32_t here = number(route[i]);
      if (i > 0 && edges_.insert(static_cast<std::uint64_t>(last_) << 32 | here).second)
        next_[last_].push_back(here);
      last_ = here;
    }
  }

  // Depth first; a way back to where the search still is closes a circle.
  std::vector<Step> cycle() const
  {
    enum class Seen : std::uint8_t { no, open, done };
    struct Place {
      std::uint32_t at;
      std::size_t tried;
    };
    std::vector<Seen> seen(steps_.size(), Seen::no);
    std::vector<Place> way;
    for (std::uint32_t start = 0; start < steps_.size(); ++start) {
      if (seen[start] != Seen::no)
        continue;
      seen[start] = Seen::open;
      way.assign(1, {start, 0});
      while (!way.empty()) {
        Place& place = way.back();
        if (place.tried == next_[place.at].size()) {
          seen[place.at] = Seen::done;
          way.pop_back();
          continue;
        }
        const std::uint32_t to = next_[place.at][place.tried++];
        if (seen[to] == Seen::open)
          return closed(std::find_if(way.begin(), way.end(), [to](const Place& p) { return p.at == to; }), way.end());
        if (seen[to] == Seen::no) {
          seen[to] = Seen::open;
          way.push_back({to, 0});
        }
      }
    }
    return {};
  }

private:
  template <class Iterator> std::vector<Step> closed(Iterator begin, Iterator end) const
  {
    std::vector<Step> circle;
    std::transform(begin, end, std::back_inserter(circle), [this](const auto& place) { return steps_[place.at]; });
    return circle;
  }

  std::uint32_t number(const Step& step)
  {
    const auto [found, fresh] = numbers_.try_emplace(static_cast<std::uint64_t>(step.virtual_channel) << 32 | step.link,
                                                     static_cast<std::uint32_t>(steps_.size()));
    if (fresh) {
      steps_.push_back(step);
      next_.emplace_back();
    }
    return found->second;
  }

  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<Step> steps_;                      // by number
  std::vector<std::vector<std::uint32_t>> next_; // likewise
  std::unordered_set<std::uint64_t> edges_;
  std::uint32_t last_ = 0;
};

// What is wrong with a route as a way through the graph.
std::optional<std::string> fault(const Platform& platform, NodeIndex from, NodeIndex to, const std::vector<Step>& route)
{
  const auto text = [&](const char* what) {
    return fmt::format("{} to {}: {}", platform.node(from).name, platform.node(to).name, what);
  };
  if (route.empty())
    return text("no link");
  const Network* network = platform.network();
  if (network == nullptr)
    return std::nullopt; // SimGrid knows where its links are
  Vertex at = from;
  for (const Step& step : route) {
    const Channel& channel = network->topology->graph().channels()[step.link];
    if (channel.from != at)
      return text("a gap in the route");
    at = channel.to;
  }
  return at == to ? std::nullopt : std::optional(text("the route ends elsewhere"));
}

} // namespace

RouteCheck check_routes(const Platform& platform, std::uint64_t most)
{
  constexpr std::size_t told = 5;
  RouteCheck check;
  const std::uint64_t count = platform.node_count();
  const std::uint64_t stride = (count + most - 1) / most;
  std::uint64_t links = 0;
  Dependencies dependencies;
  for (std::uint64_t from = 0; from < count; from += stride) {
    ++check.nodes;
    for (std::uint64_t to = 0; to < count; to += stride) {
      if (from == to)
        continue;
      const auto route = steps(platform, static_cast<NodeIndex>(from), static_cast<NodeIndex>(to));
      ++check.routes;
      links += route.size();
      check.longest = std::max<std::uint64_t>(check.longest, route.size());
      for (const Step& step : route)
        check.virtual_channels = std::max(check.virtual_channels, step.virtual_channel + 1);
      if (auto wrong = fault(platform, static_cast<NodeIndex>(from), static_cast<NodeIndex>(to), route))
        if (check.broken.size() < told)
          check.broken.push_back(std::move(*wrong));
      dependencies.add(route);
    }
  }
  check.average = check.routes == 0 ? 0 : static_cast<double>(links) / static_cast<double>(check.routes);
  for (const Step& step : dependencies.cycle())
    check.cycle.push_back(fmt::format("{} [{}]", link_name(platform, step.link), step.virtual_channel));
  return check;
}

} // namespace umwelt::platform
