// SPDX-License-Identifier: LGPL-2.1-or-later
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_models/bxi/model.h"
#include "net_models/catalogue.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::millisecond;
using sim::nanosecond;

constexpr std::uint64_t mebibyte = 1 << 20;

const BxiModel& bxi(const Bench& bench)
{
  return dynamic_cast<const BxiModel&>(*bench.model);
}

// ---- Plausibility ----

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

// ---- Payload ----

TEST(Bxi, ShortBuffersAreFreeBeforeArrival)
{
  Bench bench("bxi");
  const Observed& put = bench.put(64);
  bench.run();
  EXPECT_LT(put.source_free, put.header);
}

TEST(Bxi, LongBuffersAreKeptUntilTheTargetHasAcknowledged)
{
  Bench bench("bxi");
  const Observed& put = bench.put(65);
  bench.run();
  EXPECT_GT(put.source_free, put.done);
}

TEST(Bxi, WithoutEndToEndNothingIsKept)
{
  Bench bench("bxi", "e2e=off");
  const Observed& put = bench.put(65);
  bench.run();
  EXPECT_LE(put.source_free, put.done);
}

TEST(Bxi, DmaCostsAPciRead)
{
  Bench bench("bxi", "pio_max=416,pci_read=2us");
  const SimTime step = bench.put_time(417) - bench.put_time(416);
  EXPECT_GT(step, 1900 * nanosecond);
  EXPECT_LT(step, 2100 * nanosecond);
}

TEST(Bxi, InlineMaxMovesTheStepOfSend)
{
  Bench bench("bxi", "inline_max=200");
  const Observed& put = bench.put(200);
  bench.run();
  EXPECT_LT(put.source_free, put.header);
}

TEST(Bxi, InlinePayloadsNeedNoProgrammedIoAndNoDma)
{
  Bench bench("bxi", "inline_max=64,pio_max=0,pci_read=2us,issue=100ns,pio_store=1GB/s");
  EXPECT_GT(bench.put_time(65) - bench.put_time(64), 1900 * nanosecond);
  EXPECT_EQ(bench.model->issue_cost(bench.transfer(TransferKind::put, 64)), 164 * nanosecond);
}

TEST(Bxi, PioMaxMovesTheStepOfDma)
{
  Bench bench("bxi", "pio_max=4096,pci_read=2us");
  EXPECT_LT(bench.put_time(4096), 3 * microsecond);
  EXPECT_GT(bench.put_time(4097), 3 * microsecond);
}

TEST(Bxi, FirstAndLastPciPacketDoNotOverlapWithTheFabric)
{
  Bench fine("bxi", "pci_packet=128,pci_transfer=1GB/s,pci_shared=100GB/s");
  const SimTime short_ends = fine.put_time(8192);
  fine.platform.reset();
  Bench coarse("bxi", "pci_packet=1024,pci_transfer=1GB/s,pci_shared=100GB/s");
  EXPECT_EQ(coarse.put_time(8192) - short_ends,
            896 * nanosecond); // of the first; the last is hidden behind a slow read
}

TEST(Bxi, PciIsSharedByTheTransfersOfANode)
{
  const auto both = [](const char* list) {
    Bench bench("bxi", list, 3);
    const Observed& a = bench.put(mebibyte, 0, 1);
    const Observed& b = bench.put(mebibyte, 0, 2);
    bench.run();
    return std::max(a.done, b.done);
  };
  EXPECT_GT(both("pci_shared=6GB/s"), both("pci_shared=15.75GB/s") + 100 * microsecond);
}

TEST(Bxi, HeadersAndPacketsTakeBandwidth)
{
  const auto time = [](const std::string& list) { return Bench("bxi", list).put_time(mebibyte); };
  const SimTime standard = time("packet=1024,packet_header=64,header=64");
  // 1024 packets of 64 bytes more each, at 12.5 GB/s times coding, are 5.6 us.
  const SimTime more = time("packet=1024,packet_header=128,header=64") - standard;
  EXPECT_GT(more, 5 * microsecond);
  EXPECT_LT(more, 7 * microsecond);
  EXPECT_LT(time("packet=4096,packet_header=64,header=64"), standard - 3 * microsecond);
  EXPECT_GT(time("packet=1024,packet_header=64,header=100064"), standard + 8 * microsecond);
}

TEST(Bxi, LineCodingTakesBandwidth)
{
  const auto time = [](const std::string& list) { return Bench("bxi", list).put_time(mebibyte); };
  EXPECT_GT(time("coding=0.5"), 1.7 * static_cast<double>(time("coding=0.95")));
}

TEST(Bxi, AcknowledgementsAreMadeInTheirOwnTime)
{
  const auto ack = [](const std::string& list) {
    Bench bench("bxi", list);
    const Observed& made = bench.start(bench.transfer(TransferKind::ack, 0, 1, 0));
    bench.run();
    return made.done;
  };
  EXPECT_EQ(ack("ack_time=700ns") - ack("ack_time=300ns"), 400 * nanosecond);
}

TEST(Bxi, TheEndToEndAcknowledgementHoldsLongBuffersAsLongAsItTakes)
{
  const auto free = [](const std::string& list) {
    Bench bench("bxi", list);
    const Observed& put = bench.put(100);
    bench.run();
    return put.source_free - put.done;
  };
  EXPECT_EQ(free("ack_time=700ns") - free("ack_time=300ns"), 400 * nanosecond);
  EXPECT_LE(free("e2e=off"), 0);
}

TEST(Bxi, TheHostPaysForStoringThePayload)
{
  Bench bench("bxi", "issue=100ns,pio_store=1GB/s,pio_max=416");
  EXPECT_EQ(bench.model->issue_cost(bench.transfer(TransferKind::put, 0)), 100 * nanosecond);
  EXPECT_EQ(bench.model->issue_cost(bench.transfer(TransferKind::put, 400)), 500 * nanosecond);
  EXPECT_EQ(bench.model->issue_cost(bench.transfer(TransferKind::put, 417)), 100 * nanosecond);
  EXPECT_EQ(bench.model->issue_cost(bench.transfer(TransferKind::reply, 8)), 0);
}

TEST(Bxi, WithoutPciEverythingIsFaster)
{
  Bench with("bxi");
  const SimTime slow = with.put_time(4096);
  with.platform.reset();
  Bench without("bxi", "pci=off");
  EXPECT_LT(without.put_time(4096), slow - 500 * nanosecond);
}

TEST(Bxi, NothingToDepositSkipsPci)
{
  Bench bench("bxi");
  Observed& put = bench.transfer(TransferKind::put, mebibyte);
  put.keep = 0;
  bench.start(put);
  bench.run();
  EXPECT_EQ(put.done, put.header);
}

TEST(Bxi, LargePayloadsStallOnMissingTranslations)
{
  Bench bench("bxi", "translation_reach=1MiB,translation_span=40KiB,page=4KiB,page_miss=1us");
  const SimTime within = bench.put_time(mebibyte);
  const SimTime beyond = bench.put_time(mebibyte + 80 * 1024);
  EXPECT_NEAR(static_cast<double>(beyond - within), static_cast<double>(17'500 * nanosecond), 5e5); // 10 misses, 80 KiB
}

// ---- Contention ----

TEST(Bxi, LinksAreFullDuplex)
{
  Bench alone("bxi");
  const SimTime one_way = alone.put_time(mebibyte);
  alone.platform.reset();
  Bench bench("bxi");
  const Observed& there = bench.put(mebibyte, 0, 1);
  const Observed& back = bench.put(mebibyte, 1, 0);
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

// ---- Order ----

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

// ---- Command queue ----

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

// ---- Reliability ----

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
  for (int i = 0; i < 200; ++i)
    sent.push_back(&bench.put(static_cast<std::uint64_t>(i * 37)));
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

// ---- Limits ----

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

TEST(Bxi, QuickAcknowledgementsTakeNoTime)
{
  Bench bench("bxi", "quick_ack=on");
  const Observed& ack = bench.start(bench.transfer(TransferKind::ack, 0, 1, 0));
  bench.run();
  EXPECT_EQ(ack.done, 0);
}

// ---- Settings ----

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

// ---- Reproducibility ----

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
