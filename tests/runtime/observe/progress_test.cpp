// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/progress.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace umwelt::observe
{
namespace
{

// A stream in memory and a clock that stands until it is moved.
class ProgressLine : public testing::Test
{
protected:
  ~ProgressLine() override
  {
    if (stream != nullptr)
      std::fclose(stream);
    std::free(buffer);
  }

  WallClock clock()
  {
    return [this] { return now; };
  }

  // What was written since the last call.
  std::string written()
  {
    std::fflush(stream);
    std::string text(buffer + taken, size - taken);
    taken = size;
    return text;
  }

  double now = 100;
  char* buffer = nullptr;
  std::size_t size = 0;
  std::size_t taken = 0;
  std::FILE* stream = open_memstream(&buffer, &size);
};

TEST_F(ProgressLine, IsSilentWhenTheStreamIsNoTerminal)
{
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    Progress progress(file, clock());
    EXPECT_FALSE(progress.active());
    now += 10;
    progress.update(sim::second, 1000);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

TEST_F(ProgressLine, TellsHowManyRanksHaveBegun)
{
  Progress progress(stream, clock(), true);
  progress.starting(1, 1200);
  EXPECT_EQ(written(), "");
  now += 2;
  progress.starting(300, 1200);
  EXPECT_EQ(written(), "\rumwelt: 300 of 1200 ranks have begun   wall clock 2.00 s\x1b[K");
  now += 0.25;
  progress.starting(301, 1200);
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressLine, WaitsHalfASecondOfWallClock)
{
  Progress progress(stream, clock(), true);
  now += 0.4;
  progress.update(sim::millisecond, 10);
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressLine, TellsSimulatedTimeSlowdownAndEvents)
{
  Progress progress(stream, clock(), true);
  now += 0.5;
  progress.update(250 * sim::millisecond, 1000);
  EXPECT_EQ(written(), "\rumwelt: simulated 250.0 ms   wall clock 0.50 s   slowdown 2   1000 events, 2.000 k/s\x1b[K");
}

TEST_F(ProgressLine, RatesAreThoseSinceTheLastLine)
{
  Progress progress(stream, clock(), true);
  now += 1;
  progress.update(sim::second, 1000);
  written();
  now += 1;
  progress.update(sim::second + 100 * sim::millisecond, 1500);
  EXPECT_EQ(written(), "\rumwelt: simulated 1.100 s   wall clock 2.00 s   slowdown 10   1500 events, 500.0 /s\x1b[K");
}

TEST_F(ProgressLine, SaysWhenSimulatedTimeStands)
{
  Progress progress(stream, clock(), true);
  now += 1;
  progress.update(0, 1000);
  EXPECT_NE(written().find("simulated time stands still"), std::string::npos);
}

TEST_F(ProgressLine, IsErasedAtTheEnd)
{
  {
    Progress progress(stream, clock(), true);
    now += 1;
    progress.update(sim::second, 1);
    written();
  }
  EXPECT_EQ(written(), "\r\x1b[K");
}

TEST_F(ProgressLine, ThatWasNeverShownIsNotErased)
{
  {
    Progress progress(stream, clock(), true);
    progress.erase();
  }
  EXPECT_EQ(written(), "");
}

TEST(MonotonicSeconds, DoNotGoBack)
{
  const double first = monotonic_seconds();
  EXPECT_GE(monotonic_seconds(), first);
}

} // namespace
} // namespace umwelt::observe
