// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/interruption.h"

#include <csignal>

#include <gtest/gtest.h>

#include "runtime/base/exit_codes.h"

namespace umwelt::job
{

namespace
{

TEST(Interruption, TheFirstSignalCounts)
{
  Interruption interruption(true);
  EXPECT_FALSE(interruption.asked());
  EXPECT_TRUE(interruption.ask(SIGALRM, nullptr, nullptr));
  EXPECT_FALSE(interruption.ask(SIGINT, nullptr, nullptr));
  for (int i = 0; i < 1000; ++i) // the process goes on
    EXPECT_FALSE(interruption.ask(SIGALRM, nullptr, nullptr));
  EXPECT_TRUE(interruption.is_timeout());
  EXPECT_EQ(interruption.exit_code(), exit_code::timeout);
}

TEST(Interruption, AnAlarmOfSomebodyElseIsASignalLikeOthers)
{
  Interruption interruption(false);
  EXPECT_TRUE(interruption.ask(SIGALRM, nullptr, nullptr));
  EXPECT_FALSE(interruption.is_timeout());
  EXPECT_EQ(interruption.exit_code(), 128 + SIGALRM);
}

TEST(Interruption, TheClockDoesNotTurnCtrlCIntoATimeout)
{
  Interruption interruption(true);
  EXPECT_TRUE(interruption.ask(SIGINT, nullptr, nullptr));
  EXPECT_FALSE(interruption.ask(SIGALRM, nullptr, nullptr));
  EXPECT_FALSE(interruption.is_timeout());
  EXPECT_EQ(interruption.exit_code(), 130);
}

} // namespace

} // namespace umwelt::job
