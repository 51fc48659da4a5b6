// SPDX-License-Identifier: LGPL-2.1-or-later
// What holds in every network: nothing is lost or made, order, no deadlock, credits, memory, the same run twice.
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>

#include "platforms/assembly.h"
#include "platforms/topologies/torus.h"
#include "tests/net_models/packet/traffic.h"

namespace umwelt::net
{
namespace
{

struct Case {
  const char* platform;
  const char* routing;
  std::uint64_t buffer;
  std::uint64_t reads = 0;
};

void PrintTo(const Case& value, std::ostream* out)
{
  *out << value.platform << " " << value.routing << " " << value.buffer;
}

class PacketNetwork : public testing::TestWithParam<Case>
{
protected:
  static PacketParameters parameters()
  {
    PacketParameters result;
    result.routing = GetParam().routing;
    result.buffer = GetParam().buffer;
    result.input_reads = GetParam().reads;
    return result;
  }
};

// Sizes of one byte to some packets, all nodes, all virtual networks, at once and later.
std::vector<SimTime> random_traffic(Traveller& net, int messages, bool audits)
{
  std::mt19937_64 random(3);
  const auto nodes = static_cast<platform::NodeIndex>(net.platform->node_count());
  for (int i = 0; i < messages; ++i) {
    const auto from = static_cast<platform::NodeIndex>(random() % nodes);
    const auto to = static_cast<platform::NodeIndex>((from + 1 + random() % (nodes - 1)) % nodes);
    net.send(from, to, 1 + random() % (random() % 4 == 0 ? 20'000 : 1000), static_cast<std::uint8_t>(random() % 6));
    if (random() % 8 == 0)
      for (int step = 0; step < 20; ++step)
        net.timeline.step();
    if (audits && i % 50 == 0) {
      EXPECT_EQ(net.fabric->audit(), "");
    }
  }
  net.run();
  std::vector<SimTime> times;
  for (const Trip& trip : net.trips)
    times.push_back(trip.arrived);
  return times;
}

TEST_P(PacketNetwork, AllArrivesOnceAndNothingStaysBehind)
{
  Traveller net(GetParam().platform, parameters());
  constexpr int messages = 3000;
  random_traffic(net, messages, true);
  EXPECT_EQ(net.arrivals.size(), static_cast<std::size_t>(messages)); // a deadlock would leave some
  std::set<const Trip*> once(net.arrivals.begin(), net.arrivals.end());
  EXPECT_EQ(once.size(), net.arrivals.size());
  std::uint64_t packets = 0;
  for (const Trip& trip : net.trips) {
    packets += (trip.bytes + 999) / 1000;
    EXPECT_GE(trip.header, trip.left);
    EXPECT_GE(trip.arrived, trip.header);
    EXPECT_GE(trip.arrived - trip.left, trip.route->latency + sim::transfer_time(trip.bytes, trip.route->bandwidth));
  }
  EXPECT_EQ(net.fabric->statistics().packets, packets);
  EXPECT_EQ(net.fabric->packets_now(), 0U);
  EXPECT_EQ(net.fabric->messages_now(), 0U);
  EXPECT_EQ(net.fabric->audit(), "");
}

TEST_P(PacketNetwork, TheSameTwice)
{
  Traveller one(GetParam().platform, parameters());
  const std::vector<SimTime> first = random_traffic(one, 500, false);
  const auto hops = one.fabric->statistics().hops;
  one.fabric.reset();
  one.platform.reset(); // SimGrid has one at a time
  Traveller two(GetParam().platform, parameters());
  EXPECT_EQ(random_traffic(two, 500, false), first);
  EXPECT_EQ(two.fabric->statistics().hops, hops);
}

// Everybody floods everybody: all buffers are full, so a circle of waiting would close.
TEST_P(PacketNetwork, AFloodEndsAndItsPacketsFitIntoTheBuffers)
{
  Traveller net(GetParam().platform, parameters());
  const auto nodes = static_cast<platform::NodeIndex>(net.platform->node_count());
  const platform::NodeIndex step = std::max(1U, nodes / 24);
  std::size_t messages = 0;
  for (platform::NodeIndex from = 0; from < nodes; ++from)
    for (platform::NodeIndex away = 1; away < nodes; away += step) {
      net.send(from, (from + away * 7 % nodes + (away * 7 % nodes == 0 ? 1 : 0)) % nodes, 30'000);
      ++messages;
    }
  net.run();
  EXPECT_EQ(net.arrivals.size(), messages);
  // Each channel holds what its buffers do, and what is on the wire to the target.
  const platform::Platform& platform = *net.platform;
  const std::size_t each = 4 * 4 * GetParam().buffer / 1000 + 2;
  EXPECT_LT(net.fabric->statistics().most, platform.link_count() * each);
  EXPECT_LT(net.fabric->statistics().most, net.fabric->statistics().packets / 2) << "packets wait at their sources";
  EXPECT_EQ(net.fabric->audit(), "");
}

TEST_P(PacketNetwork, HeadersComeInOrderUnlessTheSwitchChooses)
{
  Traveller net(GetParam().platform, parameters());
  random_traffic(net, 3000, false);
  std::map<std::tuple<platform::NodeIndex, platform::NodeIndex, int>, SimTime> last;
  bool in_order = true;
  for (const Trip& trip : net.trips) {
    SimTime& before = last[{trip.source, trip.target, trip.network}];
    in_order = in_order && trip.header > before;
    before = trip.header;
  }
  if (std::string(GetParam().routing) == "static") {
    EXPECT_TRUE(in_order);
  }
}

constexpr const char* torus = "torus:dims=4x4,hosts=2";
constexpr const char* ring = "torus:dims=8,hosts=2";
constexpr const char* dragonfly = "dragonfly:groups=5,routers=4,global=1,hosts=2";
constexpr const char* tree = "fat_tree:down=4x4,up=1x2,cables=1x1";
INSTANTIATE_TEST_SUITE_P(
    Shapes, PacketNetwork,
    testing::Values(Case{torus, "static", 1000}, Case{torus, "static", 4000, 1}, Case{dragonfly, "ugal", 2000, 1},
                    Case{torus, "static", 32'000}, Case{torus, "valiant", 1000}, Case{torus, "ugal", 2000},
                    Case{ring, "static", 1000}, Case{ring, "valiant", 1000}, Case{ring, "ugal", 1000},
                    Case{dragonfly, "static", 1000}, Case{dragonfly, "valiant", 1000}, Case{dragonfly, "ugal", 1000},
                    Case{tree, "static", 1000}, Case{tree, "ugal", 1000}, Case{"mesh:dims=4x4", "ugal", 1000},
                    Case{"hyperx:dims=4x4,hosts=2", "ugal", 1000}, Case{"slimfly:q=3,hosts=2", "ugal", 1000},
                    Case{"torus:dims=4x4,routing=valiant", "static", 1000},
                    Case{"torus:dims=5x5,routing=random", "static", 1000},
                    Case{"torus:dims=5x5,routing=random", "random", 1000},
                    Case{"hyperx:dims=4x4,hosts=2,routing=random", "random", 1000, 1},
                    Case{"dragonfly:groups=5,routers=4,global=2,hosts=2,routing=random", "random", 1000},
                    Case{"fat_tree:down=4x4,up=1x2,cables=1x1,routing=random", "random", 1000},
                    Case{"slimfly:q=3,hosts=2,routing=random", "random", 1000}));

// A torus as it is, with all its routes in one virtual channel.
class NoDateline final : public platform::Topology
{
public:
  explicit NoDateline(const platform::Torus::Form& form) : Topology(platform::Torus(form).graph()), torus_(form) {}
  [[nodiscard]] platform::Path route(platform::Vertex from, platform::Vertex to) const override
  {
    platform::Path path = torus_.route(from, to);
    for (platform::Hop& hop : path)
      hop.virtual_channel = 0;
    return path;
  }
  [[nodiscard]] std::string switch_name(platform::SwitchIndex index) const override
  {
    return torus_.switch_name(index);
  }
  [[nodiscard]] std::string part(platform::SwitchIndex index) const override { return torus_.part(index); }

private:
  platform::Torus torus_;
};

std::size_t round_the_ring(std::unique_ptr<platform::Platform> platform)
{
  PacketParameters parameters;
  parameters.buffer = 1000;
  Traveller net(std::move(platform), parameters);
  for (platform::NodeIndex from = 0; from < 5; ++from)
    net.send(from, (from + 2) % 5, 100'000);
  net.run();
  return net.arrivals.size();
}

// Everybody has filled the buffer behind its first cable and waits for the next one's: the tests above would see it.
TEST(PacketDeadlock, ARingStopsForEverWithoutItsDateline)
{
  const platform::Torus::Form form{{5}, true, 1, platform::Routing::dimension_order, 0};
  EXPECT_EQ(round_the_ring(platform::make_platform({.spec = "torus:dims=5"})), 5U);
  EXPECT_LT(
      round_the_ring(platform::assemble(
          {}, "ring", {std::make_shared<NoDateline>(form), "node", {platform::Cable{}, platform::Cable{}}, 0}, {})),
      5U);
}

TEST(PacketOrder, UgalOvertakesAndTheTailWaitsForAllPackets)
{
  PacketParameters parameters;
  parameters.routing = "valiant";
  Traveller net("dragonfly:groups=9,routers=4,global=2,hosts=2", parameters);
  const Trip& trip = net.send(0, 70, 200'000);
  net.run();
  EXPECT_EQ(net.arrivals.size(), 1U);
  EXPECT_GT(net.fabric->statistics().detours, 100U);
  EXPECT_GE(trip.arrived, trip.header);
}

// All of a leaf's nodes send to those of another one: one flow for each, of which some draw the same cable.
TEST(PacketRouting, PacketsThatDrawShareCablesWhereFlowsDoNot)
{
  const std::string tree16 = "fat_tree:down=8x2,up=1x8,cables=1x1,routing=random";
  const auto takes = [&](const char* routing) {
    PacketParameters parameters;
    parameters.routing = routing;
    Traveller net(tree16, parameters);
    for (platform::NodeIndex from = 0; from < 8; ++from)
      net.send(from, from + 8, 1'000'000);
    net.run();
    EXPECT_EQ(net.arrivals.size(), 8U);
    return net.timeline.now();
  };
  EXPECT_GT(takes("static"), 3 * takes("random") / 2);
}

TEST(PacketFaults, WhatALinkLosesIsToldOnceAndLeavesNothing)
{
  struct Third final : LinkFaults {
    Outcome cross(platform::LinkIndex, SimTime) override { return ++count % 3 == 0 ? Outcome::lost : Outcome::passes; }
    int count = 0;
  } faults;
  Traveller net(torus, {}, Traveller::no_headers, 2, &faults);
  random_traffic(net, 2000, true);
  EXPECT_GT(net.lost, 500U);
  EXPECT_GT(net.arrivals.size(), 300U);
  EXPECT_EQ(net.lost + net.arrivals.size(), 2000U);
  EXPECT_EQ(net.fabric->packets_now(), 0U);
  EXPECT_EQ(net.fabric->messages_now(), 0U);
  EXPECT_EQ(net.fabric->audit(), "");
}

TEST(PacketFaults, WhoLeavesIsNotToldOfItsTail)
{
  Traveller net(torus);
  Trip& trip = net.send(0, 20, 50'000);
  while (trip.header < 0)
    net.timeline.step();
  net.fabric->leave(trip);
  net.run();
  EXPECT_EQ(trip.arrived, -1);
  EXPECT_EQ(net.fabric->messages_now(), 0U);
}

std::string refusal(const std::string& platform, const PacketParameters& parameters)
{
  try {
    Traveller net(platform, parameters);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(PacketParametersAre, Checked)
{
  using testing::HasSubstr;
  PacketParameters parameters;
  parameters.buffer = 999;
  EXPECT_THAT(refusal(torus, parameters),
              HasSubstr("parameter fabric_buffer of the fabric packet: expected at least a packet with its headers, "
                        "1000 bytes, got 999. Take a larger buffer"));
  parameters = {};
  parameters.vcs = 0;
  EXPECT_THAT(refusal(torus, parameters), HasSubstr("expected 1 to 64, got 0"));
  parameters = {};
  parameters.arbitration = "luck";
  EXPECT_THAT(refusal(torus, parameters), HasSubstr("expected round_robin or age, got luck"));
  parameters = {};
  parameters.routing = "best";
  EXPECT_THAT(refusal(torus, parameters), HasSubstr("expected static, random, valiant or ugal, got best"));
  parameters.routing = "ugal";
  EXPECT_THAT(refusal("torus:dims=4x4,routing=valiant", parameters), HasSubstr("expected static or random, since"));
  parameters.routing = "random";
  EXPECT_THAT(refusal(torus, parameters),
              HasSubstr("expected static, valiant or ugal, since the platform's routes are not drawn, got random. Take "
                        "--platform NAME:routing=random"));
  EXPECT_EQ(refusal("torus:dims=4x4,routing=random", parameters), "no error");
  parameters.routing = "ugal";
  EXPECT_EQ(refusal(torus, parameters), "no error");
  parameters = {};
  parameters.link_errors = 0.9;
  EXPECT_THAT(refusal(torus, parameters), HasSubstr("expected at most 0.5, got 0.9"));
}

} // namespace
} // namespace umwelt::net
