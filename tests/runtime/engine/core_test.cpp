// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/core.h"

#include <vector>

#include <gtest/gtest.h>

namespace umwelt::engine
{
namespace
{

constexpr std::size_t stack = 256 * 1024;

class CoreTest : public testing::Test
{
protected:
  // An actor that begins at `begin`, computes for each of `bursts` and notes when it is done.
  void spawn(SimTime begin, std::vector<SimTime> bursts)
  {
    ends.push_back(-1);
    scheduler.spawn(
        "a",
        [this, begin, bursts, index = ends.size() - 1] {
          scheduler.sleep(begin);
          for (const SimTime burst : bursts)
            core.spend(burst);
          ends[index] = scheduler.now();
        },
        stack);
  }

  sim::Timeline timeline;
  Scheduler scheduler{timeline};
  Core core{scheduler};
  std::vector<SimTime> ends;
};

TEST_F(CoreTest, OneBurstTakesItsTime)
{
  spawn(5, {100});
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{105}));
  EXPECT_EQ(core.load(), 0U);
}

TEST_F(CoreTest, EqualBurstsEndTogether)
{
  for (int i = 0; i < 3; ++i)
    spawn(0, {100});
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{300, 300, 300}));
}

TEST_F(CoreTest, AShortBurstGetsItsShareOfALongOne)
{
  spawn(0, {100});
  spawn(20, {30}); // half the core from 20 to 80
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{130, 80}));
}

TEST_F(CoreTest, WorkIsNeitherLostNorFound)
{
  spawn(0, {33, 10, 7});
  spawn(1, {50});
  spawn(2, {1, 1, 1, 1, 1});
  spawn(3, {13, 19});
  scheduler.run();
  EXPECT_EQ(timeline.now(), 33 + 10 + 7 + 50 + 5 + 13 + 19); // never idle in between
}

TEST_F(CoreTest, AKilledActorLeavesTheCoreToTheOthers)
{
  spawn(0, {100});
  Actor& other = scheduler.spawn(
      "other", [this] { core.spend(1000); }, stack);
  scheduler.spawn(
      "killer",
      [this, &other] {
        scheduler.sleep(100);
        core.forget(other);
        scheduler.kill(other);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{150})); // half of it until 100, all of it from there
}

} // namespace
} // namespace umwelt::engine
