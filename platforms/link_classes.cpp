// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/link_classes.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Link.hpp>

#include "platforms/network.h"
#include "platforms/simgrid.h"
#include "runtime/base/nearest.h"

namespace umwelt::platform
{

namespace
{

constexpr std::size_t most_guesses = 3;
constexpr std::size_t most_compared = 20'000; // names, so that a wrong word is refused at once on large machines, too

// SimGrid's own, within a host.
bool is_loopback(const simgrid::s4u::Link& link)
{
  return link.get_name() == "__loopback__";
}

// Names of the links of that kind; none if the platform comes from a file.
std::unordered_set<std::string> names_of_kind(const Platform& platform, const std::string& word)
{
  std::unordered_set<std::string> names;
  const auto kind = std::find(cable_kind_names.begin(), cable_kind_names.end(), word);
  const Network* const network = platform.network();
  if (network == nullptr || kind == cable_kind_names.end())
    return names;
  const auto channels = network->topology->graph().channels();
  for (ChannelIndex index = 0; index < channels.size(); ++index)
    if (channels[index].kind == static_cast<CableKind>(kind - cable_kind_names.begin()))
      names.insert(network->topology->channel_name(index, network->prefix));
  return names;
}

// What stands for itself in a pattern: names are compared with that.
std::string plain_part(const std::string& word)
{
  std::string plain = word;
  plain.erase(std::remove_if(plain.begin(), plain.end(), [](char c) { return c == '*' || c == '?'; }), plain.end());
  return plain;
}

std::vector<std::string> nearest_names(const std::string& word, const std::vector<simgrid::s4u::Link*>& links)
{
  const std::string plain = plain_part(word);
  std::vector<std::pair<std::size_t, std::string>> guesses;
  for (const simgrid::s4u::Link* link : links)
    if (!is_loopback(*link) && guesses.size() < most_compared)
      guesses.emplace_back(edit_distance(plain, link->get_name()), link->get_name());
  const std::size_t shown = std::min(most_guesses, guesses.size());
  std::partial_sort(guesses.begin(), guesses.begin() + static_cast<std::ptrdiff_t>(shown), guesses.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i)
    names.push_back(fmt::format("'{}'", guesses[i].second));
  return names;
}

} // namespace

std::vector<simgrid::s4u::Link*> find_links(const Platform& platform, const std::string& word,
                                            const std::string& object)
{
  const std::vector<simgrid::s4u::Link*> all = simgrid_engine().get_all_links();
  const std::unordered_set<std::string> of_kind = names_of_kind(platform, word);
  std::vector<simgrid::s4u::Link*> found;
  for (simgrid::s4u::Link* link : all)
    if (!is_loopback(*link) && (link->get_name() == word || fnmatch(word.c_str(), link->get_cname(), 0) == 0 ||
                                of_kind.contains(link->get_name())))
      found.push_back(link);
  if (!found.empty())
    return found;
  const std::vector<std::string> names = nearest_names(word, all);
  throw std::invalid_argument(fmt::format(
      "{}: expected the name of a link of platform {}, a pattern of names (with * and ?){}, got '{}', which "
      "fits none. {}",
      object, platform.name(), platform.network() != nullptr ? " or one of node, local, global that it has" : "", word,
      names.empty() ? "It has no links." : fmt::format("The nearest are {}.", fmt::join(names, ", "))));
}

} // namespace umwelt::platform
