// SPDX-License-Identifier: LGPL-2.1-or-later
// Places in the command queues, which virtual networks have of their own.
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_models/bxi/model.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

const BxiModel& bxi(const Bench& bench)
{
  return dynamic_cast<const BxiModel&>(*bench.model);
}

TEST(Bxi, AFullCommandQueueRefusesAndTellsWhenThereIsRoom)
{
  Bench bench("bxi", "queue_depth=2");
  bench.put(8);
  bench.put(8);
  Observed& third = bench.transfer(TransferKind::put, 8);
  EXPECT_FALSE(bench.model->start(third));
  bench.run();
  EXPECT_THAT(bench.probe.slots, testing::ElementsAre(0U));
  bench.start(third);
  bench.run();
  EXPECT_NE(third.done, -1);
}

TEST(Bxi, AReservedPlaceInTheCommandQueueIsKept)
{
  Bench bench("bxi", "queue_depth=2");
  Observed& later = bench.transfer(TransferKind::put, 8);
  EXPECT_TRUE(bench.model->reserve(later));
  bench.put(8);
  Observed& third = bench.transfer(TransferKind::put, 8);
  EXPECT_FALSE(bench.model->reserve(third));
  EXPECT_FALSE(bench.model->start(third));
  bench.run();
  bench.start(later);
  bench.run();
  EXPECT_NE(later.done, -1);
}

TEST(Bxi, APlaceThatIsGivenBackIsTold)
{
  Bench bench("bxi", "queue_depth=1");
  Observed& never = bench.transfer(TransferKind::put, 8);
  EXPECT_TRUE(bench.model->reserve(never));
  EXPECT_FALSE(bench.model->start(bench.transfer(TransferKind::put, 8)));
  bench.model->unreserve(never);
  EXPECT_THAT(bench.probe.slots, testing::ElementsAre(0U));
  bench.put(8);
  bench.run();
}

TEST(Bxi, VirtualNetworksHaveQueuesOfTheirOwn)
{
  Bench bench("bxi", "queue_depth=1");
  bench.put(8);
  Observed& service = bench.transfer(TransferKind::put, 8);
  service.service = true;
  bench.start(service);
  bench.start(bench.transfer(TransferKind::ack, 0));
  bench.run();
}

TEST(Bxi, RanksMayBePutOnTheServiceNetworks)
{
  Bench bench("bxi", "queue_depth=1,service=3;5-6");
  bench.put(8); // fills the compute network's queue
  Observed& compute = bench.transfer(TransferKind::put, 8);
  compute.initiator_process = 4;
  EXPECT_FALSE(bench.model->start(compute));
  Observed& service = bench.transfer(TransferKind::put, 8);
  service.initiator_process = 5;
  EXPECT_TRUE(bench.model->start(service));
  bench.run();
}

TEST(Bxi, ABadListOfServiceRanksIsRefused)
{
  for (const char* list : {"service=x", "service=5-3", "service=1;", "service=-1", "service=1-99999999"}) {
    if (std::string_view(list) == "service=1;") {
      EXPECT_NO_THROW(Bench("bxi", list));
      continue;
    }
    EXPECT_THROW(Bench("bxi", list), std::invalid_argument) << list;
  }
}

TEST(Bxi, WithoutListenerQueuesAreUnbounded)
{
  Bench bench("bxi", "queue_depth=1", 2, "crossbar", false);
  for (int i = 0; i < 100; ++i)
    bench.put(8);
  bench.run();
  EXPECT_EQ(bxi(bench).in_flight(), 0U);
}

} // namespace
} // namespace umwelt::net
