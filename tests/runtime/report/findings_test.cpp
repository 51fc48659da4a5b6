// SPDX-License-Identifier: LGPL-2.1-or-later
// What stands out in reports that were made so that one thing does.
#include "runtime/report/findings.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t ms = 1'000'000'000;

// Ranks that compute so long in a run of 10 ms.
Json run_of(const std::vector<std::int64_t>& computing)
{
  Json run{{"ending", "completed"},        {"exit_code", 0},    {"cpu", "none"},
           {"simulated_ps", 10 * ms},      {"platform", "bxi"}, {"ranks", Json::array()},
           {"totals", {{"messages", 100}}}};
  for (std::size_t i = 0; i < computing.size(); ++i)
    run["ranks"].push_back({{"rank", i},
                            {"host", "bxi" + std::to_string(i)},
                            {"finished_ps", 10 * ms},
                            {"compute_ps", computing[i]},
                            {"waiting_ps", 0}});
  return run;
}

Finding only(const Json& run)
{
  const std::vector<Finding> found = findings(run);
  EXPECT_THAT(found, SizeIs(1));
  return found.empty() ? Finding{} : found.front();
}

Json wait(int rank, const std::vector<int>& others)
{
  return {{"rank", rank},
          {"host", "bxi"},
          {"call", "MPI_Recv from " + (others.empty() ? std::string("any rank") : std::to_string(others.front()))},
          {"since_ps", 3 * ms},
          {"place", "main+0x1 (app), app.c:7"},
          {"for", others}};
}

Json deadlock(const Json& waits, const std::vector<int>& cycle)
{
  Json run = run_of({0, 0, 0, 0});
  run["ending"] = "deadlock";
  run["exit_code"] = 122;
  run["mpi_calls"] = Json::object();
  run["deadlock"] = {{"waits", waits}, {"cycle", cycle}, {"next_step", "look there"}};
  return run;
}

TEST(Findings, OfABalancedRunAreNone)
{
  EXPECT_THAT(findings(run_of({ms, ms, ms})), IsEmpty());
  EXPECT_THAT(findings(Json::object()), IsEmpty());
}

TEST(Findings, NameTheRankThatComputesMost)
{
  const Finding one = only(run_of({ms, ms, 9 * ms, ms}));
  EXPECT_THAT(one.what, HasSubstr("Imbalance: rank 2 on bxi2 computes 9.000 ms, 3.00 times the mean of 3.000 ms"));
  EXPECT_NEAR(one.weight, 0.6, 1e-9);
}

TEST(Findings, NameACircleOfWaits)
{
  const Finding one = only(deadlock({wait(0, {1}), wait(1, {0}), wait(2, {0}), wait(3, {2})}, {0, 1}));
  EXPECT_EQ(one.what, "Deadlock: ranks 0 and 1 wait for each other in a circle, so none of them can go on.");
  EXPECT_THAT(
      one.details,
      ElementsAre("rank 0 is in MPI_Recv from 1, since 3.000 ms, at main+0x1 (app), app.c:7: it waits for rank 1",
                  "rank 1 is in MPI_Recv from 0, since 3.000 ms, at main+0x1 (app), app.c:7: it waits for rank 0",
                  "2 more ranks wait for these"));
  EXPECT_THAT(one.next, HasSubstr("MPI_Sendrecv"));
}

TEST(Findings, NameTheRankThatEveryoneWaitsFor)
{
  const Finding ended = only(deadlock({wait(0, {3}), wait(1, {0}), wait(2, {3})}, {}));
  EXPECT_EQ(ended.what, "Deadlock: 3 ranks wait for rank 3, which has ended.");
  const Finding elsewhere = only(deadlock({wait(0, {3}), wait(1, {0}), wait(2, {3}), wait(3, {})}, {}));
  EXPECT_EQ(elsewhere.what, "Deadlock: 3 ranks wait for rank 3, which waits for none of them.");
}

TEST(Findings, OfADeadlockOfUnknownCallsAskForThem)
{
  Json run = deadlock({wait(0, {})}, {});
  run.erase("mpi_calls");
  EXPECT_THAT(only(run).next, HasSubstr("--mpi-calls"));
  run["mpi_calls"] = Json::object();
  EXPECT_EQ(only(run).next, "look there");
}

TEST(Findings, NameRanksThatDied)
{
  Json run = run_of({ms, ms});
  run["ending"] = "rank 1 died of signal 11";
  run["exit_code"] = 139;
  run["ranks"][1]["signal"] = 11;
  const Finding one = only(run);
  EXPECT_THAT(one.what, HasSubstr("rank 1 died of signal 11 (exit code 139)"));
  EXPECT_THAT(one.details, ElementsAre("rank 1 on bxi1 died of signal 11 at 10.00 ms"));
}

TEST(Findings, NameLateSendersAndWhereOthersWaitForThem)
{
  Json run = run_of({ms, ms});
  run["mpi_calls"] = {{"late_ps", {{"receives", 4 * ms}, {"barriers", ms / 10}}},
                      {"waited_ps", {{"receives", 5 * ms}}},
                      {"ranks", {{{"rank", 0}, {"late_ps", 4 * ms}}, {{"rank", 1}, {"late_ps", 0}}}},
                      {"sites",
                       {{{"name", "MPI_Recv"}, {"class", "receives"}, {"place", "a"}, {"late_ps", ms}},
                        {{"name", "MPI_Recv"}, {"class", "receives"}, {"place", "b"}, {"late_ps", 3 * ms}},
                        {{"name", "MPI_Barrier"}, {"class", "barriers"}, {"place", "c"}, {"late_ps", 5 * ms}}}}};
  const Finding one = only(run);
  EXPECT_THAT(one.what, HasSubstr("for 20 % of the ranks' time others wait for senders that had not sent yet"));
  EXPECT_THAT(one.details, ElementsAre("most of it in MPI_Recv at b: 3.000 ms in all ranks",
                                       HasSubstr("rank 1 waits least for others")));
}

TEST(Findings, NameLoopsThatPoll)
{
  Json run = run_of({ms, ms});
  Json& calls = run["mpi_calls"];
  calls["functions"] = {{{"name", "MPI_Iprobe"}, {"calls", 50'000}, {"time_ps", 2 * ms}}};
  calls["sites"] = {{{"name", "MPI_Iprobe"}, {"place", "loop"}, {"calls", 50'000}}};
  const Finding one = only(run);
  EXPECT_THAT(one.what, HasSubstr("MPI_Iprobe is called"));
  EXPECT_THAT(one.what, HasSubstr("500 times for each message; 10 % of the ranks' time"));
  calls["functions"][0]["calls"] = 9'000;
  EXPECT_THAT(findings(run), IsEmpty());
}

TEST(Findings, NameTargetsThatRefuseMessages)
{
  Json run = run_of({ms, ms});
  run["ranks"][1]["messages_refused"] = 30;
  const Finding one = only(run);
  EXPECT_THAT(one.what, HasSubstr("Too few eager credits: NICs refused 30 messages"));
  EXPECT_THAT(one.details, ElementsAre("most of them at rank 1 on bxi1: 30"));
  EXPECT_NEAR(one.weight, 0.3, 1e-9);
}

TEST(Findings, NameHotLinks)
{
  Json run = run_of({ms, ms});
  // 1 GB/s: 10 MB in 10 ms
  run["links"] = {{"bin_ps", ms},
                  {"links",
                   {{{"name", "quiet"}, {"bandwidth_Bps", 1'000'000'000}, {"bytes", 1'000'000}},
                    {{"name", "hot"},
                     {"bandwidth_Bps", 1'000'000'000},
                     {"bytes", 8'000'000},
                     {"bytes_per_bin", {1'000'000, 500'000}}}}}};
  const Finding one = only(run);
  EXPECT_EQ(one.what, "Hot link: hot carries 80 % of what it could in the whole run, 100 % at its peak.");
}

TEST(Findings, SayWhatTheCriticalPathIsMadeOf)
{
  Json run = run_of({ms, ms});
  run["critical_path"] = {{"length_ps", 10 * ms},
                          {"kinds", {{"latency_ps", 5 * ms}, {"bandwidth_ps", ms / 2}, {"computing_ps", 4 * ms}}},
                          {"if_free", {{{"what", "latency"}, {"simulated_ps", 6 * ms}}}}};
  const Finding one = only(run);
  EXPECT_EQ(one.what, "Of the path that determines the end, 50 % is latency of links.");
  EXPECT_THAT(one.details, ElementsAre("without it the run would take 6.000 ms instead of 10.00 ms"));
}

TEST(Findings, OfABusyMachineComeFirst)
{
  Json run = run_of({ms, ms, 9 * ms});
  run["cpu"] = "measured";
  run["host"] = {{"cpu_seconds", 6.0}, {"waited_seconds", 2.0}, {"stolen_share", 0.0}};
  const std::vector<Finding> found = findings(run);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found.front().what, HasSubstr("others had the processor for 25 % of the time"));
}

TEST(Findings, OfWhatIsNoReportAreNone)
{
  for (const std::string_view odd :
       {R"({"ending": 3, "ranks": 7, "mpi_calls": [], "links": {"links": [1, null]}})",
        R"({"ending": "deadlock", "deadlock": {"waits": [{"rank": "x", "for": 3}], "cycle": "no"}})",
        R"({"ending": "completed", "simulated_ps": 1, "ranks": [{}, null], "critical_path": {"length_ps": -1}})"})
    EXPECT_NO_THROW((void)findings(Json::parse(odd))) << odd;
}

} // namespace
} // namespace umwelt::report
