// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits on messages that are not acknowledged.
#include <random>

#include <gtest/gtest.h>

#include "net_models/bxi/model.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::nanosecond;

const BxiModel& bxi(const Bench& bench)
{
  return dynamic_cast<const BxiModel&>(*bench.model);
}

TEST(Bxi, AtMostSoManyMessagesToANode)
{
  Bench bench("bxi", "inflight_node=1");
  const Observed& first = bench.put(8);
  const Observed& second = bench.put(8);
  bench.run();
  EXPECT_GT(second.header - first.header, 700 * nanosecond); // a round trip
}

TEST(Bxi, AtMostSoManyUnacknowledgedMessagesInTheEndToEndTable)
{
  const auto gap = [](const char* list) {
    Bench bench("bxi", list, 3);
    const Observed& first = bench.put(8, 0, 1);
    const Observed& second = bench.put(8, 0, 2); // whatever the target
    bench.run();
    return second.header - first.header;
  };
  EXPECT_LT(gap("e2e_entries=2"), 200 * nanosecond);
  EXPECT_GT(gap("e2e_entries=1"), 700 * nanosecond); // a round trip
}

TEST(Bxi, LimitsOfOneProcessLeaveOthersAlone)
{
  Bench bench("bxi", "inflight_process=1");
  const Observed& first = bench.put(8);
  Observed& other = bench.transfer(TransferKind::put, 8);
  other.initiator_process = 7;
  bench.start(other);
  bench.run();
  EXPECT_LT(other.header - first.header, 300 * nanosecond);
}

TEST(Bxi, LossesAndLimitsTogetherStillDeliverEverythingOnce)
{
  Bench bench("bxi", "drop=0.05,e2e_retries=1000,inflight_node=3,inflight_process=2,e2e_entries=5,seed=5", 4,
              "bxi:leaf=2,spines=2");
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const NodeIndex from = random() % 4;
    Observed& transfer =
        bench.transfer(random() % 4 == 0 ? TransferKind::get : TransferKind::put, 0, from, random() % 4);
    transfer.payload = transfer.kind == TransferKind::put ? random() % 5000 : 0;
    transfer.initiator_process = from * 2 + random() % 2;
    transfer.unordered = random() % 8 == 0;
    bench.start(transfer);
  }
  bench.run();
  for (const Observed& transfer : bench.all) {
    ASSERT_NE(transfer.done, -1);
    ASSERT_NE(transfer.source_free, -1);
    ASSERT_EQ(transfer.failed_at, -1);
  }
  EXPECT_EQ(bxi(bench).in_flight(), 0U);
}

// A request may not hold what an earlier one of its flow waits for: it would wait for that one at the target.
TEST(Bxi, LimitsAreTakenInTheOrderOfTheRequests)
{
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const unsigned nodes = 2 + seed % 3;
    const unsigned processes = 1 + seed % 4;
    Bench bench("bxi", "inflight_node=2,inflight_process=1,e2e_entries=3", nodes);
    std::mt19937 random(seed);
    for (int i = 0; i < 1000; ++i) {
      const bool request = random() % 3 != 0;
      const NodeIndex from = random() % nodes;
      const NodeIndex to = random() % nodes;
      Observed& transfer = bench.transfer(request ? TransferKind::put : TransferKind::ack, 0, from, to);
      transfer.payload = request ? random() % 3000 : 0;
      transfer.initiator_process = from * processes + random() % processes;
      transfer.target_process = to * processes + random() % processes;
      bench.start(transfer);
      for (auto events = random() % (seed % 7 * 4 + 1); events > 0; --events)
        bench.timeline.step();
    }
    bench.run();
    for (const Observed& transfer : bench.all)
      ASSERT_NE(transfer.done, -1) << "seed " << seed;
  }
}

} // namespace
} // namespace umwelt::net
