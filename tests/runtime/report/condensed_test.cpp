// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/condensed.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

TEST(Condensed, RanksBecomeColumns)
{
  const Json report = Json::parse(R"({"simulated_ps": 7, "ranks": [{"rank": 0, "host": "a", "compute_ps": 1,
                                    "crossings": 9}, {"rank": 1, "host": "b", "compute_ps": 2, "crossings": 9}]})");
  const Json small = condensed(report);
  EXPECT_EQ(small["simulated_ps"], 7);
  EXPECT_EQ(small["rank_count"], 2);
  EXPECT_EQ(small["ranks"], Json::parse(R"({"host": ["a", "b"], "compute_ps": [1, 2]})"));
}

Json all_to_all(int ranks)
{
  Json messages = Json::array();
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      messages.push_back({{"from", from}, {"to", to}, {"messages", 2}, {"bytes", 100}});
  return {{"mpi_calls", {{"messages", messages}}}};
}

template <class Value = std::int64_t> Value sum(const Json& list)
{
  Value all = 0;
  for (const Json& one : list)
    all += one.get<Value>();
  return all;
}

TEST(Condensed, FewPairsOfRanksStayAsTheyAre)
{
  const Json report = all_to_all(3);
  const Json small = condensed(report)["mpi_calls"]["messages"];
  EXPECT_EQ(small["block"], 1);
  EXPECT_EQ(small["pairs"], 9);
  EXPECT_THAT(small["from"], ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_THAT(small["bytes"], Each(100));
}

TEST(Condensed, ManyPairsBecomeBlocksWithTheSameSums)
{
  const Json small = condensed(all_to_all(300))["mpi_calls"]["messages"];
  EXPECT_EQ(small["block"], 2);
  EXPECT_EQ(small["pairs"], 90'000);
  EXPECT_THAT(small["from"], SizeIs(150U * 150U));
  EXPECT_EQ(sum(small["messages"]), 2 * 90'000);
  EXPECT_EQ(sum(small["bytes"]), 100 * 90'000);
}

TEST(Condensed, PairsWithOtherJobsStayOutOfBlocks)
{
  Json report = all_to_all(300);
  report["mpi_calls"]["messages"].push_back({{"from", 5}, {"to", -1}, {"messages", 1}, {"bytes", 8}});
  const Json small = condensed(report)["mpi_calls"]["messages"];
  EXPECT_EQ(small["to"][2 * 150], -1); // before those of the third block
}

// The share that the page reads.
double share(char code)
{
  return (code - (code > '\\' ? 1 : 0) - '#') / 90.0;
}

TEST(Condensed, TimelineIsSharesOfTime)
{
  const Json report = Json::parse(R"({"timeline": {"bin_ps": 100, "states": ["computing", "waiting"],
                                    "ranks": [[[1000, 0, 630], [0, 500, 370]]]}})");
  const Json small = condensed(report)["timeline"];
  EXPECT_EQ(small["together"], 1);
  const auto computing = small["rows"][0][0].get<std::string>();
  ASSERT_THAT(computing, SizeIs(3));
  EXPECT_DOUBLE_EQ(share(computing[0]), 1);
  EXPECT_DOUBLE_EQ(share(computing[1]), 0);
  EXPECT_NEAR(share(computing[2]), 0.63, 0.006);
  EXPECT_DOUBLE_EQ(share(small["rows"][0][1].get<std::string>()[1]), 0.5);
}

TEST(Condensed, TimelineNeedsNoEscapes)
{
  Json bins = Json::array();
  for (int i = 0; i <= 300; ++i)
    bins.push_back(i * 1000 / 300);
  const Json report{{"timeline", {{"bin_ps", 300}, {"states", {"computing"}}, {"ranks", {{bins}}}}}};
  const auto coded = condensed(report)["timeline"]["rows"][0][0].get<std::string>();
  EXPECT_EQ(coded.find_first_of("\\\"\x7f"), std::string::npos);
  for (int i = 0; i <= 300; ++i)
    EXPECT_NEAR(share(coded[static_cast<std::size_t>(i)]), i / 300.0, 0.006);
}

TEST(Condensed, TimelineOfManyRanksIsTheirMean)
{
  Json ranks = Json::array();
  for (int rank = 0; rank < 1024; ++rank)
    ranks.push_back({{rank % 2 == 0 ? 1000 : 0}});
  const Json report{{"timeline", {{"bin_ps", 100}, {"states", {"computing"}}, {"ranks", ranks}}}};
  const Json small = condensed(report)["timeline"];
  EXPECT_EQ(small["together"], 2);
  ASSERT_THAT(small["rows"], SizeIs(512));
  EXPECT_DOUBLE_EQ(share(small["rows"][7][0].get<std::string>()[0]), 0.5);
}

TEST(Condensed, LinksAreSortedByLoadAndClassesHaveAll)
{
  const Json report = Json::parse(R"({"links": {"bin_ps": 10, "nodes": [{"name": "a", "kind": "host"}], "links": [
    {"name": "slow", "class": "x", "from": 0, "to": 0, "bandwidth_Bps": 10, "bytes": 30, "bytes_per_bin": [10, 20]},
    {"name": "fast", "class": "x", "from": 0, "to": 0, "bandwidth_Bps": 1000, "bytes": 70,
     "bytes_per_bin": [40, 30]}]}})");
  const Json small = condensed(report)["links"];
  EXPECT_EQ(small["links"][0]["name"], "slow");
  EXPECT_EQ(small["links_in_all"], 2);
  EXPECT_THAT(small["classes"][0]["bytes_per_bin"], ElementsAre(50, 50));
  EXPECT_EQ(small["classes"][0]["bandwidth_Bps"], 1010);
}

TEST(Condensed, TheLongestSegmentsOfThePathAreKeptInOrder)
{
  Json segments = Json::array();
  for (int i = 0; i < 9000; ++i)
    segments.push_back({{"rank", i}, {"begin_ps", 10 * i}, {"end_ps", 10 * i + 1 + i % 3}});
  const Json small = condensed({{"critical_path", {{"segments", segments}}}})["critical_path"];
  EXPECT_EQ(small["segments_in_all"], 9000);
  ASSERT_THAT(small["segments"], SizeIs(3000));
  for (int i = 0; i < 3000; ++i)
    EXPECT_EQ(small["segments"][static_cast<std::size_t>(i)]["rank"], 3 * i + 2);
}

TEST(Condensed, OfRepetitionsTheMiddleOneIsShown)
{
  const Json report = Json::parse(R"({"repetitions": 2, "confidence": 0.5, "simulated_ps": {"median": 2}, "runs": [
    {"simulated_ps": 9, "exit_code": 0, "ending": "completed"}, {"simulated_ps": 1, "exit_code": 3, "ending": "bad"},
    {"simulated_ps": 5, "exit_code": 0, "ending": "completed"}]})");
  const Json small = condensed_repetitions(report);
  EXPECT_EQ(small["simulated_ps"], 5);
  EXPECT_EQ(small["repetitions"]["shown"], 2);
  EXPECT_THAT(small["repetitions"]["runs"], SizeIs(3));
}

// Reports may be of another version, or written by hand.
TEST(Condensed, WhatIsOfAnotherKindIsLeftOut)
{
  for (const char* value : {"null", "3", "\"text\"", "[]", "[1]", "[[1]]", "[[[\"a\"]]]", "{}", "{\"links\": 1}",
                            "{\"links\": [1], \"ranks\": [1], \"states\": [1], \"segments\": [1], \"messages\": [2]}",
                            "{\"links\": [{\"bytes_per_bin\": [\"a\", 1e300]}], \"states\": [], \"ranks\": [[[1]]]}"})
    for (const char* key : {"ranks", "mpi_calls", "links", "timeline", "critical_path", "kernels", "totals", "runs"}) {
      Json report{{"simulated_ps", 1}};
      report[key] = Json::parse(value);
      EXPECT_NO_THROW(condensed(report)) << key << ": " << value;
      EXPECT_NO_THROW(condensed_repetitions(report)) << key << ": " << value;
    }
}

} // namespace
} // namespace umwelt::report
