// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory of a node.
#include <array>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net_models/node/memory.h"
#include "net_models/node/parameters.h"
#include "runtime/base/parameters.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::nanosecond;

class Observed final : public Copy
{
public:
  explicit Observed(const sim::Timeline& timeline) : timeline_(timeline) {}
  void copied() override { end = timeline_.now(); }
  SimTime end = -1;

private:
  const sim::Timeline& timeline_;
};

struct Begin final : sim::Event {
  Begin(Copies& into, Copy& what, std::uint64_t size) : copies(into), copy(what), bytes(size) {}
  void fire() override { copies.begin(copy, bytes); }
  Copies& copies;
  Copy& copy;
  std::uint64_t bytes;
};

NodeParameters parameters(std::string_view list)
{
  Parameters given;
  given.add(list, "--node");
  return read_node_parameters(given);
}

std::string error_of(std::string_view list)
{
  try {
    parameters(list);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Node, WhatTheNicWroteIsReadFromMemoryBehindItsFirstLine)
{
  NodeParameters node;
  node.uncached_bandwidth = 10e9;
  EXPECT_EQ(node.read_uncached(0), 0);
  EXPECT_EQ(node.read_uncached(64), 0);
  EXPECT_EQ(node.read_uncached(64 + 10'000), microsecond);
}

TEST(Copies, OneAloneGoesAtTheSpeedOfACore)
{
  sim::Timeline timeline;
  Copies copies(timeline, 1e9, 3e9);
  Observed copy(timeline);
  EXPECT_EQ(copies.alone(1000), microsecond);
  copies.begin(copy, 1000);
  while (timeline.step())
    ;
  EXPECT_EQ(copy.end, microsecond);
  EXPECT_TRUE(copies.idle());
}

TEST(Copies, AsManyAsTheSocketFeedsDoNotDisturbEachOther)
{
  sim::Timeline timeline;
  Copies copies(timeline, 1e9, 3e9);
  std::array<Observed, 3> all{Observed(timeline), Observed(timeline), Observed(timeline)};
  for (Observed& copy : all)
    copies.begin(copy, 1000);
  while (timeline.step())
    ;
  for (const Observed& copy : all)
    EXPECT_EQ(copy.end, microsecond);
}

TEST(Copies, MoreShareTheSocketEvenly)
{
  sim::Timeline timeline;
  Copies copies(timeline, 1e9, 1e9);
  Observed large(timeline);
  Observed small(timeline);
  copies.begin(large, 1000);
  Begin later(copies, small, 100);
  timeline.schedule(later, 500 * nanosecond);
  while (timeline.step())
    ;
  EXPECT_EQ(small.end, 700 * nanosecond); // half the speed while there are two
  EXPECT_EQ(large.end, 1100 * nanosecond);
}

TEST(Copies, WhatIsForgottenLeavesItsPartToOthers)
{
  sim::Timeline timeline;
  Copies copies(timeline, 1e9, 1e9);
  Observed stays(timeline);
  Observed goes(timeline);
  copies.begin(stays, 1000);
  copies.begin(goes, 1000);
  copies.forget(goes);
  while (timeline.step())
    ;
  EXPECT_EQ(stays.end, microsecond);
  EXPECT_EQ(goes.end, -1);
}

TEST(NodeMemory, CoresAreDealtToSocketsInOrder)
{
  sim::Timeline timeline;
  NodeMemory memory(timeline, parameters("sockets=2,line=50ns,line_far=150ns"), 8);
  EXPECT_EQ(memory.line(0, 3), 50 * nanosecond);
  EXPECT_EQ(memory.line(3, 4), 150 * nanosecond);
  EXPECT_EQ(memory.seen_after(4, 7), 100 * nanosecond);
  EXPECT_NE(&memory.copies_of(3), &memory.copies_of(4));
  EXPECT_EQ(&memory.copies_of(4), &memory.copies_of(7));
}

TEST(NodeMemory, HasNoMoreSocketsThanCores)
{
  sim::Timeline timeline;
  NodeMemory memory(timeline, parameters("sockets=16"), 2);
  EXPECT_NE(&memory.copies_of(0), &memory.copies_of(1));
}

TEST(NodeParameters, HalfOfTheMemoryFitsIntoDevShm)
{
  EXPECT_EQ(shm_size(parameters("memory=8GiB")), 4ULL << 30);
  EXPECT_EQ(shm_size(parameters("memory=8GiB,shm=64MiB")), 64ULL << 20);
}

TEST(NodeParameters, SayWhatIsWrongWithThem)
{
  EXPECT_THAT(error_of("lines=5ns"), testing::AllOf(testing::HasSubstr("lines"), testing::HasSubstr("line")));
  EXPECT_THAT(error_of("line=5"), testing::HasSubstr("line"));
  EXPECT_EQ(error_of("sockets=0"), "node, sockets: expected at least 1, got 0. `umwelt models` lists what can be set.");
  EXPECT_EQ(error_of("copy_bandwidth=0B/s"), "--node: parameter copy_bandwidth of node: expected a bandwidth with unit "
                                             "such as 12.5GB/s or 100Gbps, got '0B/s'. Correct "
                                             "the value or leave the parameter out to keep its default.");
  EXPECT_EQ(error_of("memory=1GiB,shm=2GiB"),
            "node, shm: expected at most the node's memory, got 2GiB. `umwelt models` lists what can be set.");
}

} // namespace
} // namespace umwelt::net
