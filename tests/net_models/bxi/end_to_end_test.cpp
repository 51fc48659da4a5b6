// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages and acknowledgements that are lost: sent again, or given up.
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "net_models/bxi/model.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::millisecond;

const BxiModel& bxi(const Bench& bench)
{
  return dynamic_cast<const BxiModel&>(*bench.model);
}

TEST(Bxi, ALostMessageIsSentAgain)
{
  Bench bench("bxi", "down=bxi0 up@0us-100us,e2e_timeout=200us");
  const Observed& put = bench.put(8);
  bench.run();
  EXPECT_GT(put.done, 200 * microsecond);
  EXPECT_EQ(bxi(bench).statistics().lost, 1U);
  EXPECT_EQ(bxi(bench).statistics().resent, 1U);
}

TEST(Bxi, WhatNeverArrivesFails)
{
  Bench bench("bxi", "drop=1,e2e_timeout=1ms,e2e_retries=3");
  const Observed& put = bench.put(8);
  bench.run();
  EXPECT_EQ(put.why, TransferFailure::undeliverable);
  EXPECT_GT(put.failed_at, 4 * millisecond);
  EXPECT_EQ(put.done, -1);
  EXPECT_EQ(bxi(bench).statistics().resent, 3U);
  EXPECT_EQ(bxi(bench).in_flight(), 0U);
}

TEST(Bxi, ALostAcknowledgementDoesNotDeliverTwice)
{
  Bench bench("bxi", "down=bxi1 up@0us-100us,e2e_timeout=200us");
  const Observed& put = bench.put(100);
  bench.run();
  EXPECT_LT(put.done, 3 * microsecond);
  EXPECT_GT(put.source_free, 200 * microsecond);
  EXPECT_EQ(bench.probe.headers.size(), 1U);
}

TEST(Bxi, ALostAcknowledgementMayOutliveTheTransfer)
{
  Bench bench("bxi", "down=bxi1 up@0us-100us,e2e_timeout=200us");
  const Observed& put = bench.put(8); // the client is done at delivery
  bench.run();
  EXPECT_LT(put.done, 3 * microsecond);
  EXPECT_EQ(put.failed_at, -1);
  EXPECT_EQ(bxi(bench).statistics().resent, 1U);
  EXPECT_EQ(bxi(bench).in_flight(), 0U);
}

TEST(Bxi, CorruptedMessagesAreSentAgain)
{
  Bench bench("bxi", "corrupt_on=bxi0 up:50%,e2e_retries=100,seed=3");
  for (int i = 0; i < 50; ++i)
    bench.put(8);
  bench.run();
  EXPECT_EQ(bench.probe.headers.size(), 50U);
  EXPECT_GT(bxi(bench).statistics().lost, 10U);
}

TEST(Bxi, OneLinkMayLoseMoreThanOthers)
{
  Bench bench("bxi", "drop_on=bxi0 up:1,e2e_retries=1,e2e_timeout=10us");
  const Observed& lost = bench.put(8, 0, 1);
  const Observed& fine = bench.put(8, 1, 0);
  bench.run();
  EXPECT_NE(lost.failed_at, -1);
  EXPECT_NE(fine.done, -1);
}

TEST(Bxi, WithoutEndToEndADroppedMessageFailsAtOnce)
{
  Bench bench("bxi", "drop=1,e2e=off,e2e_timeout=1ms");
  const Observed& put = bench.put(8);
  bench.run();
  EXPECT_EQ(put.why, TransferFailure::undeliverable);
  EXPECT_NE(put.failed_at, -1);
  EXPECT_EQ(bxi(bench).statistics().resent, 0U);
}

TEST(Bxi, WithoutEndToEndACorruptedMessageFails)
{
  Bench bench("bxi", "corrupt=1,e2e=off");
  const Observed& put = bench.put(8);
  bench.run();
  EXPECT_NE(put.failed_at, -1);
  EXPECT_EQ(put.why, TransferFailure::corrupted);
}

TEST(Bxi, OrderHoldsThroughLosses)
{
  Bench bench("bxi", "drop=0.2,e2e_retries=100,seed=7");
  std::vector<const Observed*> sent;
  for (std::uint64_t i = 0; i < 200; ++i)
    sent.push_back(&bench.put(i * 37));
  bench.run();
  EXPECT_EQ(bench.probe.headers, sent);
}

TEST(Bxi, BadFaultListsAreRefused)
{
  try {
    Bench bench("bxi", "down=bxi0 up@5us");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "parameter down of model bxi: expected LINK@from-to, separated by ';' (bxi0 up@10us-20us), "
                 "got 'bxi0 up@5us'. Correct the list.");
  }
}

TEST(Bxi, QuickAcknowledgementsTakeNoTime)
{
  Bench bench("bxi", "quick_ack=on");
  const Observed& ack = bench.start(bench.transfer(TransferKind::ack, 0, 1, 0));
  bench.run();
  EXPECT_EQ(ack.done, 0);
}

} // namespace
} // namespace umwelt::net
