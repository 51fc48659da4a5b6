// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace umwelt::observe
{
namespace
{

using testing::HasSubstr;
using testing::Not;

JobRecord job(std::size_t ranks)
{
  JobRecord record;
  record.version = "0.1.0";
  record.programs = {"./app -n 3"};
  record.platform = "bxi";
  record.nodes = ranks;
  record.model = "bxi";
  record.cpu_policy = "none";
  record.ending = "completed";
  record.simulated = 2 * sim::second;
  record.timeline_events = 1000;
  record.host = {4.0, 3.5, 10 << 20};
  for (std::size_t i = 0; i < ranks; ++i) {
    RankRecord rank;
    rank.host = "bxi" + std::to_string(i);
    rank.finished = 2 * sim::second;
    rank.statistics.compute = static_cast<sim::SimTime>(i + 1) * sim::second;
    rank.statistics.waiting = 5 * sim::microsecond;
    rank.statistics.messages_sent = 3;
    rank.statistics.bytes_sent = 2048;
    rank.statistics.crossings = 100;
    rank.statistics.polls_saved = 7;
    rank.statistics.sizes.add(8);
    rank.statistics.sizes.add(8);
    rank.statistics.sizes.add(2048);
    record.ranks.push_back(rank);
  }
  return record;
}

JobRecord with_kernels()
{
  JobRecord record = job(1);
  record.kernels = {{"dgemm", "skip", 20, 20, 0, 3 * sim::second, 2 * sim::second},
                    {"fft", "sample", 7, 0, 4, sim::second, sim::second},
                    {"dtrsm", "model", 0, 0, 0, 0, 0}};
  return record;
}

TEST(Summary, TellsWhatKernelsDidAndThatResultsAreNotThePrograms)
{
  EXPECT_THAT(summary(with_kernels()),
              HasSubstr("\n"
                        "  kernel  action  calls  not run  measured     time  of one rank\n"
                        "  dgemm   skip       20       20         0  3.000 s      2.000 s\n"
                        "  fft     sample      7        0         4  1.000 s      1.000 s\n"
                        "  results of this run are not those of the program: calls of dgemm were not run\n"
                        "  never called: dtrsm\n"));
  EXPECT_THAT(summary(job(1)), Not(HasSubstr("kernel")));
}

TEST(Summary, WatchedKernelsAreInATableOfTheirOwnThoseFirstThatTookMost)
{
  JobRecord record = job(1);
  record.ranks[0].statistics.compute = 10 * sim::second;
  record.kernels = {
      {"daxpy", "watch", 2, 0, 0, sim::second, sim::second, true, "", 1, {{"N", 9, 9, 9}}},
      {"dgemm", "watch", 4, 0, 0, 3 * sim::second, 2 * sim::second, true, "", 3, {{"M", 1, 2, 3}, {"N", 5, 5, 5}}},
      {"own", "watch"}};
  EXPECT_THAT(summary(record),
              HasSubstr("\n"
                        "  kernel  calls     time      each  of computing  sizes  least..median..most\n"
                        "  dgemm       4  3.000 s  750.0 ms        30.0 %      3  M 1..2..3  N 5\n"
                        "  daxpy       2  1.000 s  500.0 ms        10.0 %      1  N 9\n"
                        "\n"
                        "  never called: own\n"));
  const auto json = nlohmann::json::parse(report_json(record, false));
  EXPECT_EQ(json["kernels"][1]["classes"], 3);
  EXPECT_EQ(json["kernels"][1]["sizes"][0]["median"], 2);
}

TEST(Summary, WhereRanksComputed)
{
  JobRecord record = job(1);
  record.profile = {{"_ZN3app5solveEi", "app", 600}, {"f", "app", 300}, {"", "libm.so.6", 92}, {"rarely", "app", 8}};
  EXPECT_THAT(summary(record), HasSubstr("\n"
                                         "  function         object     ticks  of all\n"
                                         "  app::solve(int)  app          600  60.0 %\n"
                                         "  f                app          300  30.0 %\n"
                                         "  ?                libm.so.6     92   9.2 %\n"
                                         "  others                          8   0.8 %\n"));
  const auto json = nlohmann::json::parse(report_json(record, false));
  ASSERT_EQ(json["profile"].size(), 4U);
  EXPECT_EQ(json["profile"][0]["function"], "_ZN3app5solveEi");
  EXPECT_EQ(json["profile"][3]["ticks"], 8);
  EXPECT_THAT(summary(job(1)), Not(HasSubstr("of all")));
}

TEST(Summary, OfARunThatWasBrokenOffItDoesNotSayWhatWasNeverCalled)
{
  JobRecord record = with_kernels();
  record.ending = "rank 0 called MPI_Abort";
  EXPECT_THAT(summary(record),
              HasSubstr("of kernels that ranks called which had not ended themselves, nothing is known"));
  EXPECT_THAT(summary(record), Not(HasSubstr("never called")));
}

TEST(Summary, KernelsThatNobodyHas)
{
  JobRecord record = with_kernels();
  record.kernels.push_back({"dgem", "skip"});
  record.kernels.back().exists = false;
  record.kernels.back().nearest = "dgemm_";
  EXPECT_THAT(summary(record), HasSubstr("  neither the program nor its libraries have: dgem (nearest: dgemm_)\n"));
  EXPECT_THAT(summary(record), HasSubstr("  never called: dtrsm\n"));
}

TEST(Report, SaysWhetherResultsAreThePrograms)
{
  const auto json = nlohmann::json::parse(report_json(with_kernels(), true));
  EXPECT_EQ(json["kernels"].size(), 3U);
  EXPECT_EQ(json["kernels"][0]["name"], "dgemm");
  EXPECT_EQ(json["kernels"][0]["time_ps"], 3 * sim::second);
  EXPECT_EQ(json["kernels"][1]["sampled"], 4);
  EXPECT_EQ(json["results_are_those_of_the_program"], false);
  EXPECT_FALSE(nlohmann::json::parse(report_json(job(1), true)).contains("kernels"));
}

TEST(Summary, SaysWhichFactorsWereInForce)
{
  JobRecord record = job(1);
  EXPECT_THAT(summary(record), Not(HasSubstr("what if")));
  EXPECT_FALSE(nlohmann::json::parse(report_json(record, true)).contains("factors"));
  record.factors = {{"latency", "", 10}, {"bandwidth", "leaf*", 0.1}, {"compute", "", 2}};
  EXPECT_THAT(summary(record), HasSubstr("\n  what if: latency x 10, bandwidth x 0.1 of 'leaf*', compute x 2\n"));
  const auto json = nlohmann::json::parse(report_json(record, true));
  ASSERT_EQ(json["factors"].size(), 3U);
  EXPECT_EQ(json["factors"][1]["of"], "bandwidth");
  EXPECT_EQ(json["factors"][1]["links"], "leaf*");
  EXPECT_EQ(json["factors"][1]["factor"], 0.1);
}

TEST(Summary, SaysWhichLinksFailedAndWhatThatDid)
{
  JobRecord record = job(1);
  EXPECT_THAT(summary(record), Not(HasSubstr("failed")));
  EXPECT_FALSE(nlohmann::json::parse(report_json(record, true)).contains("faults"));
  record.faults.failures = {{"leaf*", 4, sim::millisecond, 2 * sim::millisecond}, {"bxi0 up", 1, 0, sim::never}};
  record.faults.rerouted = 12;
  record.faults.delayed = 3;
  record.faults.waited = 5 * sim::microsecond;
  record.faults.resent = 2;
  record.faults.failed = 1;
  EXPECT_THAT(summary(record),
              HasSubstr("  links failed: 'leaf*' (4 links) at 1.000 ms for 2.000 ms, 'bxi0 up' (1 link) at 0 for good\n"
                        "  messages: 12 rerouted, 3 delayed (5.000 us in all), 2 sent again, 1 failed\n"));
  const auto json = nlohmann::json::parse(report_json(record, true))["faults"];
  EXPECT_EQ(json["links"][0]["for_ps"], 2 * sim::millisecond);
  EXPECT_TRUE(json["links"][1]["for_ps"].is_null());
  EXPECT_EQ(json["rerouted"], 12);
  EXPECT_EQ(json["delayed_ps"], 5 * sim::microsecond);
}

TEST(Summary, ShowsTheWholeJobAndEachRank)
{
  EXPECT_EQ(summary(job(2)),
            "umwelt: 2 ranks on bxi (model bxi, --cpu none): completed\n"
            "  simulated 2.000 s   wall clock 4.00 s   slowdown 2   1000 events, 250.0 /s\n"
            "  6 messages, 4.000 KiB   200 crossings   polls: 0 answered, 14 saved   memory 10.00 MiB\n"
            "\n"
            "  rank  node  compute  communication   waiting  sent      bytes  received  bytes  crossings  polls saved\n"
            "  0     bxi0  1.000 s              0  5.000 us     3  2.000 KiB         0    0 B        100            7\n"
            "  1     bxi1  2.000 s              0  5.000 us     3  2.000 KiB         0    0 B        100            7\n"
            "\n"
            "  message sizes\n"
            "      8-15 B  4  ########################################\n"
            "  2.000 KiB-  2  ####################\n");
}

TEST(Summary, SaysWhatWasTakenForTheMachinesDisturbances)
{
  JobRecord record = job(1);
  record.ranks[0].statistics.learned = record.ranks[0].statistics.compute / 2;
  EXPECT_THAT(summary(record), Not(HasSubstr("left out")));
  record.ranks[0].statistics.left_out = 3 * sim::millisecond;
  EXPECT_THAT(summary(record), HasSubstr("50.0 % as measured; 3.000 ms left out as this machine's disturbances\n"));
  EXPECT_EQ(nlohmann::json::parse(report_json(record))["ranks"][0]["left_out_ps"], 3'000'000'000);
}

TEST(Summary, SaysThatTheMachineWasBusyWhereThatMatters)
{
  JobRecord record = job(1);
  record.host.waited_seconds = 1.5;                     // beside 3.5 of CPU time
  EXPECT_THAT(summary(record), Not(HasSubstr("busy"))); // nothing was measured
  record.measured = true;
  EXPECT_THAT(summary(record),
              HasSubstr("\n  this machine was busy: others had the processor for 30 % of the time that "
                        "the run wanted it; what was measured (100 % of computing) may be too long\n"));
  record.ranks[0].statistics.learned = record.ranks[0].statistics.compute * 3 / 4;
  EXPECT_THAT(summary(record), HasSubstr("what was measured (25 % of computing)"));
  record.ranks[0].statistics.learned = record.ranks[0].statistics.compute;
  EXPECT_THAT(summary(record), Not(HasSubstr("busy")));
}

TEST(Summary, CountsWhatOtherVirtualMachinesHad)
{
  JobRecord record = job(1);
  record.measured = true;
  record.host.stolen_share = 0.04;
  EXPECT_THAT(summary(record), Not(HasSubstr("busy")));
  record.host.waited_seconds = 3.5;
  record.host.stolen_share = 0.2;
  EXPECT_THAT(summary(record), HasSubstr("for 60 % of the time"));
  EXPECT_EQ(nlohmann::json::parse(report_json(record))["host"]["stolen_share"], 0.2);
}

JobRecord with_sockets(JobRecord record)
{
  for (RankRecord& rank : record.ranks) {
    rank.statistics.segments_sent = 5;
    rank.statistics.segment_bytes_sent = 1024;
    rank.statistics.segments_received = 4;
    rank.statistics.segment_bytes_received = 2048;
  }
  return record;
}

TEST(Summary, ShowsWhatWentOverSocketsBesideMessages)
{
  const std::string text = summary(with_sockets(job(2)));
  EXPECT_THAT(text, HasSubstr("\n  6 messages, 4.000 KiB   sockets: 10 segments, 2.000 KiB   200 crossings"));
  EXPECT_THAT(
      text, HasSubstr("  sent      bytes  received  bytes  segments sent      bytes  received      bytes  crossings"));
}

TEST(Summary, ShowsSocketsInPlaceOfMessagesWhereThereAreNone)
{
  JobRecord record = with_sockets(job(1));
  record.ranks[0].statistics.messages_sent = 0;
  const std::string text = summary(record);
  EXPECT_THAT(text, HasSubstr("\n  sockets: 5 segments, 1.000 KiB   100 crossings"));
  EXPECT_THAT(text, HasSubstr("  waiting  segments sent      bytes  received      bytes  crossings"));
  EXPECT_THAT(text, Not(HasSubstr("messages")));
}

TEST(Report, HasSocketsOfEachRankAndOfAll)
{
  const auto json = nlohmann::json::parse(report_json(with_sockets(job(2))));
  EXPECT_EQ(json["totals"]["segments"], 10);
  EXPECT_EQ(json["totals"]["segment_bytes"], 2048);
  EXPECT_EQ(json["ranks"][1]["segments_sent"], 5);
  EXPECT_EQ(json["ranks"][1]["segment_bytes_sent"], 1024);
  EXPECT_EQ(json["ranks"][1]["segments_received"], 4);
  EXPECT_EQ(json["ranks"][1]["segment_bytes_received"], 2048);
}

TEST(Summary, ShowsEachOfSixteenRanks)
{
  EXPECT_THAT(summary(job(16)), HasSubstr("\n  15    bxi15"));
}

TEST(Summary, ShowsMinimumMedianAndMaximumOfMore)
{
  const std::string text = summary(job(17));
  EXPECT_THAT(text, HasSubstr("\n  ranks    compute"));
  EXPECT_THAT(text, HasSubstr("\n  minimum  1.000 s"));
  EXPECT_THAT(text, HasSubstr("\n  median   9.000 s"));
  EXPECT_THAT(text, HasSubstr("\n  maximum  17.00 s"));
  EXPECT_THAT(text, Not(HasSubstr("bxi3")));
}

TEST(Summary, LeavesOutTheHistogramWhenNothingWasSent)
{
  JobRecord record = job(1);
  record.ranks[0].statistics.sizes = {};
  EXPECT_THAT(summary(record), Not(HasSubstr("message sizes")));
}

TEST(Summary, TellsWhatComputingRestsOn)
{
  JobRecord record = job(2); // 3 s of computing
  EXPECT_THAT(summary(record), Not(HasSubstr("computing")));
  record.ranks[0].statistics.learned = 750'000'000'000;
  record.ranks[0].statistics.doubt = 7'500'000'000;
  EXPECT_THAT(summary(record), HasSubstr("\n  computing: 25.0 % known by instructions, which vary by 1.0 %; 75.0 % as "
                                         "measured\n\n"));
}

TEST(Summary, OfAJobThatNeverRanHasNoRatios)
{
  JobRecord record = job(0);
  record.simulated = 0;
  record.host = {};
  EXPECT_THAT(summary(record), HasSubstr("slowdown -"));
}

TEST(Report, HoldsEveryFigure)
{
  const auto json = nlohmann::json::parse(report_json(job(2)));
  EXPECT_EQ(json["report_version"], 1);
  EXPECT_EQ(json["programs"][0], "./app -n 3");
  EXPECT_EQ(json["simulated_ps"], 2'000'000'000'000);
  EXPECT_EQ(json["totals"]["messages"], 6);
  EXPECT_EQ(json["ranks"][1]["compute_ps"], 2'000'000'000'000);
  EXPECT_EQ(json["ranks"][1]["sizes"][0], (nlohmann::json{{"from_bytes", 8}, {"to_bytes", 15}, {"messages", 2}}));
  EXPECT_EQ(json["host"]["wall_seconds"], 4.0);
  EXPECT_EQ(json["host"]["slowdown"], 2.0);
}

TEST(Report, KeysKeepTheirOrder)
{
  const std::string text = report_json(job(1));
  EXPECT_LT(text.find("\"report_version\""), text.find("\"umwelt\""));
  EXPECT_LT(text.find("\"totals\""), text.find("\"ranks\""));
  EXPECT_LT(text.find("\"ranks\""), text.find("\"host\": {"));
}

TEST(Report, ThatIsDeterministicHidesTheSimulatingMachine)
{
  JobRecord slow = job(2);
  slow.host = {400, 300, 1};
  EXPECT_NE(report_json(job(2)), report_json(slow));
  EXPECT_EQ(report_json(job(2), true), report_json(slow, true));
}

TEST(Report, HasRulesOfForgetfulMemory)
{
  JobRecord record = job(1);
  record.folding = {{"at_least=1MiB", 2, 1 << 21, 5, true, ""}, {"function=solv", 0, 0, 0, false, "solve"}};
  const auto json = nlohmann::json::parse(report_json(record));
  EXPECT_EQ(json["folding"][0]["allocations"], 2);
  EXPECT_EQ(json["folding"][0]["bytes"], 1 << 21);
  EXPECT_EQ(json["folding"][0]["forgotten"], 5);
  EXPECT_EQ(json["folding"][1]["exists"], false);
  EXPECT_EQ(json["results_are_those_of_the_program"], false);
  EXPECT_FALSE(nlohmann::json::parse(report_json(job(1))).contains("folding"));
}

TEST(Report, ThatIsDeterministicHidesHowOftenMemoryWasForgotten)
{
  JobRecord record = job(1);
  record.folding = {{"at_least=1MiB", 2, 1 << 21, 5, true, ""}};
  const std::string text = report_json(record, true);
  record.folding[0].forgotten = 0;
  EXPECT_EQ(report_json(record, true), text);
}

TEST(Summary, TellsRulesOfForgetfulMemoryThatFittedNothing)
{
  JobRecord record = job(1);
  record.folding = {{"at_least=1MiB", 2, 1 << 21, 5, true, ""},
                    {"function=solv", 0, 0, 0, false, "solve"},
                    {"at_least=1GiB", 0, 0, 0, true, ""}};
  const std::string text = summary(record);
  EXPECT_THAT(text, HasSubstr("  --fold function=solv fitted no allocation: ranks have loaded nothing of that name "
                              "(nearest: solve)\n"
                              "  --fold at_least=1GiB fitted no allocation\n"));
  EXPECT_THAT(text, HasSubstr("if they depend on that memory\n"));
  record.ending = "killed";
  EXPECT_THAT(summary(record), Not(HasSubstr("fitted no allocation")));
}

TEST(Report, WithoutSimulatedTimeHasNoSlowdown)
{
  JobRecord record = job(1);
  record.simulated = 0;
  EXPECT_TRUE(nlohmann::json::parse(report_json(record))["host"]["slowdown"].is_null());
}

TEST(Report, SurvivesBytesThatAreNotUtf8)
{
  JobRecord record = job(1);
  record.programs = {"./app \xff"};
  EXPECT_FALSE(nlohmann::json::parse(report_json(record)).is_null());
}

} // namespace
} // namespace umwelt::observe
