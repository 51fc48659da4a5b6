// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks that look again and again, and find nothing.
#include "runtime/job/polling.h"

#include <vector>

#include <gmock/gmock.h>

#include "runtime/base/exit_codes.h"
#include "tests/runtime/job/programs.h"

namespace umwelt::job::test
{
namespace
{

constexpr SimTime us = sim::microsecond;

using PollingTest = JobTest;

// Looks until it has been blocked; how often that was before it came back.
unsigned poll_until_blocked(Rank& rank)
{
  for (unsigned polls = 1; polls < 1000; ++polls)
    if (rank.job.polling().empty(rank))
      return polls;
  return 0;
}

TEST_F(PollingTest, AFewEmptyPollsAreAnsweredThenTheRankIsBlocked)
{
  Rank* looks = nullptr;
  run({[&](Rank& rank) {
         looks = &rank;
         EXPECT_EQ(poll_until_blocked(rank), UMW_QUICK_POLLS + 1U);
         EXPECT_EQ(now(rank), 15 * us);
       },
       [&](Rank& rank) {
         sleep(rank, 15 * us);
         looks->notify_network();
       }});
  EXPECT_EQ(record.ranks[0].statistics.polls_answered, UMW_QUICK_POLLS + 0U);
  EXPECT_EQ(record.ranks[0].statistics.polls_saved, 150U); // of 100 ns
}

// It may be one that asks a few times and goes on, while others have much to do yet.
TEST_F(PollingTest, WhoIsBlockedGetsToLookAgainLaterAndLater)
{
  std::vector<SimTime> looked;
  run({[&](Rank& rank) {
         for (SimTime before = 0; looked.size() < 4; before = now(rank)) {
           EXPECT_FALSE(rank.job.polling().empty(rank));
           if (now(rank) > before)
             looked.push_back(now(rank));
         }
       },
       [](Rank& rank) { sleep(rank, sim::second); }});
  EXPECT_THAT(looked, testing::ElementsAre(20 * us, 80 * us, 320 * us, 1280 * us));
}

TEST_F(PollingTest, WhoComputesInBetweenIsLeftAlone)
{
  run(
      [](Rank& rank) {
        for (int i = 0; i < 1000; ++i) {
          rank.running().poll.computed = true;
          EXPECT_FALSE(rank.job.polling().empty(rank));
        }
      },
      1);
}

TEST_F(PollingTest, WhatHasComeMakesPollsCountAgain)
{
  Rank* looks = nullptr;
  run({[&](Rank& rank) {
         looks = &rank;
         rank.running().poll.empty = UMW_QUICK_POLLS;
         Polling::changed(rank);
         EXPECT_FALSE(rank.job.polling().empty(rank));
         rank.job.polling().productive(rank);
         EXPECT_EQ(poll_until_blocked(rank), UMW_QUICK_POLLS + 1U);
       },
       [&](Rank& rank) {
         sleep(rank, us);
         looks->notify_network();
       }});
}

// A first look that is answered at once tells nobody; what was written before it is told when the next one waits.
TEST_F(PollingTest, WhatWasWrittenBeforeALookIsToldWhenItWaits)
{
  options.cpu.kind = engine::CpuPolicy::Kind::measured;
  per_node = 2;
  for (const std::uint32_t operation : {UMW_OP_umw_slice_pause, UMW_OP_umw_look_again, UMW_OP_umw_slice_park}) {
    Rank* writes = nullptr;
    std::uint64_t before = 0;
    run({[&](Rank& rank) {
           writes = &rank;
           sleep(rank, us);
           rank.memory_peers = {rank.job.ranks()[1].get()};
           before = rank.memory_peers.front()->gate.changes;
           // Something has changed meanwhile, or it has not looked often enough.
           request(rank, operation, umw_args_umw_slice_pause{0, rank.gate.changes - 1, 0});
           EXPECT_EQ(rank.memory_peers.front()->gate.changes, before);
           request(rank, operation, umw_args_umw_slice_pause{0, rank.gate.changes, 1});
           rank.memory_peers.clear();
         },
         [&](Rank& rank) {
           sleep(rank, sim::second); // what this machine takes for the others' calls counts
           EXPECT_GT(rank.gate.changes, before);
           writes->memory_changed();
         }});
  }
}

// It may wait for a time that nobody else knows: it goes on in steps.
TEST_F(PollingTest, WhoLooksAtTheClockGoesOnByItself)
{
  const Outcome outcome = run(
      [](Rank& rank) {
        SimTime before = 0;
        unsigned steps = 0;
        while (now(rank) < 100 * us) {
          ++rank.gate.clock.looks;
          if (rank.job.polling().empty(rank) || now(rank) > before)
            ++steps;
          ASSERT_LE(now(rank) - before, 10 * us);
          before = now(rank);
        }
        EXPECT_GT(steps, 10U);
      },
      1);
  EXPECT_EQ(outcome.exit_code, 0) << said;
}

TEST_F(PollingTest, WhoPollsForWhatNeverComesIsADeadlockInTheEnd)
{
  std::uint64_t polls = 0;
  const Outcome outcome = run(
      [&polls](Rank& rank) {
        for (;; ++polls)
          rank.job.polling().empty(rank);
      },
      1);
  EXPECT_EQ(outcome.exit_code, exit_code::deadlock);
  EXPECT_GT(polls, 1000U); // it may have been counting
}

// The rounds that it is let go are enough for one that counts what it does.
TEST_F(PollingTest, WhoCountsItsPollsComesToTheEnd)
{
  const Outcome outcome = run(
      [](Rank& rank) {
        for (int i = 0; i < 20'000; ++i)
          rank.job.polling().empty(rank);
      },
      2);
  EXPECT_EQ(outcome.exit_code, 0) << said;
}

} // namespace
} // namespace umwelt::job::test
