// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/burst_meter.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace umwelt::engine
{
namespace
{

// A machine whose clocks say what they are told to: reads take their time, and the processor may be taken away before
// and after each. One tick is one nanosecond.
class Machine
{
public:
  static constexpr std::int64_t read_ticks = 10;
  static constexpr std::int64_t read_cpu = 150;

  void work(std::int64_t ns)
  {
    wall_ += ns;
    cpu_ += ns;
  }
  void away(std::int64_t ns) { wall_ += ns; }
  [[nodiscard]] std::int64_t wall_ns() const { return wall_; }

  std::uint64_t ticks() { return static_cast<std::uint64_t>(read(wall_, read_ticks)); }
  std::int64_t cpu_ns() { return read(cpu_, read_cpu); }

  // The processor is taken away for so long when the n-th read from now is half done, before or after it has looked.
  void take_away(unsigned n, bool after, std::int64_t ns)
  {
    reads_ = 0;
    taken_ = {n, after, ns};
  }
  [[nodiscard]] unsigned reads() const { return reads_; }

private:
  struct Taken {
    unsigned read = ~0U;
    bool after = false;
    std::int64_t ns = 0;
  };

  std::int64_t read(const std::int64_t& clock, std::int64_t cost)
  {
    const bool now = reads_++ == taken_.read;
    work(cost / 2);
    if (now && !taken_.after)
      away(taken_.ns);
    const std::int64_t value = clock;
    if (now && taken_.after)
      away(taken_.ns);
    work(cost - cost / 2);
    return value;
  }

  std::int64_t wall_ = 1'000'000'000;
  std::int64_t cpu_ = 500'000'000;
  unsigned reads_ = 0;
  Taken taken_;
};

struct FakeClocks {
  Machine* machine;
  [[nodiscard]] std::uint64_t ticks() const { return machine->ticks(); }
  [[nodiscard]] std::int64_t cpu_ns() const { return machine->cpu_ns(); }
  [[nodiscard]] std::int64_t monotonic_ns() const { return machine->wall_ns(); }
};

constexpr std::int64_t us = 1'000;
constexpr std::int64_t ms = 1'000'000;

class FakeMeterTest : public testing::Test
{
protected:
  // A burst of `work`; the processor is away for `away` in its middle. What the meter says, ns.
  std::int64_t burst(std::int64_t work, std::int64_t away = 0)
  {
    const std::uint64_t begin = meter.begin();
    machine.work(work / 2);
    machine.away(away);
    machine.work(work - work / 2);
    return meter.measure(begin) / sim::nanosecond;
  }

  Machine machine;
  MeterOn<FakeClocks> meter{FakeClocks{&machine}, 1000};
};

// What the margin lets pass: reads of the clocks, 2 us, and 1e-4.
void expect_near(std::int64_t measured, std::int64_t true_value, const std::string& what = {})
{
  EXPECT_NEAR(static_cast<double>(measured), static_cast<double>(true_value),
              3e3 + 2e-4 * static_cast<double>(true_value))
      << what;
}

TEST_F(FakeMeterTest, MeasuresWhatRan)
{
  for (const std::int64_t work : {100L, 10 * us, 25 * us, 6600 * us, 3000 * ms})
    expect_near(burst(work), work);
}

TEST_F(FakeMeterTest, LeavesOutWhatDidNotRun)
{
  for (const std::int64_t away : {50 * us, 3 * ms, 190 * ms})
    expect_near(burst(6600 * us, away), 6600 * us);
}

// The clock is 1 s after 0, and the next tick 5 us later.
TEST(TimerTicksOfAMeter, AreNoPartOfTheBurstTheyInterrupt)
{
  Machine machine;
  const TimerTicks ticks{4e9, 5e6, 20e6};
  MeterOn<FakeClocks> meter{FakeClocks{&machine}, 1000, ticks};
  const auto burst = [&](std::int64_t work) {
    const std::uint64_t begin = meter.begin();
    machine.work(work);
    return meter.measure(begin) / sim::nanosecond;
  };
  expect_near(burst(100 * us), 80 * us); // the tick counts as CPU time
  expect_near(burst(100 * us), 100 * us);
  expect_near(burst(8000 * us), 7960 * us);
  expect_near(burst(10 * us), 10 * us);
}

// The processor is taken away at every point of ten bursts in turn: in every read of every clock, before and after it
// looks.
TEST_F(FakeMeterTest, WhereverTheProcessorIsTakenAwayEveryBurstIsRight)
{
  for (const std::int64_t work : {30 * us, 6600 * us})
    for (const std::int64_t away : {100 * us, 4 * ms, 190 * ms}) {
      unsigned points = 1;
      for (unsigned point = 0; point < points; ++point)
        for (const bool after : {false, true}) {
          machine.take_away(point, after, away);
          for (int i = 0; i < 10; ++i) {
            expect_near(burst(work), work,
                        "burst " + std::to_string(i) + ", read " + std::to_string(point) +
                            (after ? " after" : " before"));
            machine.work(2 * us); // the runtime's
          }
          points = machine.reads();
        }
      EXPECT_GE(points, 40U); // two stamps a burst, the CPU clock, and one behind it
    }
}

TEST_F(FakeMeterTest, WhatTheRuntimeLosesIsNotTheNextBursts)
{
  for (const std::int64_t away : {30 * us, 500 * us, 5 * ms, 190 * ms}) {
    expect_near(burst(6600 * us), 6600 * us);
    machine.work(3 * us);
    machine.away(away);
    expect_near(burst(6600 * us), 6600 * us);
  }
}

TEST_F(FakeMeterTest, WhatIsLostInBitsBetweenShortBurstsIsNotTheNextLongOnes)
{
  for (int i = 0; i < 10'000; ++i) {
    burst(1 * us);
    machine.away(3 * us);
  }
  const std::int64_t long_burst = burst(6600 * us);
  EXPECT_NEAR(static_cast<double>(long_burst), 6600e3, 200e3); // what can be lost between two looks
}

TEST_F(FakeMeterTest, NoBurstIsLost)
{
  // As much is lost in pieces between two bursts as the second is long.
  for (int i = 0; i < 8; ++i) {
    burst(1 * us);
    machine.away(15 * us);
  }
  EXPECT_GT(burst(30 * us), 5 * us);
}

TEST_F(FakeMeterTest, APauseIsNotPartOfTheBurst)
{
  for (const std::int64_t lost_before : {0L, 4 * ms})
    for (const std::int64_t pause : {2 * us, 300 * us})
      for (const std::int64_t lost_in_pause : {0L, 4 * ms})
        for (const std::int64_t lost_after : {0L, 50 * ms}) {
          std::uint64_t begin = meter.begin();
          machine.work(3 * ms);
          machine.away(lost_before);
          const std::uint64_t paused = machine.ticks();
          machine.work(pause);
          machine.away(lost_in_pause);
          begin = meter.exclude(begin, paused);
          machine.work(3 * ms);
          machine.away(lost_after);
          const std::int64_t measured = meter.measure(begin) / sim::nanosecond;
          // How much was lost before and how much in the pause is not known better than the pause is long.
          EXPECT_NEAR(static_cast<double>(measured), 6e6, 5e3 + static_cast<double>(lost_before > 0 ? pause : 0))
              << lost_before << ' ' << pause << ' ' << lost_in_pause << ' ' << lost_after;
        }
}

TEST_F(FakeMeterTest, WhatWasBeforeAPauseIsNotTheNextBursts)
{
  std::uint64_t begin = meter.begin();
  machine.away(4 * ms);
  const std::uint64_t paused = machine.ticks();
  machine.work(50 * us);
  begin = meter.exclude(begin, paused);
  machine.work(1 * us);
  meter.measure(begin);
  expect_near(burst(3 * ms), 3 * ms);
}

TEST_F(FakeMeterTest, ABurstThatBeginsInAPauseBeginsBehindIt)
{
  for (const std::int64_t pause : {2 * us, 50 * us, 3 * ms}) {
    const std::uint64_t paused = machine.ticks();
    machine.work(pause);
    const std::uint64_t begin = meter.exclude(machine.ticks(), paused);
    EXPECT_LE(begin, machine.ticks());
    machine.work(1 * us);
    expect_near(meter.measure(begin) / sim::nanosecond, 1 * us);
  }
}

TEST_F(FakeMeterTest, ABurstThatHasNotBegunTakesNoTime)
{
  const std::uint64_t begin = meter.begin();
  EXPECT_EQ(meter.measure(begin + 1'000'000), 0);
  machine.work(1 * us);
  expect_near(meter.measure(begin) / sim::nanosecond, 1 * us);
}

// --- this machine ----------------------------------------------------------------------------------------------------

// On a busy machine the kernel's clock and the meter part by what each of them counts of an interruption, so the burst
// with the fewest counts: a meter that is wrong is wrong in all of them.
TEST(BurstMeterTest, AgreesWithTheThreadsCpuClock)
{
  double least = 1;
  for (int i = 0; i < 20; ++i) {
    BurstMeter meter;
    const sim::SimTime before = BurstMeter::cpu();
    const std::uint64_t begin = meter.begin();
    while (BurstMeter::cpu() - before < 10 * sim::millisecond) {
    }
    const auto measured = static_cast<double>(meter.measure(begin));
    least = std::min(least, std::abs(measured / static_cast<double>(BurstMeter::cpu() - before) - 1));
  }
  EXPECT_LT(least, 0.02);
}

TEST(BurstMeterTest, TimeTheThreadDidNotRunDoesNotCount)
{
  BurstMeter meter;
  const std::uint64_t begin = meter.begin();
  usleep(50'000);
  EXPECT_LT(meter.measure(begin), 1 * sim::millisecond);
}

} // namespace
} // namespace umwelt::engine
