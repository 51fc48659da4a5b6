// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/host_load.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace umwelt::engine
{
namespace
{

TEST(HostLoad, WaitingIsTheSecondFigure)
{
  EXPECT_EQ(waited_for_processor("1000 250 7\n"), 250);
  EXPECT_EQ(waited_for_processor(""), 0);
  EXPECT_EQ(waited_for_processor("1000"), 0);
}

TEST(HostLoad, OfAProcessThatIsNotThereIsNothing)
{
  EXPECT_EQ(waited_for_processor(pid_t{-1}), 0);
}

TEST(HostLoad, OfAProcessThatHasEndedIsStillKnown)
{
  const pid_t child = fork();
  if (child == 0)
    _exit(0);
  siginfo_t information{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &information, WEXITED | WNOWAIT), 0);
  EXPECT_GE(waited_for_processor(child), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(HostLoad, StolenTimeIsTheEighthFigureOfTheFirstLine)
{
  const ProcessorTime time = processor_time("cpu  10 20 30 40 50 60 70 80 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  EXPECT_EQ(time.stolen, 80);
  EXPECT_EQ(time.all, 360);
}

TEST(HostLoad, OfOlderKernelsIsUnknown)
{
  EXPECT_EQ(processor_time("cpu 1 2 3 4\n").all, 0);
  EXPECT_EQ(processor_time("intr 1 2 3 4 5 6 7 8 9\n").all, 0);
  EXPECT_EQ(processor_time("").all, 0);
}

TEST(HostLoad, OfThisMachineGrows)
{
  const ProcessorTime before = processor_time();
  const ProcessorTime after = processor_time();
  EXPECT_GT(before.all, 0);
  EXPECT_GE(after.all, before.all);
}

} // namespace
} // namespace umwelt::engine
