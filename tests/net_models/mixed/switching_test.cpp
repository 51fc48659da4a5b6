// SPDX-License-Identifier: LGPL-2.1-or-later
// Nodes that get other models while messages are under way.
#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "tests/net_models/mixed/bench.h"

namespace umwelt::net
{
namespace
{

using sim::microsecond;
using sim::millisecond;
using sim::nanosecond;

TEST(Assignment, PlannedChangesComeInTheirTime)
{
  Assignment assignment({0, 0}, {{10, {1}, 2}, {20, {0, 1}, 1}});
  EXPECT_EQ(assignment.at(1, 9), 0);
  EXPECT_EQ(assignment.at(1, 10), 2);
  EXPECT_EQ(assignment.at(0, 19), 0);
  EXPECT_EQ(assignment.come(), 1U);
  EXPECT_EQ(assignment.at(0, 25), 1);
  ASSERT_EQ(assignment.switched().size(), 2U);
  EXPECT_EQ(assignment.switched()[1].at, 20);
  EXPECT_EQ(assignment.switched()[1].nodes, 2U);
}

TEST(Assignment, AnOverrideHidesWhatComesMeanwhile)
{
  Assignment assignment({0, 0}, {{10, {0, 1}, 1}});
  assignment.override_with(0, 2, 5);
  EXPECT_EQ(assignment.at(0, 12), 2);
  EXPECT_EQ(assignment.at(1, 12), 1);
  assignment.override_with(0, std::nullopt, 15);
  EXPECT_EQ(assignment.at(0, 15), 1);
}

TEST(Switching, WhatBeginsThenHasTheNewModel)
{
  MixedBench bench({{"delay", "latency=1us,bandwidth=1GB/s"}, {"delay", "latency=4us,bandwidth=1GB/s"}}, {0, 0}, true,
                   {{10 * microsecond, {0, 1}, 1}});
  const Observed& before = bench.put(0);
  bench.run();
  EXPECT_EQ(before.done, 1 * microsecond);
  struct Later final : sim::Event {
    void fire() override { made = &bench->put(0); }
    MixedBench* bench = nullptr;
    const Observed* made = nullptr;
  } later;
  later.bench = &bench;
  bench.timeline.schedule(later, 10 * microsecond);
  bench.run();
  EXPECT_EQ(later.made->done, 14 * microsecond);
}

// A slow model, then a fast one: what is sent later does not arrive earlier.
TEST(Switching, RequestsOfAPairStayInOrder)
{
  MixedBench bench({{"delay", "latency=100us,bandwidth=1GB/s"}, {"zero", ""}}, {0, 0}, true);
  const Observed& slow = bench.put(8);
  bench.mixed->assignment().set({0, 1}, 1, 0);
  const Observed& fast = bench.put(8);
  Observed& free = bench.transfer(TransferKind::put, 8);
  free.unordered = true;
  bench.start(free);
  bench.run();
  EXPECT_EQ(slow.header, 100 * microsecond);
  EXPECT_EQ(fast.header, 100 * microsecond);
  EXPECT_EQ(bench.probe.headers, (std::vector<const Observed*>{&free, &slow, &fast}));
  EXPECT_EQ(free.header, 0);
  EXPECT_EQ(bench.mixed->counts().held, 1U);
}

TEST(Switching, EventsOfAHostStayInOrder)
{
  MixedBench bench({{"bxi", ""}, {"zero", ""}}, {0, 0}, true);
  Seen first(bench.timeline);
  Seen second(bench.timeline);
  bench.model->write_to_host(0, WriteKind::full_event, first);
  bench.mixed->assignment().set({0}, 1, 0);
  bench.model->write_to_host(0, WriteKind::full_event, second);
  bench.run();
  EXPECT_GT(first.at, 0);
  EXPECT_EQ(second.at, first.at);
}

// A place in the queue of one model is not one in that of another.
TEST(Switching, PlacesInCommandQueuesAreGivenBack)
{
  MixedBench bench({{"bxi", "queue_depth=2"}, {"bxi", "queue_depth=2,seed=1"}}, {0, 0}, true);
  std::vector<Observed*> reserved;
  for (int i = 0; i < 2; ++i) {
    reserved.push_back(&bench.transfer(TransferKind::put, 8));
    ASSERT_TRUE(bench.model->reserve(*reserved.back()));
  }
  Observed& refused = bench.transfer(TransferKind::put, 8);
  EXPECT_FALSE(bench.model->reserve(refused));
  bench.mixed->assignment().set({0, 1}, 1, 0);
  EXPECT_TRUE(bench.model->reserve(refused));
  bench.model->unreserve(refused);
  bench.model->unreserve(*reserved[1]);
  bench.start(*reserved[0]);
  bench.run();
  EXPECT_GE(reserved[0]->done, 0);
  bench.mixed->assignment().set({0, 1}, 0, bench.timeline.now());
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(bench.model->reserve(bench.transfer(TransferKind::put, 8)));
}

// Random traffic between random nodes, whose models change at random times.
struct Traffic final : sim::Event {
  Traffic(MixedBench& b, std::uint64_t seed, std::size_t models) : bench(b), random(seed), kinds(models) {}

  std::uint64_t pick(std::uint64_t below) { return random() % below; }

  void fire() override
  {
    const auto nodes = static_cast<NodeIndex>(bench.platform->node_count());
    if (pick(4) == 0)
      bench.mixed->assignment().set({static_cast<NodeIndex>(pick(nodes))}, static_cast<Assignment::Index>(pick(kinds)),
                                    bench.timeline.now());
    if (pick(4) == 0)
      bench.mixed->assignment().override_with(static_cast<NodeIndex>(pick(nodes)),
                                              pick(2) == 0 ? std::nullopt
                                                           : std::optional(static_cast<Assignment::Index>(pick(kinds))),
                                              bench.timeline.now());
    for (std::uint64_t i = pick(4); i > 0; --i)
      send();
    if (bench.all.size() < 3000)
      bench.timeline.schedule_in(*this, static_cast<SimTime>(pick(2)) * static_cast<SimTime>(pick(3000)) * nanosecond);
  }

  void send()
  {
    const auto nodes = static_cast<NodeIndex>(bench.platform->node_count());
    constexpr std::array kinds_of = {TransferKind::put, TransferKind::put,          TransferKind::get,
                                     TransferKind::ack, TransferKind::fetch_atomic, TransferKind::reply};
    constexpr std::array<std::uint64_t, 6> sizes = {0, 8, 64, 2000, 20'000, 400'000};
    Observed& made = bench.transfer(kinds_of.at(pick(6)), sizes.at(pick(6)), static_cast<NodeIndex>(pick(nodes)),
                                    static_cast<NodeIndex>(pick(nodes)));
    if (made.kind == TransferKind::ack || made.kind == TransferKind::get)
      made.payload = 0;
    made.unordered = pick(8) == 0;
    if (pick(16) == 0)
      made.keep = 0;
    made.started = bench.timeline.now();
    if (!bench.model->start(made))
      refused.push_back(&made);
  }

  MixedBench& bench;
  std::mt19937_64 random;
  std::size_t kinds;
  std::vector<Observed*> refused;
};

class RandomSwitching : public testing::TestWithParam<std::uint64_t>
{
protected:
  struct Times {
    std::vector<std::tuple<SimTime, SimTime, SimTime>> all;
    std::uint64_t handed_over = 0, held = 0;
  };

  Times run(std::uint64_t seed)
  {
    const std::vector<MixedBench::Named> models{{"bxi", ""},
                                                {"loggp", "route=on"},
                                                {"zero", ""},
                                                {"delay", "latency=30us"},
                                                {"bxi", "queue_depth=4096,fabric=packet"},
                                                {"piecewise", ""}};
    MixedBench bench(models, {0, 1, 2, 3, 4, 5}, true);
    Traffic traffic(bench, seed, models.size());
    bench.timeline.schedule(traffic, 0);
    bench.run();
    EXPECT_TRUE(traffic.refused.empty());

    Times times;
    std::map<std::pair<NodeIndex, NodeIndex>, std::vector<const Observed*>> sent;
    for (const Observed& transfer : bench.all) {
      EXPECT_GE(transfer.header, transfer.started);
      EXPECT_GE(transfer.done, transfer.header);
      EXPECT_GE(transfer.source_free, transfer.started);
      EXPECT_EQ(transfer.failed_at, -1);
      times.all.emplace_back(transfer.header, transfer.done, transfer.source_free);
      if (transfer.ordered())
        sent[{transfer.source, transfer.target}].push_back(&transfer);
    }
    std::map<std::pair<NodeIndex, NodeIndex>, std::vector<const Observed*>> matched;
    for (const Observed* transfer : bench.probe.headers)
      if (transfer->ordered())
        matched[{transfer->source, transfer->target}].push_back(transfer);
    EXPECT_EQ(matched, sent);
    times.handed_over = bench.mixed->counts().handed_over;
    times.held = bench.mixed->counts().held;
    EXPECT_GT(times.handed_over, 0U);
    EXPECT_GT(times.held, 0U);
    return times;
  }
};

TEST_P(RandomSwitching, LosesNothingAndKeepsOrder)
{
  const Times once = run(GetParam());
  const Times again = run(GetParam());
  EXPECT_EQ(once.all, again.all);
  EXPECT_EQ(once.held, again.held);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSwitching, testing::Range<std::uint64_t>(1, 13));

} // namespace
} // namespace umwelt::net
