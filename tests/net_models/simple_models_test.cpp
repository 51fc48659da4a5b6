// SPDX-License-Identifier: LGPL-2.1-or-later
// delay, loggp, piecewise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::nanosecond;

TEST(Delay, IsLatencyPlusSizeOverBandwidth)
{
  Bench bench("delay", "latency=2us,bandwidth=1GB/s");
  const Observed& put = bench.put(1000);
  bench.run();
  EXPECT_EQ(put.header, 2 * microsecond);
  EXPECT_EQ(put.done, 3 * microsecond);
  EXPECT_EQ(put.source_free, 1 * microsecond);
}

TEST(Delay, KnowsNoContention)
{
  Bench bench("delay", "latency=2us,bandwidth=1GB/s", 3);
  const Observed& a = bench.put(1000, 0, 2);
  const Observed& b = bench.put(1000, 1, 2);
  bench.run();
  EXPECT_EQ(a.done, b.done);
}

TEST(Delay, AHeaderDoesNotOvertake)
{
  Bench bench("delay", "latency=2us,bandwidth=1GB/s");
  const Observed& first = bench.put(1'000'000);
  const Observed& second = bench.put(1);
  bench.run();
  EXPECT_THAT(bench.probe.headers, testing::ElementsAre(&first, &second));
  EXPECT_LT(second.done, first.done);
}

TEST(Delay, HostWritesAreVisibleAtOnce)
{
  Bench bench("delay");
  Seen seen(bench.timeline);
  bench.model->write_to_host(0, WriteKind::full_event, seen);
  bench.run();
  EXPECT_EQ(seen.at, 0);
}

TEST(LogGP, ALongMessageOccupiesBothNics)
{
  Bench bench("loggp", "L=1us,g=100ns,G=1GB/s", 3);
  const Observed& first = bench.put(1000, 0, 2);
  const Observed& second = bench.put(1000, 1, 2); // another sender, the same receiver
  bench.run();
  EXPECT_EQ(first.header, 1 * microsecond);
  EXPECT_EQ(first.done, 2 * microsecond);
  EXPECT_EQ(second.header, 2 * microsecond);
  EXPECT_EQ(second.done, 3 * microsecond);
}

TEST(LogGP, ShortMessagesKeepTheGap)
{
  Bench bench("loggp", "L=1us,g=100ns,G=1GB/s");
  const Observed& first = bench.put(1);
  const Observed& second = bench.put(1);
  bench.run();
  EXPECT_EQ(second.header - first.header, 100 * nanosecond);
}

TEST(LogGP, TheHostPaysO)
{
  Bench bench("loggp", "o=300ns");
  EXPECT_EQ(bench.model->issue_cost(bench.transfer(TransferKind::put, 1)), 300 * nanosecond);
  EXPECT_EQ(bench.model->issue_cost(bench.transfer(TransferKind::ack, 0)), 0);
  EXPECT_EQ(bench.model->take_cost(WriteKind::full_event), 300 * nanosecond);
}

TEST(LogGP, TakesLatencyFromTheRouteIfAsked)
{
  Bench bench("loggp", "L=1us,route=on", 2, "crossbar:lat=250ns");
  const Observed& put = bench.put(0);
  bench.run();
  EXPECT_EQ(put.header, 1500 * nanosecond);
}

TEST(Piecewise, FactorsHoldFromTheirSizeOn)
{
  Bench bench("piecewise", "latency_factors=0:1;100:3,bandwidth_factors=1000:0.5", 2, "crossbar:lat=1us,bw=1GB/s");
  const Observed& tiny = bench.put(99);
  bench.run();
  EXPECT_EQ(tiny.done - tiny.started, 2 * microsecond + 99 * nanosecond);
  EXPECT_EQ(bench.put_time(100), 6 * microsecond + 100 * nanosecond);
  EXPECT_EQ(bench.put_time(1000), 6 * microsecond + 2000 * nanosecond);
}

TEST(Piecewise, BadListsAreRefused)
{
  try {
    Bench bench("piecewise", "latency_factors=0:1;x:3");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "parameter latency_factors of model piecewise: expected size:factor with a factor above 0, "
                 "separated by ';' (65536:0.9;1MiB:0.8), got 'x:3'. Correct the list.");
  }
}

TEST(MakeModel, UnknownNamesGetAProposal)
{
  try {
    Bench bench("bix");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "model 'bix': expected one of bxi, flow, loggp, piecewise, delay, zero. Did you mean 'bxi'?");
  }
}

} // namespace
} // namespace umwelt::net
