// SPDX-License-Identifier: LGPL-2.1-or-later
// How jobs end.
#include "runtime/job/job.h"

#include <csignal>

#include <gmock/gmock.h>

#include "runtime/base/exit_codes.h"
#include "tests/runtime/job/programs.h"

namespace umwelt::job::test
{
namespace
{

using testing::HasSubstr;
using testing::Not;

constexpr SimTime us = sim::microsecond;

void wait_for_ever(Rank& rank)
{
  static std::uint32_t word = 0;
  request(rank, UMW_OP_umw_futex, umw_args_umw_futex{0, &word, 0, 0, 0, nullptr, 0});
}

using JobEndTest = JobTest;

TEST_F(JobEndTest, IsThatOfTheLastRank)
{
  const Outcome outcome = run([](Rank& rank) { sleep(rank, (1 + rank.index) * us); }, 3);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.ending, "completed");
  EXPECT_EQ(said, "");
  EXPECT_EQ(record.simulated, 3 * us);
  ASSERT_EQ(record.ranks.size(), 3U);
  EXPECT_EQ(record.ranks[0].finished, us);
}

TEST_F(JobEndTest, AnExitCodeEndsAll)
{
  bool reached = false;
  const Outcome outcome = run({[&](Rank& rank) {
                                 sleep(rank, sim::second);
                                 reached = true;
                               },
                               [](Rank& rank) {
                                 sleep(rank, us);
                                 rank.job.exited(rank, 3);
                               }});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_FALSE(reached);
  EXPECT_THAT(said, HasSubstr("ended with exit code 3 at simulated time 0.000001 s; the job is ended"));
}

TEST_F(JobEndTest, ASignalIsTold)
{
  const Outcome outcome = run([](Rank& rank) { rank.job.died(rank, SIGSEGV, " at address 0x10\n"); }, 1);
  EXPECT_EQ(outcome.exit_code, exit_code::signalled + SIGSEGV);
  EXPECT_THAT(said, HasSubstr("died of signal 11 (Segmentation fault) at address 0x10, running"));
}

TEST_F(JobEndTest, AnAbortHasTheCodeOfItsCall)
{
  const Outcome outcome = run([](Rank& rank) { rank.job.aborted(rank, 259, "MPI_Abort", "no more"); }, 2);
  EXPECT_EQ(outcome.exit_code, 3); // of 8 bits
  EXPECT_THAT(said, HasSubstr("called MPI_Abort with code 259"));
  EXPECT_THAT(said, HasSubstr("no more"));
}

TEST_F(JobEndTest, ADeadlockSaysWhereEverybodyIs)
{
  const Outcome outcome = run({[](Rank& rank) { sleep(rank, 2 * us); }, wait_for_ever});
  EXPECT_EQ(outcome.exit_code, exit_code::deadlock);
  EXPECT_THAT(said, HasSubstr("deadlock at simulated time 0.000002 s"));
  EXPECT_THAT(said, HasSubstr("ended at 0.000002 s"));
  EXPECT_THAT(said, HasSubstr("in umw_futex since 0.000000 s"));
  EXPECT_THAT(said, HasSubstr("Next step"));
}

TEST_F(JobEndTest, WhatIsToComeIsNoDeadlock)
{
  const Outcome outcome = run({[](Rank& rank) { sleep(rank, 2 * 3600 * sim::second); }, [](Rank&) {}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(said, Not(HasSubstr("deadlock")));
}

TEST_F(JobEndTest, AFenceIsLeftByAllAtTheSameTime)
{
  std::vector<SimTime> left;
  run(
      [&](Rank& rank) {
        sleep(rank, rank.index * us);
        request(rank, UMW_OP_umw_fence, umw_args_umw_fence{});
        left.push_back(now(rank));
      },
      3);
  ASSERT_EQ(left.size(), 3U);
  EXPECT_GT(left[0], 2 * us);
  EXPECT_EQ(left[0], left[1]);
  EXPECT_EQ(left[0], left[2]);
}

TEST_F(JobEndTest, AFenceThatOneDoesNotComeToIsADeadlock)
{
  const Outcome outcome =
      run({[](Rank& rank) { request(rank, UMW_OP_umw_fence, umw_args_umw_fence{}); }, [](Rank&) {}});
  EXPECT_EQ(outcome.exit_code, exit_code::deadlock);
  EXPECT_THAT(said, HasSubstr("in umw_fence"));
}

} // namespace
} // namespace umwelt::job::test
