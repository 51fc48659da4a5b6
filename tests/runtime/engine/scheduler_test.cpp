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

TEST_F(SchedulerTest, SleepersWakeInOrderOfTheirTimes)
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

TEST_F(SchedulerTest, WhoIsPreferredComesBeforeTheOtherReadyOnes)
{
  Actor* last = nullptr;
  Actor& blocked = scheduler.spawn(
      "blocked",
      [this] {
        scheduler.block();
        log.emplace_back("blocked");
      },
      stack);
  scheduler.spawn(
      "a",
      [&] {
        scheduler.prefer(*last);
        scheduler.prefer(blocked); // not ready: nothing happens
        scheduler.yield();
        log.emplace_back("a");
        scheduler.wake(blocked);
      },
      stack);
  scheduler.spawn(
      "b", [this] { log.emplace_back("b"); }, stack);
  last = &scheduler.spawn(
      "c", [this] { log.emplace_back("c"); }, stack);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"c", "b", "a", "blocked"}));
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

TEST_F(SchedulerTest, AnEventComesBeforeABackgroundWaitThatEndsAtTheSameTime)
{
  scheduler.spawn(
      "helper",
      [this] {
        EXPECT_FALSE(scheduler.block_in_background(10));
        log.emplace_back("helper");
      },
      stack);
  scheduler.spawn(
      "worker",
      [this] {
        scheduler.sleep(10);
        log.emplace_back("worker");
        scheduler.sleep(1);
      },
      stack);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"worker", "helper"}));
}

TEST_F(SchedulerTest, TheBeatComesNowAndThen)
{
  constexpr int turns = 20'000;
  int beats = 0;
  scheduler.on_beat = [&] { ++beats; };
  for (const char* name : {"a", "b"})
    scheduler.spawn(
        name,
        [this] {
          for (int i = 0; i < turns / 2; ++i)
            scheduler.sleep(1);
        },
        stack);
  scheduler.run();
  EXPECT_GE(beats, 2);
  EXPECT_LE(beats, turns / 1000);
}

TEST_F(SchedulerTest, NobodyNeedsToHearTheBeat)
{
  for (const char* name : {"a", "b"})
    scheduler.spawn(
        name,
        [this] {
          for (int i = 0; i < 10'000; ++i)
            scheduler.sleep(1);
        },
        stack);
  scheduler.run();
  EXPECT_EQ(timeline.now(), 10'000);
}

TEST_F(SchedulerTest, WorkOutsideOfTheTimelineIsAdvancedFromTheMainStackOnly)
{
  bool pending = true;
  int on_actors_stack = 0;
  scheduler.external_pending = [&] { return pending; };
  scheduler.advance_external = [&](sim::SimTime limit) {
    EXPECT_EQ(limit, sim::never);
    on_actors_stack += scheduler.current() != nullptr ? 1 : 0;
    timeline.advance_to(7);
    pending = false;
    scheduler.wake(*scheduler.actors().front());
    return true;
  };
  scheduler.spawn(
      "a",
      [this] {
        EXPECT_TRUE(scheduler.block());
        log.push_back(std::to_string(scheduler.now()));
      },
      stack);
  scheduler.run();
  EXPECT_EQ(on_actors_stack, 0);
  EXPECT_EQ(log, (std::vector<std::string>{"7"}));
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

// An actor that is away until something outside says that it is back; `busy` is what is known of it.
class AbsenceTest : public SchedulerTest
{
protected:
  AbsenceTest()
  {
    scheduler.await_absent = [this](SimTime next) {
      asked.push_back(next);
      if (next <= busy)
        return false;
      scheduler.wake(*away);
      return true;
    };
    away = &scheduler.spawn(
        "away",
        [this] {
          ++scheduler.absent;
          scheduler.block();
          --scheduler.absent;
          log.push_back("back " + std::to_string(scheduler.now()));
        },
        stack);
  }
  void sleep(SimTime duration)
  {
    scheduler.spawn(
        "sleeper",
        [this, duration] {
          scheduler.sleep(duration);
          log.push_back("slept " + std::to_string(scheduler.now()));
        },
        stack);
  }

  Actor* away = nullptr;
  SimTime busy = 0; // it cannot be back before
  std::vector<SimTime> asked;
};

TEST_F(AbsenceTest, TimeStandsStillUntilTheAbsentActorIsBack)
{
  sleep(50);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"back 0", "slept 50"}));
}

TEST_F(AbsenceTest, TimeGoesOnAsFarAsTheAbsentActorAllows)
{
  busy = 50;
  sleep(50);
  sleep(60);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"slept 50", "back 50", "slept 60"}));
}

TEST_F(AbsenceTest, WithNothingDueItIsWaitedForWithoutLimit)
{
  scheduler.on_stall = [] {
    ADD_FAILURE() << "somebody may come back";
    return false;
  };
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"back 0"}));
  EXPECT_EQ(asked, (std::vector<SimTime>{sim::never}));
}

TEST_F(AbsenceTest, WhoIsReadyDoesNotWaitForTheAbsentActor)
{
  for (const char* name : {"a", "b"})
    scheduler.spawn(
        name,
        [this, name] {
          scheduler.yield();
          log.emplace_back(name);
          EXPECT_TRUE(asked.empty());
        },
        stack);
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"a", "b", "back 0"}));
}

TEST_F(AbsenceTest, NoTimePassesByTheWay)
{
  scheduler.spawn(
      "a",
      [this] {
        EXPECT_FALSE(scheduler.pass(10));
        EXPECT_EQ(scheduler.now(), 0);
      },
      stack);
  scheduler.run();
}

TEST_F(AbsenceTest, NobodyIsAskedOnceAllAreBack)
{
  sleep(50);
  sleep(60);
  scheduler.run();
  EXPECT_EQ(asked.size(), 1U);
}

// The absent actor keeps the simulation going, though nothing of it is on the timeline.
TEST_F(AbsenceTest, ABackgroundWaitEndsInTimeMeanwhile)
{
  busy = 50;
  scheduler.spawn(
      "helper",
      [this] {
        EXPECT_FALSE(scheduler.block_in_background(40));
        log.push_back("helper " + std::to_string(scheduler.now()));
        EXPECT_FALSE(scheduler.block_in_background(60));
      },
      stack);
  scheduler.on_stall = [this] {
    EXPECT_EQ(scheduler.absent, 0U);
    return scheduler.wake_background();
  };
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::string>{"helper 40", "back 40"}));
}

TEST_F(SchedulerTest, RemembersWhoHasWaited)
{
  Actor& actor = scheduler.spawn(
      "a",
      [this] {
        scheduler.sleep(10); // nobody else: no switch
        EXPECT_FALSE(scheduler.current()->take_waited());
        scheduler.block(20);
        EXPECT_TRUE(scheduler.current()->take_waited());
        EXPECT_FALSE(scheduler.current()->take_waited());
        scheduler.block_in_background(30);
      },
      stack);
  scheduler.on_stall = [this] { return scheduler.wake_background(); };
  scheduler.run();
  EXPECT_TRUE(actor.take_waited());
}

// It may find what it waits for elsewhere; then the clock is needed on.
TEST_F(SchedulerTest, ABackgroundWaitWithoutLimitEndsAtTheSameTime)
{
  sim::SimTime woken = -1;
  scheduler.spawn(
      "a",
      [this, &woken] {
        scheduler.sleep(10);
        scheduler.block_in_background(sim::never);
        woken = scheduler.now();
        scheduler.sleep(5);
      },
      stack);
  scheduler.on_stall = [this] { return scheduler.wake_background(); };
  scheduler.run();
  EXPECT_EQ(woken, 10);
  EXPECT_EQ(scheduler.now(), 15);
}

// It stood in the list of those that wait for ever, and was woken in the middle of another wait, or after its end.
TEST_F(SchedulerTest, WhoHasWaitedInTheBackgroundWithoutADeadlineNoLongerDoes)
{
  Actor& waiter = scheduler.spawn(
      "waiter",
      [this] {
        EXPECT_TRUE(scheduler.block_in_background(sim::never));
        scheduler.block();
        log.emplace_back("woken once more");
      },
      stack);
  scheduler.spawn(
      "waker", [this, &waiter] { scheduler.wake(waiter); }, stack);
  bool in_background = true;
  scheduler.on_stall = [this, &in_background] { return in_background = scheduler.wake_background(); };
  scheduler.run();
  EXPECT_FALSE(in_background);
  EXPECT_TRUE(log.empty());
}

} // namespace
} // namespace umwelt::engine
