// SPDX-License-Identifier: LGPL-2.1-or-later
// What payloads go through on PCI and in the NICs, and each parameter of that.
#include <string>

#include <gtest/gtest.h>

#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::nanosecond;

constexpr std::uint64_t mebibyte = 1 << 20;

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

// How long a Put takes while one of that size comes the other way.
SimTime time_beside(std::uint64_t payload, std::uint64_t beside)
{
  Bench bench("bxi", "translation_reach=1MiB,translation_span=512KiB,page=4KiB,page_miss=100ns");
  if (beside > 0)
    bench.put(beside, 1, 0);
  const Observed& put = bench.put(payload, 0, 1);
  bench.run();
  return put.done - put.started;
}

TEST(Bxi, TranslationsAreOfWhatGoesBothWays)
{
  const auto missed = [](std::uint64_t payload, std::uint64_t beside) {
    return time_beside(payload, beside) - time_beside(payload, 0);
  };
  EXPECT_LT(missed(mebibyte / 2, mebibyte / 2), 100 * nanosecond); // all are kept
  EXPECT_NEAR(static_cast<double>(missed(mebibyte / 2, 3 * mebibyte / 4)), 64 * 100e3, 100e3);
  EXPECT_NEAR(static_cast<double>(missed(mebibyte, mebibyte)), 256 * 100e3, 100e3);
  // Of each buffer the first 1.5 MiB are in small pages; alone the 128 beyond the reach miss.
  EXPECT_NEAR(static_cast<double>(missed(8 * mebibyte, 8 * mebibyte)), (384 - 128) * 100e3, 100e3);
}

SimTime put_time_from(std::uint64_t region, std::uint64_t payload)
{
  Bench bench("bxi", "small_region=4MiB,small_walk=1us,small_reach=128KiB,small_miss=10ns,page=4KiB");
  Observed& put = bench.transfer(TransferKind::put, payload);
  put.region = region;
  bench.start(put);
  bench.run();
  return put.done;
}

// By how much longer a Put takes from a memory descriptor of that length than from one of unknown memory.
SimTime small_pages_cost(std::uint64_t payload, std::uint64_t region)
{
  return put_time_from(region, payload) - put_time_from(0, payload);
}

TEST(Bxi, TheFirstSmallPageIsLookedUpAndMoreThanTheReachEachTime)
{
  EXPECT_EQ(small_pages_cost(416, 416), 0) << "stored by the host";
  EXPECT_EQ(small_pages_cost(417, 417), microsecond);
  EXPECT_EQ(small_pages_cost(128 << 10, 128 << 10), microsecond);
  EXPECT_EQ(small_pages_cost(256 << 10, 256 << 10), microsecond + 64 * 10 * nanosecond);
}

TEST(Bxi, LongMemoryIsInHugePages)
{
  EXPECT_GT(small_pages_cost(256 << 10, (4 << 20) - 1), 0);
  EXPECT_EQ(small_pages_cost(256 << 10, 4 << 20), 0);
}

TEST(Bxi, LargePayloadsStallOnMissingTranslations)
{
  Bench bench("bxi", "translation_reach=1MiB,translation_span=40KiB,page=4KiB,page_miss=1us");
  const SimTime within = bench.put_time(mebibyte);
  const SimTime beyond = bench.put_time(mebibyte + 80 * 1024);
  EXPECT_NEAR(static_cast<double>(beyond - within), static_cast<double>(17'500 * nanosecond), 5e5); // 10 misses, 80 KiB
}

} // namespace
} // namespace umwelt::net
