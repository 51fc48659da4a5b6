// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/pair_times.h"

#include <cmath>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "platforms/platform.h"

namespace umwelt::net
{
namespace
{

PairTime of(std::string_view model, std::string_view parameters, NodeIndex from = 0, NodeIndex to = 1)
{
  const auto platform = platform::make_platform({.spec = "crossbar", .nodes = 2});
  Parameters list;
  list.add(parameters, "test");
  return pair_time(model, *platform, {}, list, from, to);
}

TEST(PairTimes, AreThoseOfASimpleModel)
{
  const PairTime delay = of("delay", "latency=3us,bandwidth=5GB/s");
  EXPECT_NEAR(sim::to_microseconds(delay.latency), 3, 1);
  EXPECT_NEAR(delay.bandwidth, 5e9, 1e7);
  EXPECT_EQ(delay.gap, 0);
  EXPECT_TRUE(std::isinf(of("zero", "").bandwidth));
  EXPECT_EQ(of("zero", "").latency, 0);
}

TEST(PairTimes, OfBxiAreALatencyAndTheLink)
{
  const PairTime bxi = of("bxi", "");
  EXPECT_GT(sim::to_microseconds(bxi.latency), 0.5);
  EXPECT_LT(sim::to_microseconds(bxi.latency), 3);
  EXPECT_GT(bxi.bandwidth, 5e9);
  EXPECT_LT(bxi.bandwidth, 13e9);
  EXPECT_GT(bxi.gap, 0); // the NIC takes one after the other
  EXPECT_LT(bxi.gap, bxi.latency);
  EXPECT_GT(of("bxi", "", 0, 0).bandwidth, 0); // within a node
}

TEST(PairTimes, WhereTheSolverMovesBytesAreThoseOfTheRoute)
{
  const auto platform = platform::make_platform({.spec = "crossbar", .nodes = 2});
  const PairTime flow = pair_time("flow", *platform, {}, {}, 0, 1);
  EXPECT_GT(flow.latency, 0);
  EXPECT_EQ(flow.bandwidth, platform->route(0, 1).bandwidth);
}

} // namespace
} // namespace umwelt::net
