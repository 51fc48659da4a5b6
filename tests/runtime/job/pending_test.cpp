// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/pending.h"

#include <gtest/gtest.h>

namespace umwelt::job
{
namespace
{

siginfo_t signal(int number, int value = 0)
{
  siginfo_t information{};
  information.si_signo = number;
  information.si_code = SI_QUEUE;
  information.si_value.sival_int = value;
  return information;
}

TEST(Pending, StandardSignalsPendOnceAndRealTimeSignalsQueueUp)
{
  Pending pending;
  EXPECT_TRUE(pending.add(signal(SIGUSR1, 1)));
  EXPECT_FALSE(pending.add(signal(SIGUSR1, 2)));
  EXPECT_TRUE(pending.add(signal(40, 3)));
  EXPECT_TRUE(pending.add(signal(40, 4)));
  siginfo_t taken{};
  ASSERT_TRUE(pending.take(set_of(SIGUSR1), taken));
  EXPECT_EQ(taken.si_value.sival_int, 1);
  EXPECT_FALSE(pending.take(set_of(SIGUSR1), taken));
  ASSERT_TRUE(pending.take(all_signals, taken));
  EXPECT_EQ(taken.si_value.sival_int, 3);
  EXPECT_EQ(pending.signals(), set_of(40));
  ASSERT_TRUE(pending.take(all_signals, taken));
  EXPECT_EQ(taken.si_value.sival_int, 4);
  EXPECT_EQ(pending.signals(), 0U);
}

TEST(Pending, LowestNumberFirstAmongThoseWanted)
{
  Pending pending;
  pending.add(signal(64));
  pending.add(signal(SIGTERM));
  pending.add(signal(SIGHUP));
  siginfo_t taken{};
  ASSERT_TRUE(pending.take(~set_of(SIGHUP), taken));
  EXPECT_EQ(taken.si_signo, SIGTERM);
  ASSERT_TRUE(pending.take(all_signals, taken));
  EXPECT_EQ(taken.si_signo, SIGHUP);
  EXPECT_EQ(pending.signals(), set_of(64));
}

TEST(Pending, DiscardedSignalsAreGone)
{
  Pending pending;
  pending.add(signal(SIGUSR1));
  pending.add(signal(SIGUSR2));
  pending.discard(set_of(SIGUSR1));
  EXPECT_EQ(pending.signals(), set_of(SIGUSR2));
}

TEST(Pending, KnowsTheSignalOfATimer)
{
  Pending pending;
  siginfo_t information = signal(SIGALRM);
  information.si_code = SI_TIMER;
  information.si_timerid = 3;
  pending.add(information);
  EXPECT_TRUE(pending.has_timer(3));
  EXPECT_FALSE(pending.has_timer(2));
}

} // namespace
} // namespace umwelt::job
