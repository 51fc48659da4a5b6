// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/energy/network_energy.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "platforms/network.h"
#include "platforms/wattage.h"

namespace umwelt::energy
{

namespace
{

double seconds(sim::SimTime time)
{
  return sim::to_seconds(time);
}

// Joules in each bin to watts; the last one ends with the run.
void to_watts(std::vector<double>& bins, double idle, sim::SimTime bin, sim::SimTime end)
{
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const sim::SimTime width = std::min(bin, end - static_cast<sim::SimTime>(i) * bin);
    bins[i] = idle + (width > 0 ? bins[i] / seconds(width) : 0);
  }
}

class Links
{
public:
  Links(const Power& power, const platform::Platform& platform, const net::LinkLoad& load, sim::SimTime end)
      : power_(power), platform_(platform), load_(load), end_(end)
  {
    if (const platform::Network* const network = platform.network(); network != nullptr)
      for (platform::ChannelIndex i = 0; i < network->topology->graph().channels().size(); ++i)
        channels_[network->topology->channel_name(i, network->prefix)] = i;
  }

  void add(NetworkEnergy& energy)
  {
    energy.bin = load_.bins().width();
    if (power_.link_properties)
      for (const std::string& name : platform::links_with_wattage())
        (void)platform_.link_named(name); // also those that no route has led over
    double idle = static_cast<double>(channels_.size()) * power_.network.link_idle;
    for (platform::LinkIndex i = 0; i < std::max(load_.links(), platform_.link_count()); ++i)
      add_link(energy, i, idle);
    const platform::Network* const network = platform_.network();
    const double switches = network == nullptr ? 0 : network->topology->graph().switches();
    const double idle_switches = switches * power_.network.network_switch.idle;
    energy.links_joules += idle * seconds(end_);
    energy.switches_joules += idle_switches * seconds(end_);
    const std::size_t bins = energy.bin > 0 ? static_cast<std::size_t>((end_ + energy.bin - 1) / energy.bin) : 0;
    energy.links_watts.resize(bins);
    energy.switches_watts.resize(bins);
    to_watts(energy.links_watts, idle, energy.bin, end_);
    to_watts(energy.switches_watts, idle_switches, energy.bin, end_);
  }

private:
  void add_link(NetworkEnergy& energy, platform::LinkIndex i, double& idle)
  {
    const platform::Link& link = platform_.link(i);
    const auto channel = channels_.find(link.name);
    double own_idle = power_.network.link_idle;
    double per_byte = power_.network.link_per_byte +
                      (link.bandwidth > 0 ? (power_.network.link_busy - own_idle) / link.bandwidth : 0);
    const auto wattage = power_.link_properties ? platform::wattage_of(link) : std::nullopt;
    if (wattage) {
      own_idle = wattage->idle;
      per_byte = (wattage->busy - wattage->idle) / link.bandwidth;
    }
    if (channel == channels_.end()) // those of a shape are counted together
      idle += own_idle;
    if (load_.bytes(i) == 0 && !wattage)
      return;
    const std::vector<double> bytes = load_.bins().row(i, end_);
    const double all = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    spread(bytes, per_byte, energy.links_watts);
    energy.links.push_back({link.name, own_idle * seconds(end_) + per_byte * all});
    energy.links_joules += per_byte * all;
    if (channel == channels_.end())
      return;
    const platform::Graph& graph = platform_.network()->topology->graph();
    if (graph.channels()[channel->second].from >= graph.nodes()) {
      spread(bytes, power_.network.network_switch.per_byte, energy.switches_watts);
      energy.switches_joules += power_.network.network_switch.per_byte * all;
    }
  }

  static void spread(const std::vector<double>& bytes, double per_byte, std::vector<double>& joules)
  {
    if (joules.size() < bytes.size())
      joules.resize(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      joules[i] += bytes[i] * per_byte;
  }

  const Power& power_;
  const platform::Platform& platform_;
  const net::LinkLoad& load_;
  const sim::SimTime end_;
  std::map<std::string, platform::ChannelIndex> channels_;
};

} // namespace

NetworkEnergy::Peak NetworkEnergy::peak(sim::SimTime end, std::optional<sim::SimTime> at) const
{
  const double mean_of_nics = end > 0 ? nics_joules / seconds(end) : 0;
  Peak most{mean_of_nics, at.value_or(0)};
  for (std::size_t i = 0; i < links_watts.size(); ++i) {
    const auto begin = static_cast<sim::SimTime>(i) * bin;
    const double watts = links_watts[i] + switches_watts[i] + mean_of_nics;
    if (at ? *at >= begin : watts > most.watts)
      most = {watts, at.value_or(begin)};
  }
  return most;
}

NetworkEnergy network_energy(const Power& power, const platform::Platform& platform, const net::LinkLoad& load,
                             std::span<const NicTraffic> traffic, sim::SimTime end)
{
  NetworkEnergy energy;
  Links(power, platform, load, end).add(energy);
  for (const NicTraffic& nic : traffic) {
    energy.nics.push_back(nic.counts ? power.network.nic.idle * seconds(end) +
                                           power.network.nic.per_byte * static_cast<double>(nic.bytes) +
                                           power.network.nic_per_message * static_cast<double>(nic.messages)
                                     : 0);
    energy.nics_joules += energy.nics.back();
  }
  return energy;
}

} // namespace umwelt::energy
