// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/cores.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace umwelt::job
{
namespace
{

using sim::SimTime;
using Ends = std::map<std::string, SimTime>;

constexpr std::size_t stack = 256 * 1024;

class CoresTest : public testing::Test
{
protected:
  // An actor that computes for `work` from `begin` on, at first on core `core`.
  void spawn(const std::string& name, SimTime begin, SimTime work, unsigned core, std::vector<unsigned> allowed)
  {
    places.push_back(std::make_unique<engine::CoreBinding>(engine::CoreBinding{core, std::move(allowed)}));
    scheduler.spawn(
        name,
        [this, name, begin, work, place = places.back().get()] {
          scheduler.sleep(begin);
          cores.at(0, place->core).spend(work, place);
          ends[name] = scheduler.now();
        },
        stack);
  }

  const Ends& run()
  {
    scheduler.run();
    return ends;
  }

  sim::Timeline timeline;
  engine::Scheduler scheduler{timeline};
  Cores cores{scheduler, 1};
  std::vector<std::unique_ptr<engine::CoreBinding>> places;
  Ends ends;
};

TEST_F(CoresTest, AnIdleCoreTakesOver)
{
  spawn("a", 0, 100, 0, {0, 1});
  spawn("b", 0, 100, 0, {0, 1});
  spawn("c", 0, 20, 1, {0, 1});
  EXPECT_EQ(run(), (Ends{{"a", 110}, {"b", 110}, {"c", 20}}));
  EXPECT_EQ(places[1]->core, 1U); // the one that came last moved, with 90 left
}

TEST_F(CoresTest, ThreeAndOneBecomeTwoAndTwo)
{
  for (const char* name : {"a", "b", "c"})
    spawn(name, 0, 90, 0, {0, 1});
  spawn("d", 0, 100, 1, {0, 1});
  spawn("e", 0, 15, 1, {0, 1}); // until 30; then a, b, c have 80 left, d 85
  EXPECT_EQ(run(), (Ends{{"a", 190}, {"b", 190}, {"c", 190}, {"d", 195}, {"e", 30}}));
}

TEST_F(CoresTest, ABurstMayNotLeaveTheCoresItIsBoundTo)
{
  spawn("a", 0, 100, 0, {0});
  spawn("b", 0, 100, 0, {0, 2});
  spawn("c", 0, 20, 1, {1});
  EXPECT_EQ(run(), (Ends{{"a", 200}, {"b", 200}, {"c", 20}}));
}

TEST_F(CoresTest, ABurstOfUnknownLengthMovesWithWhatItHasDone)
{
  engine::CoreBinding place{0, {0, 1}};
  engine::Core::Burst burst;
  spawn("a", 0, 100, 0, {0});
  spawn("c", 0, 20, 1, {1});
  scheduler.spawn(
      "b",
      [&] {
        cores.at(0, 0).begin(burst, &place);
        scheduler.sleep(60); // 10 done by 20, then alone
        cores.at(0, place.core).finish(burst, 70);
        ends["b"] = scheduler.now();
      },
      stack);
  EXPECT_EQ(run(), (Ends{{"a", 110}, {"b", 80}, {"c", 20}}));
  EXPECT_EQ(place.core, 1U);
}

TEST_F(CoresTest, ADroppedBurstMakesRoom)
{
  engine::CoreBinding place{1, {0, 1}};
  engine::Core::Burst burst;
  spawn("a", 0, 100, 0, {0, 1});
  spawn("b", 0, 100, 0, {0, 1});
  scheduler.spawn(
      "c",
      [&] {
        cores.at(0, 1).begin(burst, &place);
        scheduler.sleep(20);
        cores.at(0, 1).drop(burst);
      },
      stack);
  EXPECT_EQ(run(), (Ends{{"a", 110}, {"b", 110}}));
}

TEST_F(CoresTest, ChoosesTheCoreThatFewestComputeOn)
{
  spawn("a", 0, 100, 0, {0});
  spawn("b", 0, 100, 1, {1});
  spawn("c", 0, 100, 1, {1});
  engine::CoreBinding free{1, {0, 1}};
  engine::CoreBinding elsewhere{5, {1, 2}}; // its core was taken from it
  scheduler.spawn(
      "d",
      [&] {
        scheduler.sleep(10);
        cores.choose(0, free);
        cores.choose(0, elsewhere);
      },
      stack);
  run();
  EXPECT_EQ(free.core, 0U);
  EXPECT_EQ(elsewhere.core, 2U);
}

} // namespace
} // namespace umwelt::job
