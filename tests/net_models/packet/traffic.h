// SPDX-License-Identifier: LGPL-2.1-or-later
// A fabric of packets without a NIC: messages on demand, and synthetic traffic at a given load.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net_models/packet/fabric.h"
#include "platforms/platform.h"

namespace umwelt::net
{

using sim::SimTime;

struct Trip final : Passage {
  SimTime asked = -1;   // enter()
  SimTime left = -1;    // pass()
  SimTime header = -1;  // when the first packet is there
  SimTime arrived = -1; // when all is there
  std::uint64_t number = 0;
};

// Takes messages as a NIC does, and writes down when what happened.
class Traveller final : public Fabric::Client
{
public:
  static constexpr Framing no_headers{1.0, 0, 1000};

  explicit Traveller(const std::string& spec, const PacketParameters& parameters = {},
                     const Framing& framing = no_headers, unsigned nodes = 2, LinkFaults* faults = nullptr,
                     std::uint64_t seed = 1)
      : Traveller(platform::make_platform({.spec = spec, .nodes = nodes}), parameters, framing, faults, seed)
  {
  }
  Traveller(std::unique_ptr<platform::Platform> on, const PacketParameters& parameters,
            const Framing& framing = no_headers, LinkFaults* faults = nullptr, std::uint64_t seed = 1)
      : platform(std::move(on)), framing_(framing),
        fabric(std::make_unique<PacketFabric>(*platform, parameters, framing, seed, faults, timeline, *this))
  {
  }

  Trip& send(platform::NodeIndex from, platform::NodeIndex to, std::uint64_t bytes, std::uint8_t network = 0,
             SimTime pause = 0)
  {
    Trip& trip = trips.emplace_back();
    trip.number = trips.size() - 1;
    start(trip, from, to, bytes, network, pause);
    return trip;
  }
  void start(Trip& trip, platform::NodeIndex from, platform::NodeIndex to, std::uint64_t bytes,
             std::uint8_t network = 0, SimTime pause = 0)
  {
    trip.route = &platform->route(from, to);
    trip.hop = 0;
    trip.known = 0;
    trip.source = from;
    trip.target = to;
    trip.bytes = bytes;
    trip.network = network;
    trip.pause = pause;
    trip.one_packet = bytes <= framing_.most();
    trip.asked = timeline.now();
    trip.left = trip.header = trip.arrived = -1;
    if (fabric->enter(trip) == Fabric::Entry::free)
      go_on(trip);
  }
  void run()
  {
    while (timeline.step()) {
    }
  }

  void entered(Passage& passage) override
  {
    auto& trip = static_cast<Trip&>(passage);
    if (trip.lost) {
      ++lost;
      return;
    }
    if (!trip.at_target())
      return go_on_later(trip);
    trip.header = fabric->header_in(trip);
    if (trip.one_packet)
      arrive(trip);
  }
  void settled(Passage& passage) override { arrive(static_cast<Trip&>(passage)); }

  sim::Timeline timeline;
  std::unique_ptr<platform::Platform> platform;
  std::deque<Trip> trips;
  std::vector<Trip*> arrivals; // in the order in which their ends were foreseen
  std::uint64_t lost = 0;
  std::function<void(Trip&)> on_arrival;

private:
  // A NIC answers in an event of its own; so here.
  struct Later final : sim::Event {
    Traveller* owner = nullptr;
    Trip* trip = nullptr;
    void fire() override { owner->later_fires(*this); }
  };
  void go_on(Trip& trip)
  {
    trip.left = timeline.now();
    fabric->pass(trip);
  }
  void go_on_later(Trip& trip)
  {
    if (idle_.empty())
      idle_.push_back(&later_.emplace_back());
    Later& later = *idle_.back();
    idle_.pop_back();
    later.owner = this;
    later.trip = &trip;
    timeline.schedule(later, timeline.now());
  }
  void later_fires(Later& later)
  {
    idle_.push_back(&later);
    go_on(*later.trip);
  }
  void arrive(Trip& trip)
  {
    trip.arrived = trip.tail;
    if (on_arrival)
      on_arrival(trip);
    else
      arrivals.push_back(&trip);
  }

  const Framing framing_;
  std::deque<Later> later_;
  std::vector<Later*> idle_;

public:
  std::unique_ptr<PacketFabric> fabric; // last: its events leave the timeline first
};

// Every node sends packets of one size at random times to a target that `pattern` draws; the accepted load is what
// arrives, per node, as a share of what its link carries.
class Load final
{
public:
  using Random = std::mt19937_64;
  using Pattern = std::function<platform::NodeIndex(platform::NodeIndex from, Random& random)>;

  struct Outcome {
    double accepted = 0;
    double latency = 0; // mean, in packet times, from the demand to the arrival
    std::uint64_t messages = 0;
  };

  Load(const std::string& spec, const PacketParameters& parameters, std::uint64_t seed = 1)
      : traveller_(spec, parameters, Traveller::no_headers, 2, nullptr, seed)
  {
    packet_ = sim::transfer_time(packet_bytes, traveller_.platform->route(0, 1).bandwidth);
  }
  [[nodiscard]] platform::NodeIndex nodes() const
  {
    return static_cast<platform::NodeIndex>(traveller_.platform->node_count());
  }

  // `load` 0 to 1; times in packets of a node's link. What is demanded in the warm-up is not counted.
  Outcome run(double load, const Pattern& pattern, std::int64_t warm_up, std::int64_t measured)
  {
    const SimTime begin = warm_up * packet_;
    const SimTime end = begin + measured * packet_;
    std::uint64_t arrived = 0;
    std::uint64_t counted = 0;
    double waited = 0;
    traveller_.on_arrival = [&](Trip& trip) {
      if (trip.arrived >= begin && trip.arrived < end)
        ++arrived;
      if (trip.asked >= begin) {
        ++counted;
        waited += static_cast<double>(trip.arrived - trip.asked);
      }
      idle_.push_back(&trip);
    };
    std::deque<Source> sources;
    for (platform::NodeIndex node = 0; node < nodes(); ++node) {
      Source& source = sources.emplace_back();
      source.load = this;
      source.node = node;
      source.random.seed(node + 1);
      source.pattern = &pattern;
      source.mean = static_cast<double>(packet_) / load;
      source.end = end;
      source.next();
    }
    while (traveller_.timeline.next() < end)
      traveller_.timeline.step();
    for (Source& source : sources)
      traveller_.timeline.cancel(source);
    EXPECT_EQ(traveller_.fabric->audit(), "");
    return {static_cast<double>(arrived) / static_cast<double>(measured) / nodes(),
            counted == 0 ? 0 : waited / static_cast<double>(counted) / static_cast<double>(packet_), arrived};
  }
  [[nodiscard]] const PacketFabric& fabric() const { return *traveller_.fabric; }

private:
  static constexpr std::uint64_t packet_bytes = 1000;

  struct Source final : sim::Event {
    Load* load = nullptr;
    platform::NodeIndex node = 0;
    Random random;
    const Pattern* pattern = nullptr;
    double mean = 0;
    SimTime end = 0;

    void next()
    {
      const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
      load->traveller_.timeline.schedule_in(*this, static_cast<SimTime>(-std::log1p(-uniform) * mean) + 1);
    }
    void fire() override
    {
      load->demand(node, (*pattern)(node, random));
      next();
    }
  };
  void demand(platform::NodeIndex from, platform::NodeIndex to)
  {
    if (from == to) // who has nobody to send to
      return;
    if (idle_.empty())
      idle_.push_back(&traveller_.trips.emplace_back());
    Trip& trip = *idle_.back();
    idle_.pop_back();
    traveller_.start(trip, from, to, packet_bytes);
  }

  Traveller traveller_;
  std::vector<Trip*> idle_;
  SimTime packet_ = 0;
};

} // namespace umwelt::net
