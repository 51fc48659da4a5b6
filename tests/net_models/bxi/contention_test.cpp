// SPDX-License-Identifier: LGPL-2.1-or-later
// What messages share, and in which order they are matched.
#include <gtest/gtest.h>

#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::nanosecond;

constexpr std::uint64_t mebibyte = 1 << 20;

TEST(Bxi, LinksAreFullDuplex)
{
  // Both payloads together are within the reach of the NICs' translations.
  Bench alone("bxi");
  const SimTime one_way = alone.put_time(mebibyte / 2);
  alone.platform.reset();
  Bench bench("bxi");
  const Observed& there = bench.put(mebibyte / 2, 0, 1);
  const Observed& back = bench.put(mebibyte / 2, 1, 0);
  bench.run();
  EXPECT_NEAR(static_cast<double>(there.done), static_cast<double>(one_way), 0.01 * static_cast<double>(one_way));
  EXPECT_NEAR(static_cast<double>(back.done), static_cast<double>(one_way), 0.01 * static_cast<double>(one_way));
}

TEST(Bxi, TwoSendersShareTheReceiversLink)
{
  Bench bench("bxi", "", 3);
  const Observed& a = bench.put(mebibyte, 0, 2);
  const Observed& b = bench.put(mebibyte, 1, 2);
  bench.run();
  const double rate = 2.0 * mebibyte / sim::to_seconds(std::max(a.done, b.done));
  EXPECT_GT(rate, 10.5e9);
  EXPECT_LT(rate, 11.5e9);
}

TEST(Bxi, AShortMessageDoesNotWaitForSomebodyElsesLongOne)
{
  Bench bench("bxi", "", 3);
  bench.put(mebibyte, 0, 2);
  const Observed& tiny = bench.put(8, 1, 2);
  bench.run();
  EXPECT_LT(tiny.done, 3 * microsecond);
}

TEST(Bxi, AcknowledgementsPassLongReplies)
{
  Bench bench("bxi");
  bench.start(bench.transfer(TransferKind::reply, mebibyte, 1, 0));
  const Observed& ack = bench.start(bench.transfer(TransferKind::ack, 0, 1, 0));
  bench.run();
  EXPECT_LT(ack.done, 3 * microsecond);
}

TEST(Bxi, TheFabricDoesNotHoldLinksForMessagesThatWait)
{
  // 0 and 1 send to 4; what 2 sends to 5 over the same spine must not wait for them.
  Bench bench("bxi", "", 6, "bxi:leaf=2,spines=1");
  bench.put(mebibyte, 0, 4);
  bench.put(mebibyte, 1, 4);
  const Observed& other = bench.put(8, 2, 5);
  bench.run();
  EXPECT_LT(other.done, 4 * microsecond);
}

TEST(Bxi, RequestsOfAPairAreMatchedInOrder)
{
  // Congestion in the fabric would let the short one pass.
  Bench bench("bxi", "", 6, "bxi:leaf=2,spines=1");
  bench.put(mebibyte, 1, 4);
  const Observed& first = bench.put(mebibyte, 0, 4);
  const Observed& second = bench.put(8, 0, 4);
  bench.run();
  EXPECT_GT(second.header, first.header);
}

TEST(Bxi, EventsBecomeVisibleInOrderAndApart)
{
  Bench bench("bxi", "event_gap=100ns,pci_latency=200ns");
  Seen first(bench.timeline);
  Seen second(bench.timeline);
  bench.model->write_to_host(0, WriteKind::full_event, first);
  bench.model->write_to_host(0, WriteKind::full_event, second);
  bench.run();
  EXPECT_EQ(first.at, 300 * nanosecond);
  EXPECT_EQ(second.at, 400 * nanosecond);
}

TEST(Bxi, SearchingAListDelaysAndOccupiesTheReceiver)
{
  Bench bench("bxi", "search=100ns,rx_gap=10ns");
  Observed& slow = bench.transfer(TransferKind::put, 8);
  slow.entries = 20;
  bench.start(slow);
  const Observed& next = bench.put(8);
  bench.run();
  EXPECT_GT(slow.done - slow.header, 2 * microsecond);
  EXPECT_GT(next.header - slow.header, 2 * microsecond);
}

TEST(Bxi, SeveralReceiveEnginesWorkInParallel)
{
  Bench bench("bxi", "search=100ns,rx_engines=2", 3);
  for (const NodeIndex from : {0U, 1U}) {
    Observed& put = bench.transfer(TransferKind::put, 8, from, 2);
    put.entries = 20;
    bench.start(put);
  }
  bench.run();
  EXPECT_LT(bench.all[1].header - bench.all[0].header, 100 * nanosecond);
}

} // namespace
} // namespace umwelt::net
