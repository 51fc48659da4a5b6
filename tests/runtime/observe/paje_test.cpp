// SPDX-License-Identifier: LGPL-2.1-or-later
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "preload/abi/mpi_calls.h"
#include "runtime/observe/trace_writer.h"

namespace umwelt::observe
{
namespace
{

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// Rank 0 on the first node, rank 1 on the second.
class PajeTest : public testing::Test
{
protected:
  ~PajeTest() override { fs::remove_all(directory); }

  void begin(std::uint32_t rank)
  {
    calls.begin(0);
    writer->begin_calls(rank);
    umw_event world{};
    world.kind = UMW_EVENT_COMMUNICATOR;
    world.tag = 1;
    world.bytes = 2;
    calls.takes(world);
  }
  bool tell(umw_event_kind kind, std::int64_t time, std::uint16_t function = 0, std::int32_t tid = 1)
  {
    umw_event event{};
    event.kind = static_cast<std::uint8_t>(kind);
    event.time_ps = time;
    event.function = function;
    event.tid = tid;
    calls.takes(event);
    return writer->call(event, calls);
  }
  void message(umw_event_kind kind, std::int64_t time, std::int32_t peer, std::uint64_t bytes)
  {
    umw_event event{};
    event.kind = static_cast<std::uint8_t>(kind);
    event.time_ps = time;
    event.peer = peer;
    event.bytes = bytes;
    calls.takes(event);
    writer->call(event, calls);
  }
  // Those of events in the trace, in its order, without definitions and containers.
  std::vector<std::string> lines()
  {
    writer->finish(calls);
    file.finish();
    std::ifstream in(directory / "run.paje");
    std::vector<std::string> found;
    for (std::string line; std::getline(in, line); all += line + "\n")
      if (std::stoi(line[0] == '%' ? "0" : line) >= 7)
        found.push_back(line);
    return found;
  }

  static fs::path made_directory()
  {
    fs::path made = fs::path(testing::TempDir()) / ("paje." + std::to_string(getpid()));
    fs::create_directory(made);
    return made;
  }

  fs::path directory = made_directory();
  TraceLayout layout{{"bxi0", "bxi1"}, {0, 1}, nullptr, "a \"machine\"", {}};
  ResultFile file{"--trace", (directory / "run.paje").string()};
  std::unique_ptr<TraceWriter> writer = make_paje_writer(layout, file);
  TracedCalls calls;
  std::string all;
};

TEST_F(PajeTest, ContainersBeginAndEndWithTheRun)
{
  writer->write(RankInterval{0, RankState::compute, 5, 12 * sim::second});
  lines();
  EXPECT_THAT(all, testing::HasSubstr("5 0.000000000000 p P 0 \"a 'machine'\"\n"
                                      "5 0.000000000000 n0 N p \"bxi0\"\n5 0.000000000000 n1 N p \"bxi1\"\n"
                                      "5 0.000000000000 r0 R n0 \"rank 0\"\n5 0.000000000000 r1 R n1 \"rank 1\"\n"));
  EXPECT_THAT(all, testing::EndsWith("6 12.000000000000 R r0\n6 12.000000000000 R r1\n6 12.000000000000 N n0\n"
                                     "6 12.000000000000 N n1\n6 12.000000000000 P p\n"));
}

TEST_F(PajeTest, StatesOfRanksAreInTheOrderOfTime)
{
  writer->write(RankInterval{0, RankState::compute, 5, 7});
  writer->write(RankInterval{0, RankState::waiting, 7, 9});
  writer->write(RankInterval{1, RankState::communication, 6, 8});
  EXPECT_THAT(lines(), ElementsAre("7 0.000000000005 A r0 a0", "7 0.000000000006 A r1 a1", "8 0.000000000007 A r0",
                                   "7 0.000000000007 A r0 a2", "8 0.000000000008 A r1", "8 0.000000000009 A r0"));
}

TEST_F(PajeTest, CallsNestAndThoseThatAreNotLeftEndWithTheRun)
{
  begin(0);
  EXPECT_TRUE(tell(UMW_EVENT_ENTER, 1, UMW_MPI_Barrier));
  EXPECT_TRUE(tell(UMW_EVENT_ENTER, 2, UMW_MPI_Send));
  EXPECT_TRUE(tell(UMW_EVENT_LEAVE, 2, UMW_MPI_Send));
  writer->end_calls();
  writer->write(RankInterval{1, RankState::compute, 0, 3});
  const std::string barrier = "C" + std::to_string(UMW_MPI_Barrier), send = "C" + std::to_string(UMW_MPI_Send);
  EXPECT_THAT(lines(), ElementsAre("7 0.000000000000 A r1 a0", "7 0.000000000001 C r0 " + barrier,
                                   "7 0.000000000002 C r0 " + send, "8 0.000000000002 C r0", "8 0.000000000003 A r1",
                                   "8 0.000000000003 C r0"));
  EXPECT_THAT(all, testing::HasSubstr("4 " + barrier + " C \"MPI_Barrier\""));
}

TEST_F(PajeTest, OtherThreadsHaveContainersOfTheirOwn)
{
  begin(1);
  tell(UMW_EVENT_ENTER, 1, UMW_MPI_Barrier, 1);
  tell(UMW_EVENT_ENTER, 2, UMW_MPI_Send, 2);
  tell(UMW_EVENT_LEAVE, 3, UMW_MPI_Send, 2);
  tell(UMW_EVENT_LEAVE, 4, UMW_MPI_Barrier, 1);
  writer->end_calls();
  const std::vector<std::string> found = lines();
  EXPECT_EQ(found.at(1), "7 0.000000000002 D t0 D" + std::to_string(UMW_MPI_Send));
  EXPECT_EQ(found.at(2), "8 0.000000000003 D t0");
  EXPECT_THAT(all, testing::HasSubstr("t0 T r1 \"rank 1, thread 1\""));
}

TEST_F(PajeTest, ALinkHasTwoEndsAndItsBytes)
{
  begin(0);
  message(UMW_EVENT_SEND, 5, 1, 8);
  message(UMW_EVENT_SEND, 6, 1, 8); // which nobody receives
  writer->end_calls();
  begin(1);
  message(UMW_EVENT_RECEIVED, 5, 0, 8);
  writer->end_calls();
  const std::vector<std::string> found = lines();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0], testing::StartsWith("10 0.000000000005 M p r0 8 "));
  EXPECT_THAT(found[1], testing::StartsWith("11 0.000000000005 M p r1 8 "));
  EXPECT_EQ(found[0].substr(27), found[1].substr(27));
  EXPECT_EQ(writer->records(), 1U);
}

TEST_F(PajeTest, AReceiveWithoutASendIsLeftOut)
{
  begin(1);
  message(UMW_EVENT_RECEIVED, 5, 0, 8);
  writer->end_calls();
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(PajeTest, VariablesOfNicsAndLinks)
{
  OperationRecord record;
  record.stage = {.kind = net::StageKind::message, .node = 0, .peer = 1, .bytes = 8, .start = 10, .end = 20};
  writer->write(record);
  writer->link({"cable", 1e12, 10, {0, 5, 5, 0}}); // 10 bytes fit into a bin
  EXPECT_THAT(lines(), ElementsAre("9 0.000000000010 U l0 50.000", "9 0.000000000010 F n0 8", "9 0.000000000020 F n0 0",
                                   "9 0.000000000030 U l0 0.000"));
  EXPECT_THAT(all, testing::HasSubstr("l0 K p \"cable\""));
  EXPECT_EQ(writer->records(), 4U);
}

} // namespace
} // namespace umwelt::observe
