// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/timers.h"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

namespace umwelt::job
{
namespace
{

class TimersTest : public ::testing::Test
{
protected:
  void run_until(SimTime time)
  {
    while (timeline.next() <= time)
      timeline.step();
    timeline.advance_to(time);
  }
  void compute(SimTime time)
  {
    cpu += time;
    timers.cpu_passed();
  }

  sim::Timeline timeline;
  std::int64_t cpu = 0;
  bool taken = true; // at once
  std::vector<SimTime> times;
  std::uint64_t count = 0;
  Timers timers{timeline, cpu, [this](const Timers::Notice&, std::uint64_t n) {
                  times.push_back(timeline.now());
                  count += n;
                  return taken;
                }};
  Timers::Setting setting{};
};

constexpr Timers::Notice by_signal{0, SIGALRM, SI_TIMER, 0, 0, -1};
constexpr Timers::Notice by_nothing{0, 0, 0, 0, 0, -1};

TEST_F(TimersTest, ExpiresOnceAndIsDisarmed)
{
  const int timer = timers.create(false, by_signal);
  timeline.advance_to(50);
  EXPECT_EQ(timers.set(timer, false, 100, 0, setting), 0);
  run_until(1000);
  EXPECT_EQ(times, std::vector<SimTime>{150});
  timers.get(timer, setting);
  EXPECT_EQ(setting.left, 0);
}

TEST_F(TimersTest, OneTooFarAwayIsArmedAndDoesNotExpire)
{
  timeline.advance_to(50);
  const int timer = timers.create(false, by_signal);
  for (const bool absolute : {false, true})
    for (const SimTime value : {sim::never, sim::never - 1, sim::never - 50}) {
      EXPECT_EQ(timers.set(timer, absolute, value, 0, setting), 0);
      EXPECT_TRUE(timeline.empty());
      EXPECT_TRUE(timers.armed());
      timers.get(timer, setting);
      EXPECT_GT(setting.left, sim::never / 2);
    }
  EXPECT_EQ(timers.set(timer, false, 100, sim::never, setting), 0); // its period is, too
  run_until(1000);
  EXPECT_EQ(times, std::vector<SimTime>{150});
  EXPECT_TRUE(timeline.empty());
  EXPECT_TRUE(timers.armed());
}

TEST_F(TimersTest, PeriodsFollowTheFirstTime)
{
  const int timer = timers.create(false, by_signal);
  timers.set(timer, true, 100, 30, setting);
  run_until(175);
  EXPECT_EQ(times, (std::vector<SimTime>{100, 130, 160}));
  timers.set(timer, false, 0, 0, setting);
  EXPECT_EQ(setting.interval, 30);
  run_until(1000);
  EXPECT_EQ(times.size(), 3U);
}

TEST_F(TimersTest, CountsWhatWasNotSentAsOverrun)
{
  const int timer = timers.create(false, by_signal);
  timers.set(timer, false, 10, 10, setting);
  run_until(10);
  taken = false;
  run_until(45); // three more
  EXPECT_EQ(timers.overrun(timer), 0);
  EXPECT_EQ(timers.taken(timer), 3);
  EXPECT_EQ(timers.overrun(timer), 3);
  EXPECT_EQ(timers.taken(timer), 0);
}

TEST_F(TimersTest, CpuTimersExpireByComputing)
{
  const int timer = timers.create(true, by_signal);
  EXPECT_EQ(timers.cpu_left(), sim::never);
  timers.set(timer, false, 100, 50, setting);
  run_until(1000);
  EXPECT_TRUE(times.empty());
  EXPECT_EQ(timers.cpu_left(), 100);
  compute(99);
  EXPECT_EQ(count, 0U);
  compute(110); // at 100, 150 and 200
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(times.size(), 1U);
  EXPECT_EQ(timers.taken(timer), 2);
  EXPECT_EQ(timers.cpu_left(), 41);
}

TEST_F(TimersTest, SilentTimersAreNothingThatIsDue)
{
  const int timer = timers.create(false, by_nothing);
  timers.set(timer, false, 100, 40, setting);
  EXPECT_TRUE(timeline.empty());
  timeline.advance_to(150); // has expired at 100 and 140
  timers.get(timer, setting);
  EXPECT_EQ(setting.left, 30);
}

TEST_F(TimersTest, NumbersAreGivenOutAgain)
{
  const int first = timers.create(false, by_signal);
  const int second = timers.create(false, by_signal);
  EXPECT_NE(first, second);
  timers.set(first, false, 10, 0, setting);
  EXPECT_EQ(timers.remove(first), 0);
  EXPECT_EQ(timers.remove(first), -EINVAL);
  EXPECT_TRUE(timeline.empty());
  EXPECT_EQ(timers.create(false, by_signal), first);
}

TEST_F(TimersTest, StoppedTimersStaySilent)
{
  timers.set(timers.create(false, by_signal), false, 10, 10, setting);
  timers.set(timers.create(true, by_signal), false, 10, 10, setting);
  timers.stop();
  run_until(100);
  compute(100);
  EXPECT_TRUE(times.empty());
}

} // namespace
} // namespace umwelt::job
