// SPDX-License-Identifier: LGPL-2.1-or-later
// Small graphs of which the answers are known.
#include "runtime/job/critical_path.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace umwelt::job
{
namespace
{

using observe::PathKind;
using observe::RankState;
using sim::microsecond;
using sim::SimTime;
using Wait = CriticalPath::Wait;

// Ranks on nodes of their own. A message takes 1 us on links, 1 us in NICs, and 1 us for each 1000 bytes; NICs handle
// one each half microsecond.
struct Graph {
  explicit Graph(std::uint32_t ranks)
      : path(numbers(ranks), [](std::uint32_t, std::uint32_t) -> const CriticalPath::Alone& { return alone; })
  {
  }
  static constexpr CriticalPath::Alone alone{1 * microsecond, {2 * microsecond, 1e9, microsecond / 2}};
  static std::vector<std::uint32_t> numbers(std::uint32_t count)
  {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < count; ++i)
      all.push_back(i);
    return all;
  }
  void compute(std::size_t rank, SimTime from, SimTime until)
  {
    path.spent(rank, RankState::compute, from * microsecond, until * microsecond);
  }
  // The rank waits until the message of `source` is there.
  void receive(std::size_t rank, std::size_t source, SimTime began, SimTime from, SimTime until, std::uint64_t bytes)
  {
    path.came(rank, source, nullptr, began * microsecond, bytes, until * microsecond);
    path.waited(rank, from * microsecond, until * microsecond, Wait::polls);
  }
  // In us.
  [[nodiscard]] static double of(const observe::CriticalPathRecord& record, PathKind kind)
  {
    return sim::to_microseconds(record.kinds[static_cast<std::size_t>(kind)]);
  }
  [[nodiscard]] static double without(const observe::CriticalPathRecord& record, const std::string& what)
  {
    for (const auto& answer : record.if_free)
      if (answer.what == what)
        return sim::to_microseconds(answer.simulated);
    return -1;
  }

  CriticalPath path;
};

TEST(CriticalPath, LeadsOverTheSenderThatIsLate)
{
  Graph graph(2);
  graph.compute(0, 0, 50);
  graph.compute(1, 0, 10);
  graph.receive(1, 0, 50, 10, 57, 1000); // 1 + 1 + 1 us, and 4 in the way of others
  graph.compute(1, 57, 60);
  const auto record = graph.path.record({50 * microsecond, 60 * microsecond});
  EXPECT_EQ(record.length, 60 * microsecond);
  EXPECT_EQ(record.as_it_is, 60 * microsecond);
  EXPECT_EQ(Graph::of(record, PathKind::computing), 53);
  EXPECT_EQ(Graph::of(record, PathKind::latency), 1);
  EXPECT_EQ(Graph::of(record, PathKind::nic), 1);
  EXPECT_EQ(Graph::of(record, PathKind::bandwidth), 1);
  EXPECT_EQ(Graph::of(record, PathKind::contention), 4);
  EXPECT_EQ(record.ranks[0], 50 * microsecond);
  EXPECT_EQ(record.ranks[1], 3 * microsecond);
  EXPECT_EQ(Graph::without(record, "latency"), 59);
  EXPECT_EQ(Graph::without(record, "contention"), 56);
  EXPECT_EQ(Graph::without(record, "bandwidth"), 55);
  EXPECT_EQ(Graph::without(record, "computing"), 7);
  EXPECT_EQ(Graph::without(record, "computing of rank 0"), 13); // rank 1 waits no longer
  EXPECT_EQ(Graph::without(record, "computing of rank 1"), 57);
}

TEST(CriticalPath, WhoIsNotWaitedForDoesNotCount)
{
  Graph graph(2);
  graph.compute(0, 0, 10);
  graph.compute(1, 0, 40);
  graph.path.came(1, 0, nullptr, 10 * microsecond, 0, 12 * microsecond);
  graph.path.found(1);
  graph.compute(1, 40, 50);
  const auto record = graph.path.record({10 * microsecond, 50 * microsecond});
  EXPECT_EQ(Graph::of(record, PathKind::computing), 50);
  EXPECT_EQ(record.ranks[0], 0);
  EXPECT_EQ(Graph::without(record, "computing of rank 1"), 12); // then it would wait
}

TEST(CriticalPath, LooksInBetweenAreOneWait)
{
  Graph graph(2);
  graph.compute(0, 0, 100);
  graph.path.waited(1, 0, 30 * microsecond, Wait::polls);
  graph.compute(1, 30, 31);
  graph.path.waited(1, 31 * microsecond, 60 * microsecond, Wait::polls);
  graph.receive(1, 0, 100, 60, 102, 0);
  const auto record = graph.path.record({100 * microsecond, 102 * microsecond});
  EXPECT_EQ(record.as_it_is, 102 * microsecond);
  EXPECT_EQ(Graph::of(record, PathKind::computing), 100);
  EXPECT_EQ(Graph::without(record, "computing of rank 0"), 2); // it comes behind the look
}

TEST(CriticalPath, SleepsLastAsLongAsTheyDid)
{
  Graph graph(1);
  graph.compute(0, 0, 20);
  graph.path.waited(0, 20 * microsecond, 50 * microsecond, Wait::elapsed);
  graph.compute(0, 70, 80); // of the time before nobody has told
  const auto record = graph.path.record({90 * microsecond});
  EXPECT_EQ(record.as_it_is, 90 * microsecond);
  EXPECT_EQ(Graph::of(record, PathKind::computing), 30);
  EXPECT_EQ(Graph::of(record, PathKind::other), 60);
  EXPECT_EQ(Graph::without(record, "computing"), 60);
}

TEST(CriticalPath, AMessageKnowsItsSenderAsItWasWhenItLeft)
{
  Graph graph(2);
  constexpr SimTime messages = 5000;
  std::vector<std::unique_ptr<sim::Origin>> under_way;
  for (SimTime i = 0; i < messages; ++i) { // each takes 10 us of computing, of a queue nobody looks at
    graph.compute(0, 10 * i, 10 * i + 10);
    under_way.push_back(graph.path.departs(0, 10 * (i + 1) * microsecond));
  }
  constexpr SimTime end = 10 * messages + 1000; // 1 us for each, from then on
  for (SimTime i = 0; i < messages; ++i) {
    const SimTime from = i == 0 ? 0 : end + i - 1;
    graph.path.came(1, 0, under_way[static_cast<std::size_t>(i)].get(), 0, 0, (end + i) * microsecond);
    graph.path.waited(1, from * microsecond, (end + i) * microsecond, Wait::polls);
    under_way[static_cast<std::size_t>(i)].reset();
  }
  const SimTime last = end + messages - 1;
  const auto record = graph.path.record({10 * messages * microsecond, last * microsecond});
  EXPECT_EQ(record.as_it_is, record.length);
  EXPECT_EQ(Graph::of(record, PathKind::computing), 10.0 * messages); // the last one left after all of that
  EXPECT_EQ(Graph::of(record, PathKind::latency), 1);
  EXPECT_EQ(Graph::of(record, PathKind::contention), last - 10 * messages - 2);
  EXPECT_EQ(Graph::without(record, "latency"), last - 1);
  // The first one waits longest for others: without them the last one comes 2 us after it has left.
  EXPECT_EQ(Graph::without(record, "contention"), 10 * messages + 2);
}

// Two ranks that wait for each other in turns; a turn takes so many us, of them 2 the message.
void play(Graph& graph, SimTime turns, const std::function<SimTime(SimTime turn)>& length)
{
  for (SimTime i = 0, now = 0; i < turns; ++i) {
    const std::size_t from = i % 2;
    const SimTime end = now + length(i);
    graph.compute(from, now, end - 2);
    graph.receive(1 - from, from, end - 2, now, end, 0);
    now = end;
  }
}

TEST(CriticalPath, TheBeginningOfALongWayIsSettled)
{
  Graph graph(2);
  constexpr SimTime turns = 450'000;
  play(graph, turns, [](SimTime turn) { return turn == 100 ? 50 : 10; });
  const SimTime end = 10 * turns + 40;
  const auto record = graph.path.record({end * microsecond, end * microsecond});
  EXPECT_EQ(record.known_since, 0);
  EXPECT_EQ(record.as_it_is, record.length);
  EXPECT_EQ(Graph::of(record, PathKind::computing), 8.0 * turns + 40);
  EXPECT_EQ(Graph::of(record, PathKind::latency), 1.0 * turns);
  EXPECT_EQ(Graph::of(record, PathKind::nic), 1.0 * turns);
  EXPECT_EQ(record.ranks[0], (8 * turns / 2 + 40) * microsecond);
  EXPECT_EQ(record.ranks[1], 8 * turns / 2 * microsecond);
  EXPECT_NEAR(Graph::without(record, "latency"), 9.0 * turns + 40, 1);
  // All others are shorter, and equally long.
  ASSERT_EQ(record.segments.size(), 1U);
  EXPECT_EQ(record.segments[0].begin, 1000 * microsecond);
  EXPECT_EQ(record.segments[0].end, 1048 * microsecond);
  EXPECT_EQ(record.left_out, 2U * turns);
}

TEST(CriticalPath, ALongWayBackIsCutAndSaysSo)
{
  Graph graph(3); // nobody hears of the third, nor it of anybody: its way meets no other
  constexpr SimTime turns = 450'000;
  play(graph, turns, [](SimTime) { return 10; });
  const auto record = graph.path.record({10 * turns * microsecond, 10 * turns * microsecond, 0});
  EXPECT_GT(record.known_since, 0);
  EXPECT_LT(record.known_since, record.length);
  EXPECT_EQ(record.as_it_is, record.length);
  EXPECT_LE(record.segments.size(), 1000U);
  EXPECT_NEAR(Graph::without(record, "latency"), 9.0 * turns, 1);
}

TEST(CriticalPath, WithoutBytesMessagesStillGoThroughANicOneByOne)
{
  Graph graph(3);
  // Three messages at once, each behind the bytes of those before it.
  graph.receive(1, 0, 0, 0, 12, 10'000);
  graph.receive(2, 0, 0, 0, 22, 10'000);
  graph.receive(1, 0, 0, 12, 32, 10'000);
  const auto record = graph.path.record({0, 32 * microsecond, 22 * microsecond});
  EXPECT_EQ(Graph::without(record, "bandwidth"), 3); // 1 + 1, and two that go before it
  EXPECT_EQ(record.as_it_is, 32 * microsecond);
}

TEST(CriticalPath, WithoutBytesNoMessageComesLaterThanItDid)
{
  Graph graph(3);
  graph.compute(0, 0, 100);
  graph.compute(1, 0, 10);
  graph.receive(2, 0, 100, 0, 103, 1000);
  graph.receive(2, 1, 10, 103, 103, 0); // told of behind one that was sent later
  const auto record = graph.path.record({100 * microsecond, 10 * microsecond, 103 * microsecond});
  EXPECT_LE(Graph::without(record, "bandwidth"), 103);
}

} // namespace
} // namespace umwelt::job
