// SPDX-License-Identifier: LGPL-2.1-or-later
// The NIC on SimGrid's fluid solver: as on the other fabrics where nothing is in the way, and what only fluids do.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "platforms/link_failures.h"
#include "tests/net_models/in_actor.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::nanosecond;

// No NIC, no headers: the fabric alone, with packets of 1000 bytes.
const std::string bare = "inline_max=0,pio_max=0,pci=false,tx_time=0,rx_time=0,ack_time=0,tx_gap=0,rx_gap=0,"
                         "command_gap=0,dma_gap=0,coding=1,header=0,packet=1000,packet_header=0,e2e=false";
const std::string machine = "crossbar:lat=100ns,bw=1GB/s";

SimTime alone(const std::string& fabric, const std::string& spec, std::uint64_t size, NodeIndex to)
{
  Bench bench("bxi", fabric, 16, spec);
  SimTime done = -1;
  in_actor(bench, [&] {
    const Observed& put = bench.put(size, 0, to);
    loop(bench);
    done = put.done;
  });
  return done;
}

TEST(BxiFlows, AloneAsWithOccupancy)
{
  for (const char* spec : {"bxi:leaf=4,spines=2", "torus:dims=4x4", "dragonfly:groups=3,routers=4,global=1,hosts=2"})
    for (const std::uint64_t size : {0, 8, 1024, 1025, 100'000, 1 << 20})
      for (const NodeIndex to : {1U, 14U}) {
        const auto occupancy = static_cast<double>(alone("", spec, size, to));
        EXPECT_NEAR(static_cast<double>(alone("fabric=flow", spec, size, to)), occupancy, 0.01 * occupancy)
            << spec << " " << size << " to " << to;
      }
}

TEST(BxiFlows, TwoIntoOneShareTheLinkByBytes)
{
  Bench bench("bxi", bare + ",fabric=flow", 3, machine);
  in_actor(bench, [&] {
    const Observed& a = bench.put(1'000'000, 0, 2);
    const Observed& b = bench.put(500'000, 1, 2);
    loop(bench);
    EXPECT_EQ(a.header, 1200 * nanosecond); // a packet on an empty way
    EXPECT_NEAR(sim::to_microseconds(b.done), 1000.2, 0.05);
    EXPECT_NEAR(sim::to_microseconds(a.done), 1500.2, 0.05);
  });
}

// The NIC begins a message when the one before would have left it, on a link of its own.
TEST(BxiFlows, MessagesOfANodeOverlapOnceTheNetworkIsSlower)
{
  Bench bench("bxi", bare + ",fabric=flow", 4, machine);
  in_actor(bench, [&] {
    const Observed& a = bench.put(500'000, 0, 1);
    const Observed& b = bench.put(500'000, 0, 2);
    loop(bench);
    EXPECT_NEAR(sim::to_microseconds(a.done), 500.2, 0.05);
    EXPECT_NEAR(sim::to_microseconds(b.done), 1000.2, 0.05);
    const Observed& other = bench.put(1'000'000, 3, 1); // takes half of what node 1 gets
    const Observed& first = bench.put(500'000, 0, 1);
    const Observed& second = bench.put(500'000, 0, 2);
    loop(bench);
    // 250 kB of the first are left when the second begins; the two share node 0's link, and the first's half is a half
    // of node 1's, too.
    EXPECT_NEAR(sim::to_microseconds(first.done - first.started), 1000.2, 0.05);
    EXPECT_NEAR(sim::to_microseconds(second.done - second.started), 1250.2, 0.05);
    EXPECT_NEAR(sim::to_microseconds(other.done - other.started), 1500.2, 0.05);
  });
}

TEST(BxiFlows, ManyMessagesAllArriveAndNothingStaysBehind)
{
  const auto times = [] {
    Bench bench("bxi", "fabric=flow,drop=0.01,corrupt=0.01", 16, "torus:dims=4x4");
    in_actor(bench, [&] {
      std::mt19937_64 random(2);
      for (int i = 0; i < 500; ++i) {
        const auto from = static_cast<NodeIndex>(random() % 16);
        bench.put(random() % 30'000, from, static_cast<NodeIndex>(random() % 16));
      }
      loop(bench);
    });
    EXPECT_FALSE(bench.model->external_pending());
    std::vector<SimTime> result;
    for (const Observed& each : bench.all) {
      EXPECT_GT(each.done, 0);
      result.push_back(each.done);
    }
    return result;
  };
  const std::vector<SimTime> one = times();
  const std::vector<SimTime> two = times();
  for (std::size_t i = 0; i < one.size(); ++i) // SimGrid's clock goes on, in floating point
    EXPECT_NEAR(static_cast<double>(one[i]), static_cast<double>(two[i]), 100) << i;
}

TEST(BxiFlows, TheModelSaysWhichFabricItHas)
{
  {
    const Bench bench("bxi", "fabric=flow");
    EXPECT_EQ(bench.model->name(), "bxi, fabric flow");
    EXPECT_TRUE(bench.model->has_external());
  }
  EXPECT_FALSE(Bench("bxi").model->has_external());
}

} // namespace
} // namespace umwelt::net
