// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/scheduler.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace umwelt::engine
{
namespace
{

constexpr std::size_t stack = 256 * 1024;

class SchedulerTest : public testing::Test
{
protected:
  sim::Timeline timeline;
  Scheduler scheduler{timeline};
  std::vector<std::string> log;
};

TEST_F(SchedulerTest, RunsActorsInOrderOfCreation)
{
  for (const char* name : {"a", "b", "c"})
    scheduler.spawn(
        name, [this, name] { log.emplace_back(name); }, stack);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(SchedulerTest, SleepMovesTimeByItsDuration)
{
  scheduler.spawn(
      "a",
      [this] {
        scheduler.sleep(5 * sim::microsecond);
        EXPECT_EQ(scheduler.now(), 5 * sim::microsecond);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(timeline.now(), 5 * sim::microsecond);
}

TEST_F(SchedulerTest, SleepersWakeInOrderOfTheirDates)
{
  for (const int delay : {30, 10, 20})
    scheduler.spawn(
        "a",
        [this, delay] {
          scheduler.sleep(delay);
          log.push_back(std::to_string(delay));
        },
        stack);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"10", "20", "30"}));
}

TEST_F(SchedulerTest, BlockTellsAWakeUpFromATimeOut)
{
  Actor& sleeper = scheduler.spawn(
      "sleeper",
      [this] {
        EXPECT_TRUE(scheduler.block(100));
        EXPECT_EQ(scheduler.now(), 40);
        EXPECT_FALSE(scheduler.block(100));
        EXPECT_EQ(scheduler.now(), 100);
      },
      stack);
  scheduler.spawn(
      "waker",
      [this, &sleeper] {
        scheduler.sleep(40);
        scheduler.wake(sleeper);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(sleeper.state(), Actor::State::ended);
}

TEST_F(SchedulerTest, WakingSomebodyWhoIsNotBlockedDoesNothing)
{
  Actor& other = scheduler.spawn(
      "other", [this] { log.emplace_back("ran"); }, stack);
  scheduler.wake(other);
  scheduler.run();
  EXPECT_EQ(log.size(), 1u);
}

TEST_F(SchedulerTest, YieldLetsTheOthersRunFirst)
{
  scheduler.spawn(
      "a",
      [this] {
        scheduler.yield();
        log.emplace_back("a");
      },
      stack);
  scheduler.spawn(
      "b", [this] { log.emplace_back("b"); }, stack);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"b", "a"}));
}

TEST_F(SchedulerTest, AStallThatNobodyEndsStopsTheRun)
{
  int asked = 0;
  Actor& stuck = scheduler.spawn(
      "stuck", [this] { scheduler.block(); }, stack);
  scheduler.on_stall = [&asked] {
    ++asked;
    return false;
  };
  scheduler.run();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(stuck.state(), Actor::State::blocked);
}

TEST_F(SchedulerTest, OnStallMayWakeSomebody)
{
  Actor& stuck = scheduler.spawn(
      "stuck", [this] { scheduler.block(); }, stack);
  scheduler.on_stall = [this, &stuck] {
    scheduler.wake(stuck);
    return true;
  };
  scheduler.run();
  EXPECT_EQ(stuck.state(), Actor::State::ended);
}

TEST_F(SchedulerTest, ABackgroundWaitDoesNotKeepTheSimulationGoing)
{
  scheduler.spawn(
      "helper", [this] { scheduler.block_in_background(sim::second); }, stack);
  scheduler.on_stall = [] { return false; };
  scheduler.run();
  EXPECT_EQ(timeline.now(), 0);
}

TEST_F(SchedulerTest, ABackgroundWaitEndsInTimeWhileOthersGoOn)
{
  scheduler.spawn(
      "helper",
      [this] {
        EXPECT_FALSE(scheduler.block_in_background(10));
        log.push_back(std::to_string(scheduler.now()));
      },
      stack);
  scheduler.spawn(
      "worker", [this] { scheduler.sleep(50); }, stack);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"10"}));
}

TEST_F(SchedulerTest, AKilledActorNeverRunsAgain)
{
  Actor& victim = scheduler.spawn(
      "victim",
      [this] {
        scheduler.sleep(10);
        log.emplace_back("survived");
      },
      stack);
  scheduler.spawn(
      "killer",
      [this, &victim] {
        scheduler.kill(victim);
        scheduler.sleep(20);
      },
      stack);
  scheduler.run();
  EXPECT_TRUE(log.empty());
}

TEST_F(SchedulerTest, AVisitRunsOnTheOtherStackAndComesBack)
{
  Actor& host = scheduler.spawn(
      "host",
      [this] {
        scheduler.sleep(10);
        log.push_back("woken " + std::to_string(scheduler.now()));
      },
      stack);
  scheduler.spawn(
      "guest",
      [this, &host] {
        bool there = false;
        scheduler.visit(host, [&there, &host] {
          const char here = 0;
          there = &here < host.stack().top() && &here >= static_cast<char*>(host.stack().top()) - host.stack().size();
        });
#if !defined(__SANITIZE_ADDRESS__) // which keeps locals elsewhere
        EXPECT_TRUE(there);
#endif
        EXPECT_EQ(host.state(), Actor::State::blocked);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"woken 10"}));
}

TEST_F(SchedulerTest, StopAbandonsWhoIsStillThere)
{
  scheduler.spawn(
      "a",
      [this] {
        scheduler.stop();
        scheduler.sleep(10);
        log.emplace_back("went on");
      },
      stack);
  scheduler.run();
  EXPECT_TRUE(log.empty());
}

TEST_F(SchedulerTest, ManyActorsInterleaveTheSameWayTwice)
{
  const auto once = [] {
    sim::Timeline time;
    Scheduler many(time);
    std::string trace;
    for (int i = 0; i < 20; ++i)
      many.spawn(
          "x",
          [&many, &trace, i] {
            for (int round = 0; round < 20; ++round) {
              many.sleep((i * 7 + round * 13) % 11);
              trace += static_cast<char>('a' + i);
            }
          },
          stack);
    many.run();
    return trace;
  };
  EXPECT_EQ(once(), once());
}

TEST(StackTest, KnowsItsGuardPage)
{
  const Stack one(1 << 20);
  EXPECT_TRUE(one.guards(static_cast<char*>(one.top()) - one.size() - 1));
  EXPECT_FALSE(one.guards(static_cast<char*>(one.top()) - one.size()));
}

} // namespace
} // namespace umwelt::engine
