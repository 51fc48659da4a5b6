// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/nic_load.h"

#include <gtest/gtest.h>

namespace umwelt::observe
{
namespace
{

using net::StageKind;
using sim::microsecond;

net::StageRecord stage(std::uint32_t node, StageKind kind, std::uint64_t bytes, sim::SimTime start, sim::SimTime end)
{
  net::StageRecord record;
  record.kind = kind;
  record.node = node;
  record.bytes = bytes;
  record.start = start * microsecond;
  record.end = end * microsecond;
  return record;
}

TEST(NicLoad, AddsUpByNode)
{
  NicLoad load(nullptr);
  load.stage(stage(2, StageKind::message, 100, 0, 3));
  load.stage(stage(2, StageKind::command, 0, 0, 1));
  load.stage(stage(2, StageKind::dma_payload, 100, 1, 2));
  load.stage(stage(2, StageKind::transmit, 164, 2, 3));
  load.stage(stage(4, StageKind::payload_write, 100, 3, 4));
  load.stage(stage(4, StageKind::event, 0, 4, 5));
  net::StageRecord lost = stage(2, StageKind::message, 7, 5, 6);
  lost.outcome = net::StageOutcome::lost;
  load.stage(lost);
  const auto nics = load.record(10 * microsecond);
  ASSERT_EQ(nics.size(), 2U);
  EXPECT_EQ(nics[0].node, 2U);
  EXPECT_EQ(nics[0].messages, 1U);
  EXPECT_EQ(nics[0].bytes, 100U);
  EXPECT_EQ(nics[0].in_vain, 1U);
  EXPECT_EQ(nics[0].commands, 1U);
  EXPECT_EQ(nics[0].pci_read_bytes, 100U);
  EXPECT_EQ(nics[0].transmitting, microsecond);
  EXPECT_EQ(nics[1].node, 4U);
  EXPECT_EQ(nics[1].pci_written_bytes, 100U);
  EXPECT_EQ(nics[1].events, 1U);
}

TEST(NicLoad, QueuesAreTimesOfTheirCommands)
{
  NicLoad load(nullptr);
  for (int i = 0; i < 3; ++i) // three at once for 8 us, then none
    load.stage(stage(0, StageKind::queue, 0, 0, 8));
  load.stage(stage(0, StageKind::message, 1, 0, 64));
  const auto nics = load.record(64 * microsecond);
  ASSERT_EQ(nics.size(), 1U);
  EXPECT_EQ(nics[0].queued, 24 * microsecond);
  EXPECT_DOUBLE_EQ(nics[0].fullest, 3);
}

// What stands behind it hears all of it.
struct Counted final : net::Observer {
  std::uint64_t started(const net::Transfer&) override { return 7; }
  void stage(const net::StageRecord&) override { ++stages; }
  int stages = 0;
};

TEST(NicLoad, HandsOnWhatItHears)
{
  Counted next;
  NicLoad load(&next);
  load.stage(stage(0, StageKind::event, 0, 0, 1));
  EXPECT_EQ(next.stages, 1);
}

} // namespace
} // namespace umwelt::observe
