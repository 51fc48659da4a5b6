// SPDX-License-Identifier: LGPL-2.1-or-later
// Waiting at outputs: against queueing theory, and who waits for whom.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "tests/net_models/packet/traffic.h"

namespace umwelt::net
{
namespace
{

using sim::nanosecond;

constexpr SimTime packet = 100 * nanosecond; // 1000 bytes at 10 GB/s

// A star: `senders` whose cables are so fast that nothing waits there, and one target behind a cable of 10 GB/s.
class Star : public testing::Test
{
protected:
  void SetUp() override
  {
    path_ = std::filesystem::temp_directory_path() / ("umwelt-star-" + std::to_string(getpid()) + ".xml");
    std::ofstream file(path_);
    file << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n<zone id=\"zone\" routing=\"Full\">\n";
    for (unsigned i = 0; i <= senders; ++i)
      file << "<host id=\"node" << i << "\" speed=\"1Gf\"/>\n<link id=\"cable" << i << "\" bandwidth=\""
           << (i == 0 ? "10" : "1e9") << "GBps\" latency=\"10ns\" sharing_policy=\"SPLITDUPLEX\"/>\n";
    for (unsigned i = 1; i <= senders; ++i)
      for (unsigned j = 0; j < i; ++j)
        file << "<route src=\"node" << i << "\" dst=\"node" << j << "\"><link_ctn id=\"cable" << i
             << "\" direction=\"UP\"/><link_ctn id=\"cable" << j << "\" direction=\"DOWN\"/></route>\n";
    file << "</zone>\n</platform>\n";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static constexpr unsigned senders = 16;
  std::filesystem::path path_;
};

// Mean wait of packets that come as a Poisson process of `load`, in packets' times.
double mean_wait(const std::string& spec, const PacketParameters& parameters, double load, std::uint64_t messages)
{
  Traveller net(spec, parameters);
  std::mt19937_64 random(7);
  double waited = 0;
  std::uint64_t count = 0;
  std::deque<Trip> trips;
  std::vector<Trip*> idle;
  net.on_arrival = [&](Trip& trip) {
    waited += static_cast<double>(trip.arrived - trip.asked - 20 * nanosecond - packet);
    ++count;
    idle.push_back(&trip);
  };
  double when = 0;
  for (std::uint64_t i = 0; i < messages; ++i) {
    when += -std::log1p(-static_cast<double>(random() >> 11) * 0x1p-53) * static_cast<double>(packet) / load;
    const auto at = static_cast<SimTime>(when);
    while (net.timeline.next() <= at)
      net.timeline.step();
    net.timeline.advance_to(at);
    if (idle.empty())
      idle.push_back(&trips.emplace_back());
    Trip& trip = *idle.back();
    idle.pop_back();
    net.start(trip, 1 + static_cast<platform::NodeIndex>(random() % 16), 0, 1000);
  }
  net.run();
  EXPECT_EQ(count, messages);
  return waited / static_cast<double>(messages) / static_cast<double>(packet);
}

TEST_F(Star, PoissonArrivalsWaitAsInMD1)
{
  PacketParameters parameters;
  parameters.buffer = 1 << 30; // the theory's queue has no end
  constexpr std::uint64_t messages = 400'000;
  for (const double load : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    const double theory = load / (2 * (1 - load)); // A. Pollaczek, 1930; A. Khinchine, 1932
    // The mean of n waits of a queue this busy scatters with about sqrt((1 + load) / n) / (1 - load)^2 (W. Whitt,
    // "Planning queueing simulations", 1989, for deterministic service less); three of them.
    const double scatter = 3 * std::sqrt((1 + load) / static_cast<double>(messages)) / ((1 - load) * (1 - load));
    const double wait = mean_wait(path_.string(), parameters, load, messages);
    EXPECT_NEAR(wait, theory, std::min(scatter, 0.1 * theory)) << load;
  }
}

TEST_F(Star, ArbitrationDoesNotChangeTheMeanWait)
{
  PacketParameters parameters;
  parameters.buffer = 1 << 30;
  const double in_turn = mean_wait(path_.string(), parameters, 0.7, 100'000);
  parameters.arbitration = "age";
  EXPECT_NEAR(mean_wait(path_.string(), parameters, 0.7, 100'000), in_turn, 0.001);
}

TEST(PacketArbitration, InputsHaveTheirTurns)
{
  // Two to one target: each has half, from the first packet on.
  Traveller net("torus:dims=2,hosts=4,bw=10GB/s,lat=30ns");
  const Trip& one = net.send(1, 0, 50'000);
  const Trip& other = net.send(2, 0, 50'000);
  net.run();
  EXPECT_EQ(std::max(one.arrived, other.arrived), 60 * nanosecond + 100 * packet);
  EXPECT_EQ(std::min(one.arrived, other.arrived), 60 * nanosecond + 99 * packet);
}

TEST(PacketArbitration, ByAgeWhoComesFromFarDoesNotLose)
{
  // The parking lot (Dally, Towles, 2004): nodes along a line send to its end. In turns by input, the
  // nearest has half of the last cable, the others a quarter each; by age those that are under way for longer go first.
  const auto shares = [](const char* arbitration) {
    PacketParameters parameters;
    parameters.arbitration = arbitration;
    parameters.buffer = 4000;
    Traveller net("mesh:dims=4,hosts=1,bw=10GB/s,switch_bw=10GB/s,lat=30ns,switch_lat=50ns", parameters);
    constexpr int each = 2000;
    std::array<int, 4> arrived{};
    net.on_arrival = [&](Trip& trip) {
      if (trip.arrived < 1000 * packet)
        ++arrived[trip.source];
    };
    for (int i = 0; i < each; ++i)
      for (platform::NodeIndex from = 1; from < 4; ++from)
        net.send(from, 0, 1000);
    net.run();
    return arrived;
  };
  const auto in_turn = shares("round_robin");
  EXPECT_NEAR(in_turn[1], 500, 10); // nearest
  EXPECT_NEAR(in_turn[2], 250, 10);
  EXPECT_NEAR(in_turn[3], 250, 10);
  const auto by_age = shares("age");
  EXPECT_GT(by_age[3], by_age[1]);
  EXPECT_GT(by_age[2], by_age[1]);
}

TEST(PacketArbitration, TheOldestMessageGoesFirst)
{
  PacketParameters parameters;
  parameters.arbitration = "age";
  Traveller net("torus:dims=2,hosts=4,bw=10GB/s,lat=30ns", parameters);
  const Trip& first = net.send(1, 0, 20'000);
  net.timeline.advance_to(1);
  const Trip& second = net.send(2, 0, 20'000);
  net.run();
  EXPECT_LT(first.arrived, 60 * nanosecond + 22 * packet); // in turns it would need 39
  EXPECT_EQ(second.arrived, 60 * nanosecond + 40 * packet);
}

// Nodes 0 and 1 share a switch, and a cable to another one with nodes 2, 3 and 4: node 0 floods node 2, which node 4
// does as well; node 1 sends to node 3.
double victim_slowdown(std::uint64_t vcs)
{
  PacketParameters parameters;
  parameters.vcs = vcs;
  parameters.buffer = 8000;
  const std::string spec = "mesh:dims=2,hosts=5,bw=10GB/s,switch_bw=10GB/s,lat=30ns,switch_lat=50ns";
  const auto time = [&](bool flood) {
    Traveller net(spec, parameters);
    if (flood) {
      for (const platform::NodeIndex from : {0U, 2U, 6U, 8U})
        net.send(from, 5, 2'000'000); // each a quarter of the target's cable, so the cable between is not full
    }
    while (net.timeline.next() < 100 * packet)
      net.timeline.step();
    net.timeline.advance_to(100 * packet);
    const Trip& victim = net.send(1, 8, 50'000); // by its target in another channel than the flood, if there are two
    while (victim.arrived < 0)
      net.timeline.step();
    return static_cast<double>(victim.arrived - victim.asked);
  };
  return time(true) / time(false);
}

TEST(PacketBlocking, AVictimSuffersWithOneVirtualChannelOnly)
{
  EXPECT_GT(victim_slowdown(1), 3.0);
  EXPECT_LT(victim_slowdown(2), 2.05); // the cable it shares with two floods of a quarter each has the half left
}

TEST(PacketBlocking, RequestsDoNotBlockResponses)
{
  PacketParameters parameters;
  parameters.buffer = 8000;
  Traveller net("mesh:dims=2,hosts=5,bw=10GB/s,switch_bw=10GB/s,lat=30ns,switch_lat=50ns", parameters);
  for (const platform::NodeIndex from : {0U, 2U, 6U, 8U})
    net.send(from, 5, 2'000'000);
  while (net.timeline.next() < 100 * packet)
    net.timeline.step();
  net.timeline.advance_to(100 * packet);
  const Trip& answer = net.send(1, 8, 1000, 2);
  const Trip& request = net.send(1, 8, 1000, 0);
  net.run();
  EXPECT_LT(answer.arrived - answer.asked, 110 * nanosecond + 4 * packet);
  EXPECT_GT(request.arrived - request.asked, 110 * nanosecond + 8 * packet);
}

} // namespace
} // namespace umwelt::net
