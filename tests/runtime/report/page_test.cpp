// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/page.h"

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "runtime/report/compare_command.h"

namespace umwelt::report
{
namespace
{

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

Run run_of(const std::string& name, double simulated, double allreduce)
{
  const Json rank{
      {"compute_ps", 100}, {"communication_ps", 10}, {"waiting_ps", simulated - 110}, {"finished_ps", simulated}};
  return {name,
          {{"report_version", 1},
           {"programs", {"./app"}},
           {"nodes", 2},
           {"seed", 0},
           {"exit_code", 0},
           {"simulated_ps", simulated},
           {"totals", {{"messages", 4}, {"bytes", 4096}}},
           {"ranks", {rank, rank}},
           {"mpi_calls", {{"functions", {{{"name", "MPI_Allreduce"}, {"time_ps", allreduce}}}}}}}};
}

// What the scripts of the page read.
Json data_of(const std::string& page)
{
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST(Page, HoldsTheReport)
{
  const std::array runs{run_of("run.json", 2e6, 1e5)};
  const Json data = data_of(page(runs));
  EXPECT_EQ(data["runs"][0]["name"], "run.json");
  EXPECT_EQ(data["runs"][0]["report"]["simulated_ps"], 2e6);
  EXPECT_EQ(data["runs"][0]["report"]["ranks"]["compute_ps"], (Json{100, 100}));
}

TEST(Page, NamesDoNotEndWhatTheyStandIn)
{
  std::array runs{run_of("a</script><b>.json", 2e6, 1e5)};
  runs[0].report["programs"] = {"</script><!--<script>", "\xff"};
  const std::string text = page(runs);
  const Json data = data_of(text);
  EXPECT_EQ(data["runs"][0]["name"], "a</script><b>.json");
  EXPECT_EQ(data["runs"][0]["report"]["programs"][0], "</script><!--<script>");
  EXPECT_THAT(text, Not(HasSubstr("</script><!--")));
}

TEST(Page, IsWhole)
{
  const std::array runs{run_of("run.json", 2e6, 1e5)};
  const std::string text = page(runs);
  for (const char* place : {"@DATA@", "@STYLE@", "@LICENCE@", "@LIBRARY@", "@SCRIPTS@"})
    EXPECT_THAT(text, Not(HasSubstr(place)));
  EXPECT_THAT(text, HasSubstr("d3js.org v5"));
  EXPECT_THAT(text, HasSubstr("function drawVerdict"));
  EXPECT_TRUE(text.ends_with("</html>\n"));
}

TEST(Comparison, TellsWhatChanged)
{
  const std::array runs{run_of("a.json", 2e6, 1e6), run_of("b.json", 3e6, 2e6)};
  const std::string text = comparison_text(runs);
  EXPECT_THAT(text, testing::ContainsRegex("simulated time +2.000 us +3.000 us +\\+50.0 %"));
  EXPECT_THAT(text, testing::ContainsRegex("messages +4 +4 +="));
  EXPECT_THAT(text, testing::ContainsRegex("MPI_Allreduce +500.0 ns +1.000 us +\\+100.0 %"));
  EXPECT_THAT(text, HasSubstr("nothing that the reports tell was different"));
}

TEST(Comparison, TellsWhatWasDifferent)
{
  std::array runs{run_of("a.json", 2e6, 1e6), run_of("b.json", 2e6, 1e6)};
  runs[1].report["seed"] = 7;
  EXPECT_THAT(comparison_text(runs), HasSubstr("what was different\n  seed\n    a.json: 0\n    b.json: 7\n"));
}

TEST(Comparison, RunsWithoutCallsHaveNone)
{
  std::array runs{run_of("a.json", 2e6, 1e6), run_of("b.json", 2e6, 1e6)};
  runs[1].report.erase("mpi_calls");
  EXPECT_THAT(comparison_text(runs), testing::ContainsRegex("MPI_Allreduce +500.0 ns +- +-"));
}

} // namespace
} // namespace umwelt::report
