// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/repetitions.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/observe/report.h"

namespace umwelt::observe
{
namespace
{

using testing::HasSubstr;
using testing::Not;

std::string report(sim::SimTime simulated, bool deterministic = false)
{
  JobRecord record;
  record.ending = "completed";
  record.simulated = simulated;
  record.host.wall_seconds = 3;
  record.ranks.resize(2);
  record.ranks[0].statistics.compute = simulated;
  record.ranks[1].statistics.compute = simulated / 2;
  return report_json(record, deterministic);
}

TEST(Interval, OfFewValuesIsAllOfThemWithTheConfidenceThatGives)
{
  const Interval five = interval_of({3, 1, 5, 2, 4});
  EXPECT_EQ(five.median, 3);
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_DOUBLE_EQ(five.confidence, 1 - 2 / 32.0);
  EXPECT_DOUBLE_EQ(interval_of({1, 2}).confidence, 0.5);
  EXPECT_EQ(interval_of({1, 2}).median, 1.5);
}

TEST(Interval, OfOneValueSaysNothing)
{
  const Interval one = interval_of({7});
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.low, 7);
  EXPECT_EQ(one.high, 7);
  EXPECT_EQ(one.confidence, 0);
}

// Conover, table A3: of 20 values the 6th and the 15th have 95.9 %.
TEST(Interval, LeavesOutExtremesWhereThereAreEnough)
{
  std::vector<double> values;
  for (int i = 20; i >= 1; --i)
    values.push_back(i);
  const Interval twenty = interval_of(values);
  EXPECT_EQ(twenty.low, 6);
  EXPECT_EQ(twenty.high, 15);
  EXPECT_NEAR(twenty.confidence, 0.9586, 1e-4);
}

TEST(Interval, HoldsTheMedianAsOftenAsItSays)
{
  std::mt19937_64 random(1); // NOLINT(cert-msc51-cpp): the same every time
  std::exponential_distribution<double> draw(1);
  constexpr int tries = 20'000;
  int held = 0;
  double confidence = 0;
  for (int i = 0; i < tries; ++i) {
    std::vector<double> values(11);
    for (double& value : values)
      value = draw(random);
    const Interval interval = interval_of(values);
    held += interval.low <= std::log(2) && std::log(2) <= interval.high ? 1 : 0;
    confidence = interval.confidence;
  }
  EXPECT_NEAR(static_cast<double>(held) / tries, confidence, 0.01);
}

TEST(Repetitions, AreATableOfMediansAndIntervals)
{
  const std::vector<std::string> reports{report(3 * sim::second), report(1 * sim::second), report(2 * sim::second)};
  EXPECT_EQ(repetitions_text(reports), "umwelt: 3 runs\n"
                                       "                      median         low to       high (75.0 % confidence)\n"
                                       "  simulated          2.000 s     1.000 s to    3.000 s\n"
                                       "  compute            1.500 s    750.0 ms to    2.250 s\n"
                                       "  communication            0           0 to          0\n"
                                       "  waiting                  0           0 to          0\n"
                                       "  (compute, communication, waiting: mean of the ranks)\n");
}

TEST(Repetitions, AreOneReportWithAllOthersInIt)
{
  const std::vector<std::string> reports{report(3 * sim::second), report(1 * sim::second)};
  const auto json = nlohmann::json::parse(repetitions_json(reports));
  EXPECT_EQ(json["repetitions"], 2);
  EXPECT_EQ(json["simulated_ps"]["median"], 2e12);
  EXPECT_EQ(json["simulated_ps"]["low"], 1e12);
  EXPECT_EQ(json["compute_ps"]["high"], 2.25e12);
  EXPECT_EQ(json["confidence"], 0.5);
  EXPECT_EQ(json["runs"][0], nlohmann::json::parse(reports[0]));
  EXPECT_EQ(json["runs"][1], nlohmann::json::parse(reports[1]));
}

TEST(Repetitions, CountThoseThatHaveComeToTheirEnd)
{
  auto failed = nlohmann::json::parse(report(50 * sim::second));
  failed["exit_code"] = 3;
  std::vector<std::string> reports{report(2 * sim::second), failed.dump()};
  EXPECT_EQ(repetitions_text(reports), "");
  EXPECT_EQ(nlohmann::json::parse(repetitions_json(reports))["simulated_ps"]["high"], 2e12);
  EXPECT_EQ(nlohmann::json::parse(repetitions_json(reports))["runs"].size(), 2U);
  reports.insert(reports.begin(), report(1 * sim::second));
  EXPECT_THAT(repetitions_text(reports), HasSubstr("umwelt: 2 runs\n"));
  EXPECT_FALSE(nlohmann::json::parse(repetitions_json(std::vector{failed.dump()})).contains("simulated_ps"));
}

TEST(Repetitions, HaveALineEach)
{
  EXPECT_EQ(run_text(report(2 * sim::second)), "completed, simulated 2.000 s, wall clock 3.00 s");
  EXPECT_THAT(run_text(report(2 * sim::second, true)), Not(HasSubstr("wall")));
}

} // namespace
} // namespace umwelt::observe
