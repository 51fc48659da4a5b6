// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/trace.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/observe/perfetto.pb.h"
#include "tests/runtime/observe/devices.h"

namespace umwelt::observe
{
namespace
{

namespace fs = std::filesystem;
using net::StageKind;
using net::StageOutcome;
using net::StageRecord;
using net::Transfer;
using net::TransferKind;
using sim::microsecond;
using sim::nanosecond;
using testing::ElementsAre;

// Two nodes, rank 0 on the first, ranks 1 and 2 on the second. Node identifiers as Portals has them.
TraceLayout layout()
{
  return {{"bxi0", "bxi1"}, {0, 1, 1}, [](std::uint32_t node) { return node + 1; }};
}

// The two transfers of an operation have its address in `client`, which nothing here calls.
const void* operation_of(const Transfer& transfer)
{
  return transfer.client;
}

class TraceTest : public testing::Test
{
protected:
  TraceTest() { fs::create_directory(directory); }
  ~TraceTest() override { fs::remove_all(directory); }

  static Transfer transfer(TransferKind kind, std::uintptr_t operation)
  {
    Transfer made;
    made.kind = kind;
    made.client = reinterpret_cast<net::TransferClient*>(operation);
    made.target_process = 1;
    return made;
  }
  void open(const std::string& name, TraceFormat format, std::vector<std::uint32_t> ranks = {})
  {
    path = directory / name;
    trace.emplace(TraceOptions{path.string(), format, std::move(ranks)}, layout(), operation_of);
  }
  void open_csv(std::vector<std::uint32_t> ranks = {}) { open("run.csv", TraceFormat::csv, std::move(ranks)); }
  void open_perfetto() { open("run.pftrace", TraceFormat::perfetto); }

  // A message of `operation` from node 0 to 1, or back if it is a response.
  StageRecord message(TransferKind kind, std::uintptr_t operation)
  {
    const bool back = net::is_response(kind);
    return {.kind = StageKind::message,
            .response = back,
            .node = back ? 1U : 0U,
            .peer = back ? 0U : 1U,
            .transfer = trace->started(transfer(kind, operation)),
            .initiator_process = 0,
            .target_process = 1,
            .bytes = 8,
            .start = 1 * microsecond,
            .end = 2 * microsecond};
  }
  std::string text()
  {
    trace->finish();
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::vector<std::string> lines() // without the header
  {
    std::istringstream in(text());
    std::vector<std::string> found;
    for (std::string line; std::getline(in, line);)
      found.push_back(line);
    EXPECT_FALSE(found.empty());
    found.erase(found.begin());
    return found;
  }
  perfetto::Trace decoded()
  {
    perfetto::Trace result;
    EXPECT_TRUE(result.ParseFromString(text()));
    return result;
  }

  fs::path directory = fs::path(testing::TempDir()) / ("trace." + std::to_string(getpid()));
  fs::path path;
  std::optional<Trace> trace;
};

// ---- CSV ----

TEST_F(TraceTest, CsvBeginsWithTheHeaderOfS4bxi)
{
  open_csv();
  EXPECT_THAT(text(), testing::StartsWith("operation_type,initiator_nid,target_nid,start_time,end_time,"));
}

TEST_F(TraceTest, CsvHasExactTimes)
{
  open_csv();
  StageRecord record = message(TransferKind::put, 1);
  record.start = 12 * sim::second + 1;
  record.end = 12 * sim::second + 345'678;
  trace->stage(record);
  EXPECT_THAT(lines(), ElementsAre("3,1,2,12.000000000001,12.000000345678,8,1,0,1,done"));
}

// The numbers of enum bxi_log_type in S4BXI's BxiLog.hpp.
TEST_F(TraceTest, CsvNumbersMessagesAsS4bxi)
{
  open_csv();
  for (const TransferKind kind : {TransferKind::put, TransferKind::ack, TransferKind::get, TransferKind::reply,
                                  TransferKind::atomic, TransferKind::fetch_atomic, TransferKind::reply})
    trace->stage(message(kind, 1));
  std::string types;
  for (const std::string& line : lines())
    types += line[0];
  EXPECT_EQ(types, "3142567");
}

TEST_F(TraceTest, CsvNumbersStagesAsS4bxi)
{
  open_csv();
  const std::uint64_t number = trace->started(transfer(TransferKind::put, 1));
  for (const StageKind kind : {StageKind::acknowledgement, StageKind::pio_payload, StageKind::dma_payload,
                               StageKind::dma_request, StageKind::payload_write, StageKind::event, StageKind::command})
    trace->stage({.kind = kind, .transfer = number});
  std::vector<std::string> types;
  for (const std::string& line : lines())
    types.push_back(line.substr(0, line.find(',')));
  EXPECT_THAT(types, ElementsAre("0", "8", "9", "10", "11", "12", "13"));
}

TEST_F(TraceTest, CsvHasNoLinesForStagesS4bxiDoesNotKnow)
{
  open_csv();
  for (const StageKind kind : {StageKind::queue, StageKind::transmit, StageKind::receive})
    trace->stage({.kind = kind, .transfer = 8});
  EXPECT_EQ(trace->records(), 0U);
  EXPECT_THAT(lines(), testing::IsEmpty());
}

TEST_F(TraceTest, CsvHasComputingOfRanks)
{
  open_csv();
  trace->rank_spent(2, RankState::compute, 0, 3 * microsecond);
  trace->rank_spent(2, RankState::waiting, 3 * microsecond, 4 * microsecond);
  EXPECT_THAT(lines(), ElementsAre("14,2,2,0.000000000000,0.000003000000,0,,2,2,done"));
}

TEST_F(TraceTest, CsvLeavesOutWhatIsNotKnown)
{
  open_csv();
  trace->stage({.kind = StageKind::event, .node = 1, .peer = 1, .start = 0, .end = 200'000});
  StageRecord to_nobody = message(TransferKind::put, 1);
  to_nobody.target_process = 0xffffffff;
  to_nobody.outcome = StageOutcome::lost;
  trace->stage(to_nobody);
  EXPECT_THAT(lines(), ElementsAre("12,2,2,0.000000000000,0.000000200000,0,,,,done",
                                   "3,1,2,0.000001000000,0.000002000000,8,1,0,,lost"));
}

TEST_F(TraceTest, AResponseHasTheNumberOfItsRequest)
{
  open_csv();
  trace->stage(message(TransferKind::get, 1));
  trace->stage(message(TransferKind::put, 2));
  trace->stage(message(TransferKind::reply, 1));
  trace->stage(message(TransferKind::put, 1)); // the address again, for a new operation
  std::vector<std::string> operations;
  for (const std::string& line : lines())
    operations.push_back(line.substr(line.find(",8,") + 3, 1));
  EXPECT_THAT(operations, ElementsAre("1", "2", "1", "3"));
}

// ---- Ranks ----

TEST_F(TraceTest, IntervalsThatTouchAreOne)
{
  open_csv();
  trace->rank_spent(0, RankState::compute, 0, 10);
  trace->rank_spent(1, RankState::compute, 5, 10);
  trace->rank_spent(0, RankState::compute, 10, 30);
  trace->rank_spent(0, RankState::compute, 31, 40);
  trace->rank_spent(0, RankState::compute, 40, 40);
  EXPECT_THAT(lines(), ElementsAre("14,1,1,0.000000000000,0.000000000030,0,,0,0,done",
                                   "14,1,1,0.000000000031,0.000000000040,0,,0,0,done",
                                   "14,2,2,0.000000000005,0.000000000010,0,,1,1,done"));
}

TEST_F(TraceTest, CanBeOfSomeRanks)
{
  open_csv({0});
  trace->stage(message(TransferKind::put, 1)); // from 0 to 1
  StageRecord other = message(TransferKind::put, 2);
  other.initiator_process = 2;
  trace->stage(other);
  trace->stage({.kind = StageKind::event, .node = 0, .peer = 0});
  trace->stage({.kind = StageKind::event, .node = 1, .peer = 1});
  trace->rank_spent(0, RankState::compute, 0, 10);
  trace->rank_spent(2, RankState::compute, 0, 10);
  std::vector<std::string> begins;
  for (const std::string& line : lines())
    begins.push_back(line.substr(0, line.find(',', 3)));
  EXPECT_THAT(begins, ElementsAre("3,1", "12,1", "14,1"));
}

// ---- Perfetto ----

TEST_F(TraceTest, PerfettoClearsItsStateFirst)
{
  open_perfetto();
  trace->stage(message(TransferKind::put, 1));
  const perfetto::Trace decoded_trace = decoded();
  EXPECT_EQ(decoded_trace.packet(0).sequence_flags(), 1U);
  for (const perfetto::TracePacket& packet : decoded_trace.packet())
    EXPECT_EQ(packet.trusted_packet_sequence_id(), 1U);
}

TEST_F(TraceTest, PerfettoHasAProcessForEachNodeAndTracksBelowIt)
{
  open_perfetto();
  trace->stage(message(TransferKind::put, 1));
  trace->stage(message(TransferKind::ack, 1));
  trace->rank_spent(2, RankState::waiting, 0, 10);
  std::map<std::uint64_t, std::string> nodes;
  std::vector<std::string> tracks;
  const perfetto::Trace decoded_trace = decoded();
  for (const perfetto::TracePacket& packet : decoded_trace.packet()) {
    const perfetto::TrackDescriptor& track = packet.track_descriptor();
    if (track.has_process())
      nodes[track.uuid()] = track.process().process_name() + "/" + std::to_string(track.process().pid());
    else if (packet.has_track_descriptor())
      tracks.push_back(nodes.at(track.parent_uuid()) + "/" + track.name());
  }
  EXPECT_THAT(tracks, ElementsAre("bxi0/1/fabric: messages sent", "bxi1/2/fabric: messages sent", "bxi1/2/rank 2"));
}

// Slices of a track must nest, so overlapping ones need tracks of their own; of the same name, so that the viewer
// merges them.
TEST_F(TraceTest, PerfettoSlicesOfATrackDoNotOverlap)
{
  open_perfetto();
  for (const sim::SimTime start : {0, 500, 1500, 2000, 2600, 4000, 4000, 3000}) {
    StageRecord record = message(TransferKind::put, 1);
    record.start = start * nanosecond;
    record.end = (start + 1000) * nanosecond;
    trace->stage(record);
  }
  std::map<std::uint64_t, std::uint64_t> ends;
  std::map<std::uint64_t, bool> in_slice;
  std::set<std::string> names;
  const perfetto::Trace decoded_trace = decoded();
  for (const perfetto::TracePacket& packet : decoded_trace.packet()) {
    if (packet.track_descriptor().has_name())
      names.insert(packet.track_descriptor().name());
    if (!packet.has_track_event())
      continue;
    const std::uint64_t track = packet.track_event().track_uuid();
    const bool begins = packet.track_event().type() == perfetto::TrackEvent::TYPE_SLICE_BEGIN;
    EXPECT_NE(in_slice[track], begins);
    EXPECT_GE(packet.timestamp(), ends[track]);
    in_slice[track] = begins;
    ends[track] = packet.timestamp();
  }
  EXPECT_EQ(names.size(), 1U);
  EXPECT_EQ(ends.size(), 3U);
}

TEST_F(TraceTest, PerfettoStringsAreWrittenOnce)
{
  open_perfetto();
  for (int i = 0; i < 3; ++i)
    trace->stage(message(TransferKind::put, 1));
  std::map<std::uint64_t, std::string> names;
  std::vector<std::string> slices;
  const perfetto::Trace decoded_trace = decoded();
  for (const perfetto::TracePacket& packet : decoded_trace.packet()) {
    for (const perfetto::InternedString& name : packet.interned_data().event_names())
      EXPECT_TRUE(names.emplace(name.iid(), name.name()).second);
    if (packet.track_event().has_name_iid())
      slices.push_back(names.at(packet.track_event().name_iid()));
  }
  EXPECT_THAT(slices, ElementsAre("put", "put", "put"));
}

TEST_F(TraceTest, PerfettoFlowsTieTheResponseToTheRequest)
{
  open_perfetto();
  trace->stage(message(TransferKind::fetch_atomic, 1));
  trace->stage(message(TransferKind::put, 2));
  trace->stage(message(TransferKind::reply, 1));
  std::vector<std::uint64_t> flow_ids;
  const perfetto::Trace decoded_trace = decoded();
  for (const perfetto::TracePacket& packet : decoded_trace.packet())
    flow_ids.insert(flow_ids.end(), packet.track_event().flow_ids().begin(), packet.track_event().flow_ids().end());
  EXPECT_THAT(flow_ids, ElementsAre(1, 2, 1));
}

TEST_F(TraceTest, PerfettoKeepsPicosecondsInArguments)
{
  open_perfetto();
  StageRecord record = message(TransferKind::put, 1);
  record.start = 1'234'567;
  record.end = 2'345'678;
  trace->stage(record);
  std::map<std::uint64_t, std::string> names;
  std::map<std::string, std::uint64_t> arguments;
  std::vector<std::uint64_t> times;
  const perfetto::Trace decoded_trace = decoded();
  for (const perfetto::TracePacket& packet : decoded_trace.packet()) {
    for (const perfetto::InternedString& name : packet.interned_data().debug_annotation_names())
      names[name.iid()] = name.name();
    for (const perfetto::DebugAnnotation& annotation : packet.track_event().debug_annotations())
      arguments[names.at(annotation.name_iid())] = annotation.uint_value();
    if (packet.has_track_event())
      times.push_back(packet.timestamp());
  }
  EXPECT_THAT(times, ElementsAre(1234, 2345));
  EXPECT_EQ(arguments, (std::map<std::string, std::uint64_t>{{"start ps", 1'234'567},
                                                             {"duration ps", 1'111'111},
                                                             {"bytes", 8},
                                                             {"operation", 1},
                                                             {"initiator rank", 0},
                                                             {"target rank", 1},
                                                             {"to nid", 2}}));
}

TEST_F(TraceTest, PerfettoHasARowForEveryStage)
{
  open_perfetto();
  std::set<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(StageKind::receive); ++kind)
    for (const bool service : {false, true})
      for (const bool response : {false, true}) {
        StageRecord record = message(response ? TransferKind::ack : TransferKind::put, 1);
        record.kind = static_cast<StageKind>(kind);
        record.service = service;
        record.node = record.peer = 0;
        trace->stage(record);
      }
  const perfetto::Trace decoded_trace = decoded();
  for (const perfetto::TracePacket& packet : decoded_trace.packet())
    if (packet.track_descriptor().has_name())
      names.insert(packet.track_descriptor().name());
  EXPECT_THAT(names, ElementsAre("PCI: commands", "PCI: events", "PCI: payload reads", "PCI: payload writes",
                                 "command queues", "fabric: messages sent", "rx: matching", "tx compute requests",
                                 "tx compute responses", "tx service requests", "tx service responses"));
}

// ---- The file ----

TEST_F(TraceTest, ReplacesAnOlderOneAtTheEnd)
{
  std::ofstream(directory / "run.csv") << "older";
  open_csv();
  EXPECT_EQ(fs::file_size(path), 5U);
  EXPECT_THAT(text(), testing::StartsWith("operation_type"));
}

TEST_F(TraceTest, LeavesNothingIfItIsNotFinished)
{
  open_csv();
  trace.reset();
  EXPECT_TRUE(fs::is_empty(directory));
}

TEST_F(TraceTest, GoesToTheDirectoryItWasOpenedIn)
{
  const fs::path before = fs::current_path();
  fs::current_path(directory);
  Trace relative({"run.csv", TraceFormat::csv, {}}, layout(), operation_of);
  fs::current_path(before);
  relative.finish();
  EXPECT_TRUE(fs::exists(directory / "run.csv"));
}

TEST_F(TraceTest, RefusesWhatCannotBeWritten)
{
  try {
    open("absent/run.csv", TraceFormat::csv);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::ContainsRegex("--trace .*absent/run.csv: expected a file that can be written, "
                                                     "got: No such file or directory"));
  }
  EXPECT_THROW(Trace({directory.string(), TraceFormat::csv, {}}, layout(), operation_of), std::invalid_argument);
}

TEST_F(TraceTest, SaysThatItIsNotWhole)
{
  const std::string full = make_full_device(directory / "full");
  if (full.empty())
    GTEST_SKIP() << "mknod(2) needs root";
  Trace not_whole({full, TraceFormat::csv, {}}, layout(), operation_of);
  try {
    not_whole.finish();
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::ContainsRegex("--trace .*/full: expected all of it to be written, got: No space "
                                                     "left on device after 0 bytes\n.*--trace-ranks"));
  }
  EXPECT_TRUE(fs::is_character_file(full));
}

// More than the buffer holds goes to the file on the way.
TEST_F(TraceTest, WritesWhileItRuns)
{
  constexpr int room = 1 << 20; // of the pipe, whose reader is there
  path = directory / "run.csv";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(fcntl(reader, F_SETPIPE_SZ, room), room);
  open_csv();
  for (int i = 0; i < 10'000; ++i)
    trace->stage(message(TransferKind::put, 1));
  int waiting = 0;
  EXPECT_EQ(ioctl(reader, FIONREAD, &waiting), 0);
  EXPECT_GT(waiting, 0);
  const std::uint64_t bytes = trace->bytes();
  trace->finish();
  EXPECT_EQ(ioctl(reader, FIONREAD, &waiting), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(waiting), bytes);
  close(reader);
}

// ---- Formats ----

TEST(TraceFormatOf, GoesByTheName)
{
  EXPECT_EQ(trace_format_of("a.csv"), TraceFormat::csv);
  EXPECT_EQ(trace_format_of("a.pftrace"), TraceFormat::perfetto);
  EXPECT_EQ(trace_format_of("a.perfetto-trace"), TraceFormat::perfetto);
  EXPECT_EQ(trace_format_of("a.pb"), TraceFormat::perfetto);
  EXPECT_EQ(trace_format_of("a.json"), std::nullopt);
  EXPECT_EQ(trace_format_of("csv"), std::nullopt);
}

} // namespace
} // namespace umwelt::observe
