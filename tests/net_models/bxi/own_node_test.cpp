// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of a node to itself that the processors copy (loop_transfer), and what they leave alone.
#include <gtest/gtest.h>

#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;

constexpr std::uint64_t mebibyte = 1 << 20;
const std::string copies = "loop_transfer=10GB/s,loop_shared=40GB/s"; // NOLINT(cert-err58-cpp): a constant

SimTime put_time(const std::string& parameters, std::uint64_t bytes, NodeIndex to)
{
  return Bench("bxi", parameters).put_time(bytes, 0, to);
}

double rate(std::uint64_t bytes, SimTime time)
{
  return static_cast<double>(bytes) / sim::to_seconds(time);
}

TEST(BxiOwnNode, ALongMessageGetsWhatACoreCopies)
{
  Bench bench("bxi", copies);
  const SimTime one = bench.put_time(16 * mebibyte, 0, 0);
  const SimTime two = bench.put_time(32 * mebibyte, 0, 0);
  EXPECT_NEAR(rate(16 * mebibyte, two - one), 10e9, 1e7);
}

TEST(BxiOwnNode, SeveralGetNoMoreThanTheMemory)
{
  for (const unsigned messages : {4U, 16U}) {
    Bench bench("bxi", copies);
    for (unsigned i = 0; i < messages; ++i)
      bench.put(8 * mebibyte, 0, 0);
    bench.run();
    SimTime last = 0;
    for (const Observed& one : bench.all)
      last = std::max(last, one.done);
    // The last one starts when the others have had their share, and takes what a core does.
    const double expected = 8.0 * mebibyte * ((messages - 1) / 40e9 + 1 / 10e9);
    EXPECT_NEAR(sim::to_seconds(last), expected, 0.02 * expected) << messages;
  }
}

TEST(BxiOwnNode, ACopyDelaysNeitherTheNicNorItsPci)
{
  const SimTime alone = put_time(copies, mebibyte / 2, 1);
  Bench bench("bxi", copies);
  for (int i = 0; i < 8; ++i)
    bench.put(16 * mebibyte, 0, 0);
  const Observed& away = bench.put(mebibyte / 2, 0, 1);
  bench.run();
  // Eight commands go through the same engine before it, no payload does.
  EXPECT_GE(away.done, alone);
  EXPECT_LT(away.done, alone + 8 * microsecond);
}

TEST(BxiOwnNode, MessagesAreMatchedInTheirOrder)
{
  Bench bench("bxi", copies);
  std::vector<const Observed*> sent;
  for (const std::uint64_t bytes : {4 * mebibyte, std::uint64_t{8}, std::uint64_t{100'000}, std::uint64_t{0}})
    sent.push_back(&bench.put(bytes, 0, 0));
  bench.run();
  EXPECT_EQ(bench.probe.headers, sent);
  for (const Observed* one : sent)
    EXPECT_GE(one->done, one->header);
}

TEST(BxiOwnNode, RepliesAreCopiedToo)
{
  Bench bench("bxi", copies);
  const Observed& reply = bench.start(bench.transfer(TransferKind::reply, 16 * mebibyte, 0, 0));
  bench.run();
  EXPECT_NEAR(rate(16 * mebibyte, reply.done), 10e9, 1e8);
}

TEST(BxiOwnNode, OtherwiseTheyPassPci)
{
  for (const std::uint64_t bytes : {std::uint64_t{8}, mebibyte}) {
    const SimTime usual = put_time("", bytes, 0);
    EXPECT_EQ(put_time("loop_shared=1GB/s", bytes, 0), usual);
    EXPECT_NE(put_time(copies, bytes, 0), usual);
    const SimTime away = put_time("", bytes, 1);
    EXPECT_EQ(put_time(copies, bytes, 1), away);
  }
}

} // namespace
} // namespace umwelt::net
