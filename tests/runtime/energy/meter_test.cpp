// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/energy/meter.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>

namespace umwelt::energy
{
namespace
{

constexpr SimTime second = 1'000'000'000'000;

PowerState state_of(double idle, double epsilon, double all, double communicates, std::size_t cores)
{
  PowerState state;
  state.idle = idle;
  set_linear(state, epsilon, all, cores);
  state.full = {all, communicates, communicates};
  return state;
}

// Nodes of 4 cores: idle 100 W, 120 W with as little as can be, 200 W with all cores; 180 W if they communicate. In
// state 1: 90, 100, 140, 130.
Power power_of(std::size_t nodes)
{
  Power power;
  power.kinds.push_back({{state_of(100, 120, 200, 180, 4), state_of(90, 100, 140, 130, 4)}, 0, 10});
  power.of_node.assign(nodes, 0);
  return power;
}

struct Metered {
  explicit Metered(std::size_t nodes, Meter::Observer observer = {})
      : power(power_of(nodes)), meter(power, std::vector<std::uint8_t>(nodes), std::move(observer))
  {
  }
  Power power;
  Meter meter;
};

TEST(Meter, IsThePowerByTheNumberOfBusyCores)
{
  Metered run(1);
  run.meter.rank_begins(0, 0, 0);
  run.meter.did(0, 0, 0, computing, 0, second);              // 1 of 4: 120 + 80 / 4 = 140 W
  run.meter.did(0, 0, 1, computing, second, 3 * second);     // likewise
  run.meter.did(0, 0, 2, computing, 2 * second, 3 * second); // 2 of 4: 160 W
  run.meter.rank_ends(0, 0, 4 * second);                     // the last second: idle
  const Meter::Sums sums = run.meter.finish(4 * second);
  EXPECT_DOUBLE_EQ(sums.joules, 140 + 140 + 160 + 100);
  EXPECT_DOUBLE_EQ(sums.peak, 160);
  EXPECT_EQ(sums.peak_at, 2 * second);
  ASSERT_EQ(sums.ranks.size(), 1);
  EXPECT_DOUBLE_EQ(sums.ranks[0].joules(), sums.joules);
  EXPECT_DOUBLE_EQ(sums.ranks[0].idle, 400);
}

TEST(Meter, IsLessWhereCoresCommunicate)
{
  Metered run(1);
  run.meter.rank_begins(0, 0, 0);
  run.meter.did(0, 0, 0, communicating, 0, second); // 140 - 20 / 4
  run.meter.did(0, 0, 1, computing, 0, second);
  const Meter::Sums sums = run.meter.finish(second);
  EXPECT_DOUBLE_EQ(sums.joules, 160 - 5);
  EXPECT_DOUBLE_EQ(sums.ranks[0].activities[communicating], 25);
  EXPECT_DOUBLE_EQ(sums.ranks[0].activities[computing], 30);
}

TEST(Meter, CountsASharedCoreOnce)
{
  Metered run(1);
  run.meter.rank_begins(0, 0, 0);
  run.meter.rank_begins(1, 0, 0);
  run.meter.did(0, 0, 3, computing, 0, second);
  run.meter.did(1, 0, 3, waiting, 0, second);
  const Meter::Sums sums = run.meter.finish(second);
  EXPECT_DOUBLE_EQ(sums.joules, 140);
  EXPECT_DOUBLE_EQ(sums.ranks[0].activities[computing], 20);
  EXPECT_DOUBLE_EQ(sums.ranks[1].activities[waiting], 20);
  EXPECT_DOUBLE_EQ(sums.ranks[1].idle, 50);
}

TEST(Meter, ChangesStateInTheMiddle)
{
  Metered run(1);
  run.meter.rank_begins(0, 0, 0);
  run.meter.did(0, 0, 0, computing, 0, 2 * second);
  run.meter.state(0, 1, second);
  EXPECT_DOUBLE_EQ(run.meter.finish(3 * second).joules, 140 + 110 + 90);
}

TEST(Meter, KnowsWhatNodesDrawWithoutRanks)
{
  Power power = power_of(2);
  power.unused = Unused::off;
  Meter meter(power, {0, 0}, {});
  meter.rank_begins(0, 0, 0);
  meter.rank_ends(0, 0, second);
  const Meter::Sums sums = meter.finish(2 * second);
  EXPECT_DOUBLE_EQ(sums.nodes[0].joules, 200);
  EXPECT_DOUBLE_EQ(sums.nodes[0].unclaimed, 100);
  EXPECT_DOUBLE_EQ(sums.nodes[1].joules, 20);
  EXPECT_FALSE(sums.nodes[1].used);
}

TEST(Meter, SplitsByPhases)
{
  Metered run(1);
  run.meter.rank_begins(0, 0, 0);
  run.meter.did(0, 0, 0, computing, 0, 2 * second);
  run.meter.phase(0, 0, 1, second);
  run.meter.phase(0, 0, 0, 3 * second);
  const Meter::Sums sums = run.meter.finish(4 * second);
  EXPECT_DOUBLE_EQ(sums.ranks[0].phases[0], 140 + 100);
  EXPECT_DOUBLE_EQ(sums.ranks[0].phases[1], 140 + 100);
}

TEST(Meter, LeavesOutWhatIsAfterTheEnd)
{
  Metered run(1);
  run.meter.rank_begins(0, 0, 0);
  run.meter.did(0, 0, 0, computing, 0, 2 * second);
  run.meter.rank_ends(0, 0, 3 * second);
  const Meter::Sums sums = run.meter.finish(second);
  EXPECT_DOUBLE_EQ(sums.joules, 140);
  EXPECT_DOUBLE_EQ(sums.ranks[0].joules(), 140);
}

// --- random histories ---

struct Told {
  SimTime known; // nothing of it may be settled before that
  std::function<void(Meter&)> tell;
};

std::vector<Told> history(unsigned seed, std::size_t nodes, std::size_t ranks, SimTime end)
{
  std::mt19937 random(seed);
  const auto upto = [&random](SimTime most) { return std::uniform_int_distribution<SimTime>(0, most)(random); };
  std::vector<Told> told;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto node = static_cast<std::uint32_t>(rank % nodes);
    const SimTime begin = upto(end / 10);
    const SimTime finish = end - upto(end / 10);
    told.push_back({begin, [=](Meter& meter) { meter.rank_begins(rank, node, begin); }});
    told.push_back({finish, [=](Meter& meter) { meter.rank_ends(rank, node, finish); }});
    for (SimTime at = begin; at < finish;) {
      const SimTime until = std::min(finish, at + upto(end / 50));
      const auto core = static_cast<unsigned>(upto(3));
      const auto activity = static_cast<Activity>(upto(2));
      told.push_back({at, [=](Meter& meter) { meter.did(rank, node, core, activity, at, until); }});
      if (upto(9) == 0)
        told.push_back(
            {at, [=, phase = static_cast<std::size_t>(upto(2))](Meter& meter) { meter.phase(rank, node, phase, at); }});
      at = until + upto(end / 100);
    }
  }
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (int i = 0; i < 5; ++i)
      told.push_back({upto(end), nullptr}),
          told.back().tell = [=, at = told.back().known, state = static_cast<std::uint8_t>(i % 2)](Meter& meter) {
            meter.state(node, state, at);
          };
  return told;
}

class Random : public testing::TestWithParam<unsigned>
{
};

TEST_P(Random, SumsAreTheIntegralOfThePower)
{
  constexpr std::size_t nodes = 3;
  constexpr SimTime end = 7 * second + 12'345;
  std::vector<long double> integrals(nodes);
  std::vector<double> watts(nodes);
  std::vector<SimTime> since(nodes);
  const auto step = [&](SimTime at, std::uint32_t node) {
    integrals[node] += watts[node] * static_cast<long double>(at - since[node]) / second;
    since[node] = at;
  };
  Metered run(nodes, [&](SimTime at, std::uint32_t node, double now) {
    ASSERT_GE(at, since[node]);
    step(at, node);
    watts[node] = now;
  });
  for (const Told& one : history(GetParam(), nodes, 10, end))
    one.tell(run.meter);
  const Meter::Sums sums = run.meter.finish(end);
  double ranks = 0;
  for (const Meter::Rank& rank : sums.ranks) {
    ranks += rank.joules();
    EXPECT_NEAR(std::accumulate(rank.phases.begin(), rank.phases.end(), 0.0), rank.joules(), 1e-9 * rank.joules());
  }
  double all = 0;
  double unclaimed = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    step(end, node);
    EXPECT_NEAR(sums.nodes[node].joules, static_cast<double>(integrals[node]), 1e-11 * sums.nodes[node].joules);
    all += sums.nodes[node].joules;
    unclaimed += sums.nodes[node].unclaimed;
  }
  EXPECT_NEAR(sums.joules, all, 1e-12 * all);
  EXPECT_NEAR(sums.joules, ranks + unclaimed, 1e-11 * all);
}

TEST_P(Random, SumsDoNotDependOnWhenTheyAreTold)
{
  constexpr std::size_t nodes = 2;
  constexpr SimTime end = 5 * second;
  std::vector<Told> told = history(GetParam(), nodes, 6, end);
  Metered in_order(nodes);
  for (const Told& one : told)
    one.tell(in_order.meter);
  const Meter::Sums expected = in_order.meter.finish(end);
  std::mt19937 random(GetParam() + 1);
  std::shuffle(told.begin(), told.end(), random);
  Metered shuffled(nodes);
  for (std::size_t i = 0; i < told.size(); ++i) {
    told[i].tell(shuffled.meter);
    SimTime earliest = end;
    for (std::size_t left = i + 1; left < told.size(); ++left)
      earliest = std::min(earliest, told[left].known);
    if (i % 16 == 0)
      shuffled.meter.settle(earliest);
  }
  const Meter::Sums got = shuffled.meter.finish(end);
  EXPECT_EQ(got.joules, expected.joules);
  EXPECT_EQ(got.peak, expected.peak);
  EXPECT_EQ(got.peak_at, expected.peak_at);
  for (std::size_t rank = 0; rank < expected.ranks.size(); ++rank) {
    EXPECT_EQ(got.ranks[rank].activities, expected.ranks[rank].activities);
    EXPECT_EQ(got.ranks[rank].phases, expected.ranks[rank].phases);
    EXPECT_EQ(got.ranks[rank].idle, expected.ranks[rank].idle);
  }
}

INSTANTIATE_TEST_SUITE_P(Meter, Random, testing::Range(1U, 21U));

} // namespace
} // namespace umwelt::energy
