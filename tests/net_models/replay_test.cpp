// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/replay.h"

#include <gtest/gtest.h>

#include "runtime/base/parameters.h"

namespace umwelt::net
{
namespace
{

double time_of(const char* benchmark, std::uint64_t size, std::string_view nic = "", std::uint32_t count = 1000,
               const char* model = "bxi")
{
  const auto platform = platform::make_platform({.spec = "bxi", .nodes = 2});
  Parameters parameters;
  parameters.add(nic, "test");
  return replay(*find_benchmark(benchmark), model, *platform, parameters, size, count);
}

constexpr std::uint64_t sizes[] = {1, 8, 64, 65, 416, 417, 4096, 65536, 1 << 20};

TEST(Replay, KnowsItsBenchmarks)
{
  EXPECT_EQ(benchmarks().size(), 9U);
  EXPECT_EQ(find_benchmark("nothing"), nullptr);
}

TEST(Replay, SendComesBeforeTheAcknowledgement)
{
  for (const std::uint64_t size : sizes)
    EXPECT_LE(time_of("put_waitsend", size), time_of("put_waitack", size)) << size;
}

TEST(Replay, SendOfShortPutsIsHalfAsLongAsTheRoundTrip)
{
  EXPECT_LT(time_of("put_waitsend", 64), 0.6 * time_of("put_waitack", 64));
  EXPECT_GT(time_of("put_waitsend", 65), 0.9 * time_of("put_waitack", 65));
}

TEST(Replay, CountersAreCheaperThanEvents)
{
  for (const std::uint64_t size : sizes)
    EXPECT_LT(time_of("ct", size), time_of("ack", size)) << size;
}

TEST(Replay, AnAnswerTakesLongerThanAnAcknowledgementAndLessThanTwo)
{
  for (const std::uint64_t size : sizes) {
    EXPECT_GT(time_of("reply", size), time_of("ack", size)) << size;
    EXPECT_LT(time_of("reply", size), 2 * time_of("ack", size)) << size;
  }
}

TEST(Replay, AnAnswerIsFlushedTwiceAndAnAcknowledgementNever)
{
  EXPECT_NEAR(time_of("reply", 8, "flush_time=300ns") - time_of("reply", 8, "flush_time=100ns"), 0.4, 0.001);
  EXPECT_EQ(time_of("ack", 8, "flush_time=300ns"), time_of("ack", 8, "flush_time=100ns"));
  EXPECT_EQ(time_of("ct", 8, "flush_time=300ns"), time_of("ct", 8, "flush_time=100ns"));
}

// The host has time left: what the NIC needs for a command and its events sets the rate.
TEST(Replay, TheNicSetsTheRateOfABatch)
{
  const char* nic = "command_gap=300ns,event_gap=100ns,issue=20ns,take_event=30ns";
  EXPECT_NEAR(time_of("put_nowait", 1, nic, 10'000), 0.500, 0.002);
  EXPECT_NEAR(time_of("get_nowait", 1, nic, 10'000), 0.400, 0.002);
}

TEST(Replay, ManyInFlightAreFasterThanOneAtATime)
{
  for (const std::uint64_t size : sizes) {
    EXPECT_LT(time_of("put_nowait", size), time_of("put_waitack", size)) << size;
    EXPECT_LT(time_of("get_nowait", size), time_of("get_waitreply", size)) << size;
    EXPECT_LT(time_of("match", size), time_of("ack", size)) << size;
  }
}

TEST(Replay, ListEntriesThatArePassedOverTakeTime)
{
  EXPECT_NEAR(time_of("match", 8, "search=100ns") - time_of("match", 8, "search=80ns"), 15 * 0.020, 0.005);
}

TEST(Replay, AFullCommandQueueHoldsTheHostBack)
{
  EXPECT_GT(time_of("put_nowait", 4096, "queue_depth=1"), 1.5 * time_of("put_nowait", 4096));
}

TEST(Replay, WorksWithAllModelsThatKeepToTheTimeline)
{
  for (const char* model : {"bxi", "loggp", "piecewise", "delay"})
    for (const Benchmark& benchmark : benchmarks())
      EXPECT_GT(time_of(benchmark.name.c_str(), 100, "", 50, model), 0) << model << ' ' << benchmark.name;
}

TEST(Replay, SaysWhenMessagesGetLost)
{
  EXPECT_THROW(time_of("put_waitack", 8, "drop=1,e2e=off"), std::invalid_argument);
}

} // namespace
} // namespace umwelt::net
