// SPDX-License-Identifier: LGPL-2.1-or-later
// What every request goes through, whatever it asks for.
#include "runtime/gate/dispatch.h"

#include <gmock/gmock.h>

#include "tests/runtime/job/programs.h"

namespace umwelt::job::test
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

constexpr SimTime us = sim::microsecond;

using DispatchTest = JobTest;

TEST_F(DispatchTest, CallsAreCountedAndNamed)
{
  run(
      [](Rank& rank) {
        const std::uint64_t before = rank.statistics.crossings;
        request(rank, UMW_OP_umw_yield, umw_args_umw_yield{});
        request(rank, UMW_OP_umw_clock_settle, umw_args_umw_clock_settle{});
        EXPECT_EQ(rank.statistics.crossings, before + 2);
        EXPECT_STREQ(rank.last_call(), "umw_clock_settle");
      },
      1);
}

TEST_F(DispatchTest, TheClockIsSettledToThePicosecond)
{
  run(
      [](Rank& rank) {
        rank.gate.clock.debt_ps = 1234;
        EXPECT_EQ(request(rank, UMW_OP_umw_clock_settle, umw_args_umw_clock_settle{}), 1234);
      },
      1);
}

TEST_F(DispatchTest, CallsThatTakeNoTimeDoNotKeepOthersOutForEver)
{
  bool done = false;
  unsigned calls = 0;
  run({[&](Rank& rank) {
         for (; !done && calls < 100'000; ++calls)
           request(rank, UMW_OP_umw_file_mask, umw_args_umw_file_mask{});
       },
       [&](Rank& rank) {
         sleep(rank, us);
         done = true;
       }});
  EXPECT_LE(calls, 20'001U);
  EXPECT_GE(calls, 10'000U);
}

TEST_F(DispatchTest, WhoHasWaitedComesBehindThoseWhoAreReadyAtThatTime)
{
  std::vector<int> order;
  run({[&](Rank& rank) {
         sleep(rank, us);
         order.push_back(0);
         sleep(rank, us);
         order.push_back(2);
       },
       [&](Rank& rank) {
         sleep(rank, us);
         order.push_back(1);
         sleep(rank, us);
         order.push_back(3);
       }});
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
}

TEST_F(DispatchTest, WhoTellsThatItGotOnHasNotLookedInVain)
{
  run(
      [](Rank& rank) {
        const std::uint64_t steps = rank.job.polling().steps();
        rank.running().poll.idle = true;
        rank.gate.made_progress = UMW_GOT_ON;
        request(rank, UMW_OP_umw_yield, umw_args_umw_yield{});
        EXPECT_GT(rank.job.polling().steps(), steps);
        EXPECT_EQ(rank.gate.made_progress, 0U);
      },
      1);
}

TEST_F(DispatchTest, WhoComputesForLongIsNoReasonToStopNorToLookAgain)
{
  run(
      [](Rank& rank) {
        const std::uint64_t steps = rank.job.polling().steps();
        rank.running().poll.idle = true;
        rank.gate.made_progress = UMW_GOES_ON;
        request(rank, UMW_OP_umw_yield, umw_args_umw_yield{});
        EXPECT_GT(rank.job.polling().steps(), steps);
        EXPECT_TRUE(rank.running().poll.idle);
      },
      1);
}

TEST_F(DispatchTest, CallsAreTracedWhereThatIsAskedFor)
{
  options.verbosity = 2;
  run([](Rank& rank) { sleep(rank, us); }, 1);
  EXPECT_THAT(said, HasSubstr("umw_sleep"));
}

} // namespace
} // namespace umwelt::job::test
