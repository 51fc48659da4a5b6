// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/core.h"

#include <array>
#include <deque>
#include <utility>
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

TEST_F(CoreTest, NothingIsLeftOverFromBurstsBefore)
{
  for (int i = 0; i < 3; ++i)
    spawn(0, {1}); // a remainder
  for (int i = 0; i < 2; ++i)
    spawn(10, {5});
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{3, 3, 3, 20, 20}));
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

TEST_F(CoreTest, ABurstOfUnknownLengthEndsWhenItIsSaidTo)
{
  Core::Burst burst;
  scheduler.spawn(
      "a",
      [this, &burst] {
        core.begin(burst);
        EXPECT_EQ(core.load(), 1U);
        scheduler.sleep(40); // it computes meanwhile
        core.finish(burst, 100);
        EXPECT_EQ(scheduler.now(), 100);
        EXPECT_EQ(core.load(), 0U);
      },
      stack);
  scheduler.run();
  EXPECT_TRUE(burst.done);
}

TEST_F(CoreTest, ABurstOfUnknownLengthSharesTheCore)
{
  Core::Burst burst;
  spawn(10, {30}); // half the core from 10 to 70
  scheduler.spawn(
      "a",
      [this, &burst] {
        core.begin(burst);
        scheduler.sleep(100);
        core.finish(burst, 90); // has had 10 + 30 + 30 by now
        EXPECT_EQ(scheduler.now(), 120);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{70}));
}

TEST_F(CoreTest, ABurstThatWasShorterThanWhatHasGoneByEndsAtOnce)
{
  Core::Burst burst;
  spawn(0, {100}); // half the core until 50
  scheduler.spawn(
      "a",
      [this, &burst] {
        core.begin(burst);
        scheduler.sleep(50);
        core.finish(burst, 10);
        EXPECT_EQ(scheduler.now(), 50);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{125}));
}

TEST_F(CoreTest, ADroppedBurstLeavesTheCoreToTheOthers)
{
  Core::Burst burst;
  spawn(0, {100});
  scheduler.spawn(
      "a",
      [this, &burst] {
        core.begin(burst);
        scheduler.sleep(60);
        core.drop(burst);
        EXPECT_EQ(core.load(), 1U);
        core.begin(burst); // and may begin anew
        core.finish(burst, 20);
        EXPECT_EQ(scheduler.now(), 100);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{150})); // 70 left at 60, 50 of them at 100
}

TEST_F(CoreTest, ToDropABurstThatIsOverDoesNothing)
{
  Core::Burst burst;
  spawn(0, {100});
  scheduler.spawn(
      "a",
      [this, &burst] {
        core.begin(burst);
        core.finish(burst, 20);
        core.drop(burst);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{120}));
}

TEST_F(CoreTest, AWakeUpDoesNotEndABurst)
{
  Actor& computing = scheduler.spawn(
      "computing",
      [this] {
        Core::Burst burst;
        core.begin(burst);
        core.finish(burst, 100);
        EXPECT_EQ(scheduler.now(), 100);
      },
      stack);
  scheduler.spawn(
      "waker",
      [this, &computing] {
        scheduler.sleep(30);
        scheduler.wake(computing);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(timeline.now(), 100);
}

TEST_F(CoreTest, AKilledActorsUnfinishedBurstIsForgotten)
{
  Core::Burst burst;
  spawn(0, {100});
  Actor& other = scheduler.spawn(
      "other",
      [this, &burst] {
        core.begin(burst);
        scheduler.block();
      },
      stack);
  scheduler.spawn(
      "killer",
      [this, &other] {
        scheduler.sleep(50);
        core.forget(other);
        scheduler.kill(other);
        EXPECT_EQ(core.load(), 1U);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{125}));
}

// Two cores of a node: who is relieved takes over from the other.
class TwoCoresTest : public testing::Test, public Neighbours
{
protected:
  void relieved(Core& core) override
  {
    ++asked;
    const unsigned number = &core == &cores[1] ? 1 : 0;
    if (core.load() == 0)
      taken += core.take_over(cores[1 - number], number) ? 1 : 0;
  }

  // An actor that computes for `work` from `begin` on, on the first core at first.
  void spawn(SimTime begin, SimTime work, std::vector<unsigned> allowed)
  {
    ends.push_back(-1);
    places.push_back({0, std::move(allowed)});
    scheduler.spawn(
        "a",
        [this, begin, work, index = ends.size() - 1] {
          scheduler.sleep(begin);
          cores[0].spend(work, &places[index]);
          ends[index] = scheduler.now();
        },
        stack);
  }
  // Another that computes on the second core from 0 on.
  void occupy(SimTime work)
  {
    scheduler.spawn(
        "b", [this, work] { cores[1].spend(work); }, stack);
  }

  sim::Timeline timeline;
  Scheduler scheduler{timeline};
  std::array<Core, 2> cores{Core{scheduler, this}, Core{scheduler, this}};
  std::deque<CoreBinding> places;
  std::vector<SimTime> ends;
  int asked = 0;
  int taken = 0;
};

TEST_F(TwoCoresTest, WhoBeganLastGoesOnOnTheCoreThatIsRelieved)
{
  spawn(0, 100, {0, 1});
  spawn(0, 100, {0, 1}); // both have had 20 of it at 40
  occupy(40);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{120, 120}));
  EXPECT_EQ(places[0].core, 0U);
  EXPECT_EQ(places[1].core, 1U);
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(crowded, 0U);
}

TEST_F(TwoCoresTest, WhoMayNotUseTheOtherCoreStays)
{
  spawn(0, 100, {0, 1});
  spawn(0, 100, {0, 2}); // began last
  occupy(40);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{120, 120}));
  EXPECT_EQ(places[0].core, 1U);
  EXPECT_EQ(places[1].core, 0U);
}

TEST_F(TwoCoresTest, NobodyMayUseTheOtherCore)
{
  spawn(0, 100, {0});
  spawn(0, 100, {0});
  occupy(40);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{200, 200}));
  EXPECT_EQ(taken, 0);
}

TEST_F(TwoCoresTest, WorkOfUnknownLengthIsTakenOver)
{
  Core::Burst burst;
  CoreBinding place{0, {0, 1}};
  spawn(0, 100, {0});
  scheduler.spawn(
      "a",
      [&] {
        cores[0].begin(burst, &place);
        scheduler.sleep(60);
        EXPECT_EQ(place.core, 1U);
        cores[place.core].finish(burst, 50); // has had 20 and 20
        EXPECT_EQ(scheduler.now(), 70);
      },
      stack);
  occupy(40);
  scheduler.run();
  EXPECT_EQ(ends, (std::vector<SimTime>{120}));
}

TEST_F(TwoCoresTest, NeighboursAreAskedWhileSomeAreCrowdedOnly)
{
  spawn(0, 100, {0});
  occupy(40);
  scheduler.run();
  EXPECT_EQ(asked, 0);
}

} // namespace
} // namespace umwelt::engine
