// SPDX-License-Identifier: LGPL-2.1-or-later
// A congestion tree and its victims (G. Pfister, V. Norton, "'Hot spot' contention and combining in multistage
// interconnection networks", 1985): a quarter of the nodes flood node 0 for a while, the others go on sending, each to
// one node, and none of them has to do with node 0.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/net_models/packet/traffic.h"

namespace umwelt::net
{

class Congestion final
{
public:
  static constexpr const char* platform = "fat_tree:down=8x8,up=1x3,cables=1x1"; // 64 nodes
  static constexpr double victims_load = 0.2;                                    // of a node's cable
  static constexpr std::int64_t bin = 100;                                       // packet times
  static constexpr std::size_t flood_from = 20;                                  // bins
  static constexpr std::size_t flood_to = 100; // as long as node 0's cable needs for it
  static constexpr std::size_t bins = 200;

  struct Bin {
    double victims = 0;   // what arrives of theirs, for each, as a share of its cable
    double hot = 0;       // accepted by node 0, likewise
    std::size_t full = 0; // buffers without room for a packet, at the end
  };

  struct Found {
    std::vector<Bin> bins;
    std::size_t harmed = 0; // victims of whose packets less than half arrive while the flood lasts

    // Mean of the victims' bins [from, to).
    [[nodiscard]] double victims(std::size_t from, std::size_t to) const
    {
      double sum = 0;
      for (std::size_t i = from; i < to; ++i)
        sum += bins[i].victims;
      return sum / static_cast<double>(to - from);
    }
    [[nodiscard]] std::size_t fullest() const
    {
      std::size_t most = 0;
      for (const Bin& each : bins)
        most = std::max(most, each.full);
      return most;
    }
  };
  static constexpr std::size_t settled = flood_from + 10; // the tree has grown

  // Packets of the flood are as long as the victims'. Arbitration by turns, static routes.
  static Found run(std::uint64_t vcs, std::uint64_t buffer)
  {
    PacketParameters parameters;
    parameters.vcs = vcs;
    parameters.buffer = buffer;
    Congestion one(parameters);
    return one.watch();
  }

private:
  static constexpr std::uint64_t packet_bytes = 1000;

  struct Source final : sim::Event {
    Congestion* owner = nullptr;
    platform::NodeIndex node = 0;
    std::mt19937_64 random;
    void fire() override { owner->send(*this); }
  };

  explicit Congestion(const PacketParameters& parameters) : net_(platform, parameters)
  {
    nodes_ = static_cast<platform::NodeIndex>(net_.platform->node_count());
    packet_ = sim::transfer_time(packet_bytes, net_.platform->route(0, 1).bandwidth);
    net_.on_arrival = [this](Trip& trip) {
      const auto at = static_cast<std::size_t>(trip.arrived / (bin * packet_));
      if (at < bins)
        ++(trip.target == 0 ? hot_ : victims_)[at];
      if (at >= settled && at < flood_to)
        ++arrived_[trip.target];
      idle_.push_back(&trip);
    };
  }

  [[nodiscard]] static bool floods(platform::NodeIndex node) { return node % 4 == 3; }

  Found watch()
  {
    std::vector<platform::NodeIndex> victims;
    for (platform::NodeIndex node = 1; node < nodes_; ++node)
      if (!floods(node))
        victims.push_back(node);
    target_.resize(nodes_);
    std::vector<platform::NodeIndex> order = victims; // each to the next in this order
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    for (std::size_t i = 0; i < order.size(); ++i)
      target_[order[i]] = order[(i + 1) % order.size()];
    senders_ = static_cast<platform::NodeIndex>(victims.size());
    for (platform::NodeIndex node = 1; node < nodes_; ++node) {
      Source& source = sources_.emplace_back();
      source.owner = this;
      source.node = node;
      source.random.seed(node);
      if (floods(node))
        net_.timeline.schedule(source, static_cast<SimTime>(flood_from) * bin * packet_);
      else
        send_later(source);
    }
    arrived_.resize(nodes_);
    std::vector<Bin> result;
    for (std::size_t i = 0; i < bins; ++i) {
      const SimTime end = static_cast<SimTime>(i + 1) * bin * packet_;
      while (net_.timeline.next() < end)
        net_.timeline.step();
      result.push_back({0, 0, net_.fabric->full_buffers(packet_bytes)});
    }
    for (Source& source : sources_)
      net_.timeline.cancel(source);
    for (std::size_t i = 0; i < bins; ++i) {
      result[i].victims = static_cast<double>(victims_[i]) / static_cast<double>(bin) / senders_;
      result[i].hot = static_cast<double>(hot_[i]) / static_cast<double>(bin);
    }
    const double usual = victims_load * static_cast<double>(flood_to - settled) * bin;
    const auto harmed = std::count_if(victims.begin(), victims.end(), [&](platform::NodeIndex node) {
      return static_cast<double>(arrived_[target_[node]]) < usual / 2;
    });
    EXPECT_EQ(net_.fabric->audit(), "");
    return {std::move(result), static_cast<std::size_t>(harmed)};
  }

  void send_later(Source& source)
  {
    const double uniform = static_cast<double>(source.random() >> 11) * 0x1p-53;
    net_.timeline.schedule_in(
        source, static_cast<SimTime>(-std::log1p(-uniform) * static_cast<double>(packet_) / victims_load) + 1);
  }
  void send(Source& source)
  {
    if (floods(source.node)) { // all at once
      const std::size_t each = (flood_to - flood_from) * bin / (nodes_ / 4);
      for (std::size_t i = 0; i < each; ++i)
        demand(source.node, 0);
      return;
    }
    demand(source.node, target_[source.node]);
    send_later(source);
  }
  void demand(platform::NodeIndex from, platform::NodeIndex to)
  {
    if (idle_.empty())
      idle_.push_back(&net_.trips.emplace_back());
    Trip& trip = *idle_.back();
    idle_.pop_back();
    net_.start(trip, from, to, packet_bytes);
  }

  Traveller net_;
  platform::NodeIndex nodes_ = 0;
  platform::NodeIndex senders_ = 0;
  SimTime packet_ = 0;
  std::deque<Source> sources_;
  std::vector<Trip*> idle_;
  std::vector<platform::NodeIndex> target_; // of victims
  std::vector<std::uint64_t> arrived_;      // at each target, once the tree has grown
  std::vector<std::uint64_t> victims_ = std::vector<std::uint64_t>(bins);
  std::vector<std::uint64_t> hot_ = std::vector<std::uint64_t>(bins);
};

} // namespace umwelt::net
