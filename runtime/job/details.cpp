// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/details.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "platforms/network.h"

namespace umwelt::job
{

namespace
{

constexpr std::size_t states = 3;

// The more ranks, the coarser: a few thousand numbers each are as much as a page can show.
std::size_t bins_for(std::size_t ranks)
{
  return ranks <= 128 ? 256 : ranks <= 512 ? 128 : 64;
}

} // namespace

Details::Details(const platform::Platform& platform, const std::vector<std::uint32_t>& nodes, const Alone& alone,
                 net::Observer* observer)
    : platform_(platform), load_(platform), nics_(observer),
      path_(nodes,
            [this, alone](std::uint32_t from, std::uint32_t to) -> const CriticalPath::Alone& {
              return way(from, to, alone);
            }),
      outline_(bins_for(nodes.size()))
{
}

const CriticalPath::Alone& Details::way(std::uint32_t from, std::uint32_t to, const Alone& alone)
{
  const platform::Route& route = platform_.route(from, to);
  const auto [found, is_new] = ways_.try_emplace({from == to, route.links.size(), route.latency, route.bandwidth});
  if (is_new)
    found->second = {route.latency, alone(from, to)};
  return found->second;
}

void Details::spent(std::size_t rank, observe::RankState state, sim::SimTime from, sim::SimTime until,
                    CriticalPath::Wait how)
{
  outline_.add(rank * states + static_cast<std::size_t>(state), from, until, static_cast<double>(until - from));
  if (state == observe::RankState::waiting)
    path_.waited(rank, from, until, how);
  else
    path_.spent(rank, state, from, until);
}

void Details::look_at(pid_t process)
{
  if (!objects_.empty())
    return;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::set<std::string> paths;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    std::istringstream words(line);
    std::string range;
    std::string rights;
    words >> range >> rights;
    if (path != std::string::npos && rights.find('x') != std::string::npos)
      paths.insert(line.substr(path));
  }
  for (const std::string& path : paths)
    if (access(path.c_str(), R_OK) == 0)
      objects_.push_back({path, {}});
}

void Details::add_links(observe::Details& details, sim::SimTime simulated) const
{
  const platform::Network* const network = platform_.network();
  std::map<std::string, platform::ChannelIndex> channels;
  std::map<platform::Vertex, std::uint32_t> vertices;
  if (network != nullptr)
    for (platform::ChannelIndex i = 0; i < network->topology->graph().channels().size(); ++i)
      channels[network->topology->channel_name(i, network->prefix)] = i;
  const auto vertex = [&](platform::Vertex of) {
    const auto [found, is_new] = vertices.emplace(of, static_cast<std::uint32_t>(details.vertices.size()));
    if (is_new)
      details.vertices.push_back(
          {network->topology->vertex_name(of, network->prefix), of < network->topology->graph().nodes()});
    return found->second;
  };
  for (platform::LinkIndex i = 0; i < load_.links(); ++i) {
    if (load_.bytes(i) == 0)
      continue;
    const platform::Link& link = platform_.link(i);
    observe::Details::Link entry;
    entry.name = link.name;
    entry.bandwidth = link.bandwidth;
    entry.latency = link.latency;
    entry.bytes = load_.bytes(i);
    entry.bytes_per_bin = load_.bins().row(i, simulated);
    if (const auto found = channels.find(link.name); found != channels.end()) {
      const platform::Channel& channel = network->topology->graph().channels()[found->second];
      entry.kind = platform::cable_kind_names[static_cast<std::size_t>(channel.kind)];
      entry.from = vertex(channel.from);
      entry.to = vertex(channel.to);
    }
    details.links.push_back(std::move(entry));
  }
}

observe::Details Details::record(const std::vector<sim::SimTime>& ends) const
{
  const sim::SimTime simulated = ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  observe::Details details;
  details.run.objects = objects_;
  details.link_bin = load_.bins().width();
  add_links(details, simulated);
  details.nics = nics_.record(simulated);
  for (observe::Details::Nic& nic : details.nics)
    nic.name = platform_.node(nic.node).name;
  details.outline_bin = outline_.width();
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    observe::Details::Outline& outline = details.outline.emplace_back();
    for (std::size_t state = 0; state < states; ++state)
      outline[state] = outline_.row(rank * states + state, simulated);
  }
  details.path = path_.record(ends);
  return details;
}

} // namespace umwelt::job
