// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net_models/probe.h"

namespace umwelt::net
{
namespace
{

TEST(Zero, NothingTakesTime)
{
  Bench bench("zero");
  const Observed& put = bench.put(1'000'000'000);
  const Observed& get = bench.start(bench.transfer(TransferKind::get, 0));
  bench.run();
  EXPECT_EQ(put.header, 0);
  EXPECT_EQ(put.done, 0);
  EXPECT_EQ(put.source_free, 0);
  EXPECT_EQ(get.done, 0);
  EXPECT_EQ(bench.model->issue_cost(put), 0);
  EXPECT_EQ(bench.model->take_cost(WriteKind::full_event), 0);
  EXPECT_EQ(bench.model->take_cost(WriteKind::counter), 0);
  EXPECT_EQ(bench.model->take_next_cost(), 0);
}

TEST(Zero, WhatIsSentFirstIsThereFirst)
{
  Bench bench("zero");
  const Observed& first = bench.put(1'000'000);
  const Observed& second = bench.put(1);
  const Observed& third = bench.put(1000);
  bench.run();
  EXPECT_THAT(bench.probe.headers, testing::ElementsAre(&first, &second, &third));
}

TEST(Zero, HostWritesAreVisibleAtOnce)
{
  Bench bench("zero");
  Seen seen(bench.timeline);
  bench.model->write_to_host(0, WriteKind::full_event, seen);
  bench.run();
  EXPECT_EQ(seen.at, 0);
}

TEST(Zero, HasNoParameters)
{
  EXPECT_THROW(Bench("zero", "latency=1us"), std::invalid_argument);
}

} // namespace
} // namespace umwelt::net
