// SPDX-License-Identifier: LGPL-2.1-or-later
// The model as a whole: how long messages take at all, where its parameters come from, and that runs are the same.
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net_models/catalogue.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::nanosecond;

constexpr std::uint64_t mebibyte = 1 << 20;

TEST(Bxi, IsNeverFasterThanTheWire)
{
  Bench bench("bxi");
  const platform::Route& route = bench.platform->route(0, 1);
  for (std::uint64_t size = 1; size <= 4 * mebibyte; size = size * 3 + 1)
    EXPECT_GT(bench.put_time(size), route.latency + sim::transfer_time(size, route.bandwidth)) << size;
}

TEST(Bxi, EightBytesTakeAboutAMicrosecond)
{
  Bench bench("bxi");
  const SimTime time = bench.model->issue_cost(bench.transfer(TransferKind::put, 8)) + bench.put_time(8);
  EXPECT_GT(time, 800 * nanosecond);
  EXPECT_LT(time, 1500 * nanosecond);
}

TEST(Bxi, AMebibyteGetsElevenGigabytesPerSecond)
{
  Bench bench("bxi");
  const double rate = static_cast<double>(mebibyte) / sim::to_seconds(bench.put_time(mebibyte));
  EXPECT_GT(rate, 10.5e9);
  EXPECT_LT(rate, 12e9);
}

TEST(Bxi, LargerIsNeverFaster)
{
  Bench bench("bxi");
  SimTime before = 0;
  for (std::uint64_t size = 1; size < 8 * mebibyte; size += 1 + size / 7) {
    const SimTime time = bench.put_time(size);
    EXPECT_GE(time, before) << size;
    before = time;
  }
}

TEST(Bxi, MoreSwitchesTakeLonger)
{
  Bench bench("bxi", "", 4, "bxi:leaf=2,spines=2");
  EXPECT_GE(bench.put_time(8, 0, 2), bench.put_time(8, 0, 1) + 2 * 100 * nanosecond);
}

TEST(Bxi, LoopbackDoesNotUseTheFabric)
{
  Bench bench("bxi", "", 2, "crossbar:lat=1ms,bw=1MB/s");
  EXPECT_LT(bench.put_time(8, 1, 1), 2 * microsecond);
  EXPECT_LT(bench.put_time(mebibyte, 1, 1), 200 * microsecond);
}

TEST(Bxi, PlatformsMaySetParametersAndTheUserOverridesThem)
{
  sim::Timeline timeline;
  const auto platform = platform::make_platform({.spec = "crossbar", .nodes = 2});
  platform->set_nic_property("take_event", "7ns");
  platform->set_nic_property("issue", "8ns");
  Parameters parameters;
  parameters.add("issue=9ns", "--nic");
  const auto model = make_model("bxi", {timeline, *platform, nullptr}, parameters);
  EXPECT_EQ(model->take_cost(WriteKind::full_event), 7 * nanosecond);
  Transfer get;
  get.kind = TransferKind::get;
  EXPECT_EQ(model->issue_cost(get), 9 * nanosecond);
}

TEST(Bxi, AWrongPropertyOfThePlatformIsNamed)
{
  sim::Timeline timeline;
  const auto platform = platform::make_platform({.spec = "crossbar", .nodes = 2});
  platform->set_nic_property("isue", "8ns");
  try {
    make_model("bxi", {timeline, *platform, nullptr}, {});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "platform crossbar, property nic:isue: model bxi has no parameter 'isue'. Did you mean 'issue'?");
  }
}

std::vector<SimTime> trace(const std::string& seed)
{
  Bench bench("bxi", "drop=0.1,e2e_retries=100,seed=" + seed, 4, "bxi:leaf=2,spines=2");
  std::mt19937 random(9);
  for (int i = 0; i < 500; ++i)
    bench.put(random() % 100'000, random() % 4, random() % 4);
  bench.run();
  std::vector<SimTime> times;
  for (const Observed& transfer : bench.all)
    times.insert(times.end(), {transfer.source_free, transfer.header, transfer.done});
  return times;
}

TEST(Bxi, TwoRunsAreEqualToThePicosecond)
{
  EXPECT_EQ(trace("1"), trace("1"));
}

TEST(Bxi, AnotherSeedIsAnotherRun)
{
  EXPECT_NE(trace("1"), trace("2"));
}

} // namespace
} // namespace umwelt::net
