// SPDX-License-Identifier: LGPL-2.1-or-later
// A rank's clock, its waits and its signals.
#include "runtime/job/rank.h"

#include <csignal>

#include <gmock/gmock.h>

#include "tests/runtime/job/programs.h"

namespace umwelt::job::test
{
namespace
{

using testing::ElementsAre;

constexpr SimTime us = sim::microsecond;
constexpr SimTime ns = sim::nanosecond;

using RankTest = JobTest;

siginfo_t signal_of(int number)
{
  siginfo_t information{};
  information.si_signo = number;
  return information;
}

TEST_F(RankTest, ADebtIsSpentWithTheNextCallThatActs)
{
  run(
      [](Rank& rank) {
        rank.gate.clock.debt_ps = 700 * ns;
        request(rank, UMW_OP_umw_file_mask, umw_args_umw_file_mask{});
        EXPECT_EQ(now(rank), 700 * ns);
        EXPECT_EQ(rank.gate.clock.debt_ps, 0);
        EXPECT_EQ(rank.gate.clock.now_ps, 700 * ns);
      },
      1);
  EXPECT_EQ(record.ranks.front().statistics.compute, 700 * ns);
}

TEST_F(RankTest, ACallThatOnlyLooksLeavesASmallDebtStanding)
{
  run(
      [](Rank& rank) {
        rank.gate.clock.debt_ps = 700 * ns;
        rank.enter(true, false, {});
        EXPECT_EQ(now(rank), 0);
        EXPECT_EQ(rank.gate.clock.debt_ps, 700 * ns);
        rank.gate.clock.debt_ps = 7 * us;
        rank.enter(true, false, {});
        EXPECT_EQ(now(rank), 7 * us);
      },
      1);
}

// Of what a model of a kernel takes there is nothing to measure.
TEST_F(RankTest, WhatAModelSaysIsWorkToo)
{
  run(
      [](Rank& rank) {
        rank.gate.clock.debt_ps = 4 * us;
        rank.enter(true, false, {});
        EXPECT_FALSE(rank.running().poll.computed);
        rank.gate.clock.debt_ps = 5 * us;
        rank.enter(true, false, {});
        EXPECT_TRUE(rank.running().poll.computed);
      },
      1);
}

TEST_F(RankTest, WhatTheProgramHasSeenOfTheTimeHasPassed)
{
  run(
      [](Rank& rank) {
        rank.gate.clock.shown_ps = 9 * us;
        rank.enter(false, false, {});
        EXPECT_EQ(now(rank), 9 * us);
      },
      1);
}

TEST_F(RankTest, NobodySwitchesWhereThatIsForbidden)
{
  std::vector<int> order;
  run({[&](Rank& rank) {
         rank.gate.no_switch = 1;
         rank.gate.clock.debt_ps = 3 * us;
         rank.enter(false, false, {});
         order.push_back(0);
         EXPECT_EQ(now(rank), 0);
         rank.gate.no_switch = 0;
         rank.enter(false, false, {});
         order.push_back(2);
         EXPECT_EQ(now(rank), 3 * us);
       },
       [&](Rank& rank) {
         order.push_back(1);
         sleep(rank, us);
       }});
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST_F(RankTest, AWaitEndsWithItsDeadline)
{
  run(
      [](Rank& rank) {
        EXPECT_FALSE(rank.wait(4 * us));
        EXPECT_EQ(now(rank), 4 * us);
      },
      1);
  EXPECT_EQ(record.ranks.front().statistics.waiting, 4 * us);
}

TEST_F(RankTest, WhoWaitsForTheNetworkIsNotAllWhoWait)
{
  std::vector<int> order;
  Rank* first = nullptr;
  Rank* second = nullptr;
  run({[&](Rank& rank) {
         first = &rank;
         EXPECT_TRUE(rank.wait(sim::never, Rank::For::network));
         order.push_back(0);
       },
       [&](Rank& rank) {
         second = &rank;
         EXPECT_TRUE(rank.wait(sim::never));
         order.push_back(1);
       },
       [&](Rank& rank) {
         sleep(rank, us);
         second->notify_network();
         first->notify_network();
         sleep(rank, us);
         EXPECT_THAT(order, ElementsAre(0));
         second->notify_all();
       }});
  EXPECT_THAT(order, ElementsAre(0, 1));
}

TEST_F(RankTest, PlacesAreWokenInOrderAndNotMoreThanAsked)
{
  std::vector<int> order;
  std::vector<Rank*> ranks(3);
  const auto at = [&](Rank& rank) {
    ranks[static_cast<std::size_t>(rank.index)] = &rank;
    rank.wait_at(7, 0, sim::never);
    order.push_back(rank.index);
  };
  run({at, at, [&](Rank& rank) {
         sleep(rank, us);
         ranks[0]->notify_at(8, 1);
         ranks[1]->notify_at(7, 0);
         sleep(rank, us);
         EXPECT_THAT(order, testing::IsEmpty());
         ranks[1]->notify_at(7, 1);
         sleep(rank, us);
         ranks[0]->notify_at(7, 1);
       }});
  EXPECT_THAT(order, ElementsAre(1, 0));
}

TEST_F(RankTest, ASignalIsDueUnlessItIsBlocked)
{
  run(
      [](Rank& rank) {
        Thread& self = rank.running();
        self.blocked = set_of(SIGUSR1);
        EXPECT_TRUE(rank.send_signal(signal_of(SIGUSR1)));
        EXPECT_FALSE(rank.signal_due(self));
        EXPECT_FALSE(rank.send_signal(signal_of(SIGUSR1))); // one pends
        self.blocked = 0;
        EXPECT_TRUE(rank.signal_due(self));
        siginfo_t taken{};
        EXPECT_EQ(rank.take_signal(set_of(SIGUSR2), taken), 0);
        EXPECT_EQ(rank.take_signal(set_of(SIGUSR1) | set_of(SIGUSR2), taken), SIGUSR1);
        EXPECT_FALSE(rank.signal_due(self));
      },
      1);
}

TEST_F(RankTest, WhatIsIgnoredIsDroppedUnlessItIsBlocked)
{
  run(
      [](Rank& rank) {
        Thread& self = rank.running();
        rank.send_signal(signal_of(SIGCHLD)); // by default
        EXPECT_EQ(rank.pending.signals(), 0U);
        self.blocked = set_of(SIGCHLD);
        rank.send_signal(signal_of(SIGCHLD));
        EXPECT_EQ(rank.pending.signals(), set_of(SIGCHLD));
        rank.ignore_signals(set_of(SIGCHLD));
        EXPECT_EQ(rank.pending.signals(), 0U);
      },
      1);
}

TEST_F(RankTest, ASignalInterruptsASleep)
{
  Rank* sleeper = nullptr;
  run({[&](Rank& rank) {
         sleeper = &rank;
         EXPECT_EQ(request(rank, UMW_OP_umw_sleep, umw_args_umw_sleep{0, 10 * us}), 8 * us);
         EXPECT_EQ(now(rank), 2 * us);
         siginfo_t taken{};
         rank.take_signal(~SignalSet{0}, taken);
       },
       [&](Rank& rank) {
         sleep(rank, 2 * us);
         sleeper->send_signal(signal_of(SIGUSR1));
       }});
}

TEST_F(RankTest, AProgramThatIsLoadingHearsOfNoSignal)
{
  run(
      [](Rank& rank) {
        rank.send_signal(signal_of(SIGUSR1));
        rank.program_changed();
        EXPECT_FALSE(rank.signal_due(rank.running()));
        siginfo_t taken{};
        rank.take_signal(set_of(SIGUSR1), taken);
        rank.job.started(rank);
      },
      1);
}

} // namespace
} // namespace umwelt::job::test
