// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/condensed_network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/report/member.h"

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr std::size_t most_links = 6'000;
constexpr std::size_t most_over_time = 40;
constexpr std::size_t most_bins = 400;
constexpr std::size_t most_nics = 256;

std::vector<std::int64_t> bins_of(const Json& link, std::size_t together)
{
  std::vector<std::int64_t> bins;
  const Json* bytes = array(link, "bytes_per_bin");
  if (bytes == nullptr)
    return bins;
  bins.resize((bytes->size() + together - 1) / together);
  for (std::size_t i = 0; i < bytes->size(); ++i)
    bins[i / together] += as_number((*bytes)[i]);
  return bins;
}

// Share of its capacity.
double load(const Json& link)
{
  const auto bandwidth = static_cast<double>(number(link, "bandwidth_Bps"));
  return bandwidth > 0 ? static_cast<double>(number(link, "bytes")) / bandwidth : 0;
}

struct Class {
  std::size_t links = 0;
  std::int64_t bandwidth = 0;
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
  std::vector<std::int64_t> bins;
};

void add(Class& sum, const Json& link, const std::vector<std::int64_t>& bins)
{
  ++sum.links;
  sum.bandwidth += number(link, "bandwidth_Bps");
  sum.bytes += number(link, "bytes");
  sum.messages += number(link, "messages");
  sum.bins.resize(std::max(sum.bins.size(), bins.size()));
  for (std::size_t i = 0; i < bins.size(); ++i)
    sum.bins[i] += bins[i];
}

// By the bytes that they have sent.
Json busiest_nics(const Json& nics)
{
  std::vector<const Json*> order;
  for (const Json& nic : nics)
    order.push_back(&nic);
  std::stable_sort(order.begin(), order.end(),
                   [](const Json* a, const Json* b) { return number(*a, "bytes") > number(*b, "bytes"); });
  Json result = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), most_nics); ++i)
    result.push_back(*order[i]);
  return result;
}

} // namespace

Json condensed_links(const Json& links)
{
  const Json* all = array(links, "links");
  if (all == nullptr)
    return Json::object();
  std::size_t bins = 0;
  for (const Json& link : *all)
    if (const Json* bytes = array(link, "bytes_per_bin"))
      bins = std::max(bins, bytes->size());
  const std::size_t together = std::max<std::size_t>(1, (bins + most_bins - 1) / most_bins);

  std::map<std::string, Class> classes;
  for (const Json& link : *all)
    add(classes[text(link, "class")], link, bins_of(link, together));

  std::vector<std::size_t> order(all->size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [all](std::size_t a, std::size_t b) { return load((*all)[a]) > load((*all)[b]); });

  Json result{{"bin_ps", number(links, "bin_ps") * static_cast<std::int64_t>(together)},
              {"links_in_all", all->size()},
              {"links", Json::array()},
              {"classes", Json::array()}};
  for (std::size_t place = 0; place < std::min(order.size(), most_links); ++place) {
    const Json& link = (*all)[order[place]];
    Json one{{"name", text(link, "name")},
             {"class", text(link, "class")},
             {"from", number(link, "from")},
             {"to", number(link, "to")},
             {"bandwidth_Bps", number(link, "bandwidth_Bps")},
             {"bytes", number(link, "bytes")},
             {"messages", number(link, "messages")}};
    if (place < most_over_time)
      one["bytes_per_bin"] = bins_of(link, together);
    result["links"].push_back(std::move(one));
  }
  for (const auto& [name, sum] : classes)
    result["classes"].push_back({{"name", name},
                                 {"links", sum.links},
                                 {"bandwidth_Bps", sum.bandwidth},
                                 {"bytes", sum.bytes},
                                 {"messages", sum.messages},
                                 {"bytes_per_bin", sum.bins}});
  if (const Json* nodes = member(links, "nodes"))
    result["nodes"] = *nodes;
  if (const Json* nics = array(links, "nics")) {
    result["nics"] = busiest_nics(*nics);
    result["nics_in_all"] = nics->size();
  }
  return result;
}

} // namespace umwelt::report
