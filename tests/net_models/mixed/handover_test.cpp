// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfers between nodes of two models: the sender's stages and network, then the target's stages.
#include <tuple>

#include <gtest/gtest.h>

#include "tests/net_models/mixed/bench.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::nanosecond;

TEST(Handover, DelayToDelayIsTheSendersDelay)
{
  MixedBench bench({{"delay", "latency=2us,bandwidth=1GB/s"}, {"delay", "latency=5us,bandwidth=2GB/s"}}, {0, 1});
  const Observed& there = bench.put(1000, 0, 1);
  bench.run();
  EXPECT_EQ(there.source_free, 1 * microsecond);
  EXPECT_EQ(there.header, 2 * microsecond);
  EXPECT_EQ(there.done, 3 * microsecond);
  const SimTime begin = bench.timeline.now();
  const Observed& back = bench.put(1000, 1, 0);
  bench.run();
  EXPECT_EQ(back.header - begin, 5 * microsecond);
  EXPECT_EQ(back.done - begin, 5500 * nanosecond);
}

TEST(Handover, LogGPReceiversHaveTheirOwnGap)
{
  MixedBench bench({{"zero", ""}, {"loggp", "L=1us,o=0us,g=3us,G=1GB/s"}}, {0, 1});
  const Observed& first = bench.put(1, 0, 1);
  const Observed& second = bench.put(1, 0, 1);
  const Observed& large = bench.put(5000, 0, 1);
  bench.run();
  EXPECT_EQ(first.header, 0);
  EXPECT_EQ(first.done, 1 * nanosecond);
  EXPECT_EQ(second.header, 3 * microsecond);
  EXPECT_EQ(large.header, 6 * microsecond);
  EXPECT_EQ(large.done, 11 * microsecond);
}

TEST(Handover, LogGPSendersHaveTheirLatencyAndGap)
{
  MixedBench bench({{"loggp", "L=1us,o=0us,g=3us,G=1GB/s"}, {"zero", ""}}, {0, 1});
  const Observed& first = bench.put(2000, 0, 1);
  const Observed& second = bench.put(1, 0, 1);
  bench.run();
  EXPECT_EQ(first.header, 1 * microsecond);
  EXPECT_EQ(first.done, 3 * microsecond);
  EXPECT_EQ(second.header, 4 * microsecond);
}

// A put by a bxi alone. (There can be one platform at a time.)
struct Times {
  SimTime header, done, source_free;
};
Times alone(std::uint64_t bytes, std::uint64_t keep = ~0ULL)
{
  Bench bench("bxi");
  Observed& transfer = bench.transfer(TransferKind::put, bytes);
  transfer.keep = keep;
  bench.start(transfer);
  bench.run();
  return {transfer.header, transfer.done, transfer.source_free};
}

// The two halves of bxi and nothing lost between: a put to another bxi takes as long as within one.
TEST(Handover, BxiToBxiIsBxi)
{
  for (const std::uint64_t bytes : {0UL, 8UL, 64UL, 4000UL, 100'000UL, 4'000'000UL}) {
    const Times one = alone(bytes);
    MixedBench two({{"bxi", ""}, {"bxi", "seed=1"}}, {0, 1});
    const Observed& other = two.put(bytes);
    two.run();
    EXPECT_EQ(other.header, one.header) << bytes;
    EXPECT_EQ(other.done, one.done) << bytes;
    if (bytes <= 64)
      EXPECT_EQ(other.source_free, one.source_free) << bytes;
    else // the NIC hears of it when the host can see it, not when it was handed to PCI
      EXPECT_NEAR(static_cast<double>(other.source_free), static_cast<double>(one.source_free), 400 * nanosecond)
          << bytes;
  }
}

TEST(Handover, BxiToZeroLacksTheReceiversStages)
{
  const Times whole = alone(1'000'000);
  MixedBench mixed({{"bxi", ""}, {"zero", ""}}, {0, 1});
  const Observed& half = mixed.put(1'000'000);
  mixed.run();
  EXPECT_LT(half.header, whole.header);
  EXPECT_LT(half.done, whole.done);
  EXPECT_GT(half.done, whole.done / 2); // the wire is in it
  EXPECT_GE(half.source_free, half.done);
}

TEST(Handover, ZeroToBxiIsReceivedByBxi)
{
  const Times whole = alone(4096);
  MixedBench mixed({{"zero", ""}, {"bxi", ""}}, {0, 1});
  const Observed& half = mixed.put(4096);
  mixed.run();
  EXPECT_GT(half.header, 0);
  EXPECT_GT(half.done, half.header);
  EXPECT_LT(half.done, whole.done);
  EXPECT_EQ(half.source_free, 0);
}

TEST(Handover, WhatIsTruncatedIsNotWaitedFor)
{
  const Times one = alone(4'000'000, 0);
  MixedBench mixed({{"bxi", ""}, {"bxi", "seed=1"}}, {0, 1});
  Observed& transfer = mixed.transfer(TransferKind::put, 4'000'000);
  transfer.keep = 0;
  mixed.start(transfer);
  mixed.run();
  EXPECT_EQ(transfer.done, one.done);
}

using Pair = std::tuple<const char*, const char*>;
class EveryPair : public testing::TestWithParam<Pair>
{
};

// Every kind of transfer, both ways, of every pair of models: it arrives, once, and what was within stays as it was.
TEST_P(EveryPair, TransfersArrive)
{
  const auto [from, to] = GetParam();
  MixedBench bench({{from, ""}, {to, std::string(to) == "bxi" ? "seed=1" : ""}}, {0, 1, 0, 1});
  for (const TransferKind kind : {TransferKind::put, TransferKind::get, TransferKind::atomic,
                                  TransferKind::fetch_atomic, TransferKind::ack, TransferKind::reply})
    for (const std::uint64_t bytes : {0UL, 8UL, 3000UL, 300'000UL}) {
      bench.start(bench.transfer(kind, bytes, 0, 1));
      bench.start(bench.transfer(kind, bytes, 1, 0));
      bench.start(bench.transfer(kind, bytes, 0, 2));
      bench.start(bench.transfer(kind, bytes, 3, 3));
    }
  bench.run();
  for (const Observed& transfer : bench.all) {
    EXPECT_GE(transfer.header, transfer.started);
    EXPECT_GE(transfer.done, transfer.header);
    EXPECT_GE(transfer.source_free, transfer.started);
    EXPECT_EQ(transfer.failed_at, -1);
  }
}

constexpr auto timeline_models = {"bxi", "loggp", "piecewise", "delay", "zero"};
INSTANTIATE_TEST_SUITE_P(Of, EveryPair,
                         testing::Combine(testing::ValuesIn(timeline_models), testing::ValuesIn(timeline_models)),
                         [](const testing::TestParamInfo<Pair>& pair) {
                           return std::string(std::get<0>(pair.param)) + "_" + std::get<1>(pair.param);
                         });

} // namespace
} // namespace umwelt::net
