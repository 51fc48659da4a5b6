// SPDX-License-Identifier: LGPL-2.1-or-later
// The NIC on the fabric of packets: as on that of occupancy where nothing is in the way, and what only packets show.
#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "net_models/bxi/model.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

constexpr const char* shapes[] = {"bxi:leaf=4,spines=2",
                                  "fat_tree:down=4x4,up=1x4,cables=1x1",
                                  "torus:dims=4x4",
                                  "mesh:dims=4x4",
                                  "hyperx:dims=4x4,hosts=1",
                                  "dragonfly:groups=3,routers=4,global=1,hosts=2",
                                  "slimfly:q=3,hosts=1",
                                  "crossbar",
                                  "ethernet"};

SimTime alone(const std::string& spec, const std::string& list, std::uint64_t size, NodeIndex to)
{
  Bench bench("bxi", list, 16, spec);
  return bench.put_time(size, 0, to);
}

TEST(BxiPackets, AloneAsWithOccupancy)
{
  for (const char* spec : shapes)
    for (const std::uint64_t size : {0, 8, 1024, 1025, 100'000, 1 << 20})
      for (const NodeIndex to : {1U, 14U}) {
        const auto occupancy = static_cast<double>(alone(spec, "", size, to));
        EXPECT_NEAR(static_cast<double>(alone(spec, "fabric=packet", size, to)), occupancy, 0.01 * occupancy)
            << spec << " " << size << " to " << to;
      }
}

// The buffers of a port have the same share each, whatever is served in between.
TEST(BxiPackets, NoBufferOfAPortStarves)
{
  Bench bench("bxi", "fabric=packet,fabric_vcs=2", 6, "bxi:leaf=2,spines=1");
  const Observed& even = bench.put(1 << 20, 0, 4); // by target: one virtual channel each
  const Observed& odd = bench.put(1 << 20, 1, 5);
  bench.put(1 << 20, 2, 4); // a port of its own at the spine, and what even has of the other
  bench.run();
  EXPECT_NEAR(static_cast<double>(even.done), static_cast<double>(odd.done), 0.02 * static_cast<double>(odd.done));
}

SimTime all_to_all(const std::string& spec, const std::string& list, std::uint64_t size)
{
  Bench bench("bxi", list, 16, spec);
  for (NodeIndex shift = 1; shift < 16; ++shift)
    for (NodeIndex from = 0; from < 16; ++from)
      bench.put(size, from, (from + shift) % 16);
  bench.run();
  SimTime last = 0;
  for (const Observed& each : bench.all) {
    EXPECT_GE(each.done, 0);
    last = std::max(last, each.done);
  }
  return last;
}

TEST(BxiPackets, AllToAllWithoutContentionAsWithOccupancy)
{
  const std::string full = "fat_tree:down=4x4,up=1x4,cables=1x1"; // shifts do not meet, by d_mod_k
  const auto occupancy = static_cast<double>(all_to_all(full, "", 65'536));
  EXPECT_NEAR(static_cast<double>(all_to_all(full, "fabric=packet", 65'536)), occupancy, 0.05 * occupancy);
}

TEST(BxiPackets, FullBuffersHoldWhatIsBehindThem)
{
  // With little room, an incast fills the switches, and a message to another node waits behind it. Occupancy, where
  // what waits holds nothing, does not see that.
  const auto victim = [](const std::string& list) {
    Bench bench("bxi", list, 8, "bxi:leaf=4,spines=1");
    for (const NodeIndex from : {0U, 1U, 6U, 7U})
      bench.put(1 << 20, from, 4);
    const Observed& other = bench.put(65'536, 2, 5);
    bench.run();
    return static_cast<double>(other.done);
  };
  const double occupancy = victim("");
  const double held = victim("fabric=packet,fabric_buffer=4KiB");
  const double free = victim("fabric=packet,fabric_buffer=4KiB,fabric_vcs=2"); // 4 and 5: one each
  EXPECT_GT(held, 1.5 * occupancy);
  EXPECT_LT(free, 0.8 * held);
}

TEST(BxiPackets, RequestsOfAPairAreMatchedInOrderWhateverWayTheirPacketsTake)
{
  for (const char* routing : {"static", "valiant", "ugal"}) {
    Bench bench("bxi", std::string("fabric=packet,fabric_routing=") + routing, 72,
                "dragonfly:groups=9,routers=4,global=2,hosts=2");
    std::mt19937_64 random(1);
    for (int i = 0; i < 400; ++i)
      bench.put(random() % 20'000, static_cast<NodeIndex>(random() % 8), 60 + static_cast<NodeIndex>(random() % 4));
    bench.run();
    std::vector<std::vector<const Observed*>> started(72 * 72);
    std::vector<std::vector<const Observed*>> matched(72 * 72);
    for (const Observed& each : bench.all) {
      EXPECT_GE(each.done, each.header);
      started[each.source * 72 + each.target].push_back(&each);
    }
    for (const Observed* each : bench.probe.headers)
      matched[each->source * 72 + each->target].push_back(each);
    EXPECT_EQ(matched, started) << routing;
  }
}

TEST(BxiPackets, WhatIsLostIsSentAgain)
{
  Bench bench("bxi", "fabric=packet,drop=0.05,corrupt=0.05,e2e_retries=20", 16, "torus:dims=4x4");
  for (int i = 0; i < 300; ++i)
    bench.put(3000, static_cast<NodeIndex>(i % 16), static_cast<NodeIndex>((i + 5) % 16));
  bench.run();
  for (const Observed& each : bench.all) {
    EXPECT_GE(each.done, 0);
    EXPECT_GE(each.source_free, 0);
  }
  const auto& model = dynamic_cast<const BxiModel&>(*bench.model);
  EXPECT_GT(model.statistics().resent, 50U);
  EXPECT_EQ(model.in_flight(), 0U);
}

TEST(BxiPackets, TheSameTwice)
{
  const auto times = [] {
    Bench bench("bxi", "fabric=packet,fabric_routing=ugal,fabric_link_errors=0.001", 16, "torus:dims=4x4");
    std::mt19937_64 random(2);
    for (int i = 0; i < 500; ++i)
      bench.put(random() % 30'000, static_cast<NodeIndex>(random() % 16), static_cast<NodeIndex>(random() % 16));
    bench.run();
    std::vector<SimTime> result;
    for (const Observed& each : bench.all)
      result.push_back(each.done);
    return result;
  };
  EXPECT_EQ(times(), times());
}

std::string refusal(const std::string& list)
{
  try {
    Bench("bxi", list);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(BxiPackets, OtherFabricsAreRefused)
{
  EXPECT_THAT(refusal("fabric=wool"), testing::HasSubstr("expected occupancy, flow or packet, got 'wool'"));
  EXPECT_EQ(refusal("fabric=occupancy"), "no error");
}

TEST(BxiPackets, TheModelSaysWhichFabricItHas)
{
  EXPECT_EQ(Bench("bxi").model->name(), "bxi");
  EXPECT_EQ(Bench("bxi", "fabric=packet").model->name(), "bxi, fabric packet");
}

TEST(Fabric, ParametersOfTheOtherAreRefusedUnlessThePlatformHasThem)
{
  try {
    const Bench bench("bxi", "fabric_buffer=4KiB", 2, "bxi");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("parameter fabric_buffer: expected it with --fabric packet"),
              std::string::npos);
  }
  EXPECT_NO_THROW(Bench("bxi", "fabric=packet,fabric_buffer=16KiB", 2, "bxi"));
  EXPECT_NO_THROW(Bench("bxi", "", 2, "bxi:nic:fabric_buffer=16KiB"));
}

} // namespace
} // namespace umwelt::net
