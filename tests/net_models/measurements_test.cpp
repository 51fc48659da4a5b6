// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/calibration/measurements.h"

#include <random>
#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::net
{
namespace
{

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Series read(const std::string& text, const std::set<std::uint64_t>& ranks = {})
{
  std::istringstream stream(text);
  return read_series(stream, "a.csv", ranks);
}

std::string message(const std::string& text, const std::set<std::uint64_t>& ranks = {})
{
  try {
    read(text, ranks);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Measurements, MediansOfRepetitions)
{
  EXPECT_THAT(read("size (B), time (us)\n8,3\n8,1\n8,2\n64,5\n64,7\n"), ElementsAre(Pair(8, 2), Pair(64, 6)));
}

TEST(Measurements, ColumnsAreFoundByName)
{
  EXPECT_THAT(read("note,Latency (\xc2\xb5s),Msg size (B)\nx,2.5,16\n"), ElementsAre(Pair(16, 2.5)));
}

TEST(Measurements, RatesBecomeTimes)
{
  EXPECT_THAT(read("rank, message size (B), message rate (kmsg/s)\n0,16,500\n"), ElementsAre(Pair(16, DoubleEq(2))));
}

TEST(Measurements, WindowsLineEndsAndBlankLinesAreFine)
{
  EXPECT_THAT(read("size (B),time (us)\r\n8,1\r\n\r\n\n"), ElementsAre(Pair(8, 1)));
}

TEST(Measurements, OnlyTheInitiatorCounts)
{
  const std::string two = "rank,size (B),time (us)\n7,8,1\n9,8,5\n";
  EXPECT_THAT(read(two, {7}), ElementsAre(Pair(8, 1)));
  EXPECT_EQ(message(two), "a.csv: expected lines of one rank, got lines of ranks 7 and 9. Say with --rank which is the "
                          "initiator.");
  EXPECT_EQ(message(two, {8, 10}), "a.csv: expected lines of rank 8 or 10, got none (but of rank 7). Correct --rank.");
}

TEST(Measurements, WithoutColumnOfRanksTheRankDoesNotMatter)
{
  EXPECT_THAT(read("size (B),time (us)\n8,1\n", {3}), ElementsAre(Pair(8, 1)));
}

TEST(Measurements, WhatIsWrongIsNamedWithItsLine)
{
  const std::string header = "size (B),time (us)\n";
  EXPECT_EQ(message(""), "a.csv: expected a CSV file, got an empty one.");
  EXPECT_THAT(message("a,b\n1,2\n"), HasSubstr("a.csv:1: expected the names of the columns"));
  EXPECT_THAT(message(header), HasSubstr("expected at least one measurement"));
  EXPECT_EQ(message(header + "8,1\n9\n"), "a.csv:3: expected a time in column 2, got 1 columns. Correct the line.");
  for (const char* bad : {"-1", "nan", "inf", "0", "", "1.5us", "1e400", "1e-300"})
    EXPECT_THAT(message(header + "8," + bad + "\n"), HasSubstr("a.csv:2: expected a time in us above 0, got '")) << bad;
  for (const char* bad : {"-8", "8.5", "", "x", "99999999999999999999", "1099511627777"})
    EXPECT_THAT(message(header + bad + ",1\n"), HasSubstr("a.csv:2: expected a message size")) << bad;
  EXPECT_THAT(message("rank,size (B),time (us)\n-1,8,1\n"), HasSubstr("a.csv:2: expected a rank"));
}

TEST(Measurements, AMissingFileOrADirectoryIsNamed)
{
  EXPECT_THROW(load_series("/no/such/file.csv"), std::invalid_argument);
  EXPECT_THROW(load_series("/tmp"), std::invalid_argument);
}

TEST(Measurements, ErrorIsTheMeanFactor)
{
  EXPECT_DOUBLE_EQ(mean_error({{8, 2}, {16, 1}}, {{8, 1}, {16, 2}}), 1);
  EXPECT_DOUBLE_EQ(mean_error({{8, 1}}, {{8, 1}, {16, 2}}), 0);
}

// Whatever stands in a file: numbers that can be used, or an error with its text; never anything else.
TEST(Measurements, RandomFilesAreReadOrRefused)
{
  std::mt19937 random(1);
  const std::string seed = "rank, message size (B), duration (\xc2\xb5s), message rate (kmsg/s)\n"
                           "0,8,20343.02,491.5\n0,65,22226.3,449.9\n1,4096,31503.1,317.4\n";
  const std::string letters = "0123456789,,\n\n.-+eEnaif \t\r\xff\xc2\"" + std::string(1, '\0');
  int read_well = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seed;
    for (unsigned changes = random() % 8; changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = letters[random() % letters.size()];
        break;
      case 1:
        text.erase(at, random() % 20);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 30));
        break;
      default:
        text.insert(at, 1, letters[random() % letters.size()]);
      }
    }
    try {
      const Series series = read(text, random() % 2 == 0 ? std::set<std::uint64_t>{0} : std::set<std::uint64_t>{});
      ASSERT_FALSE(series.empty());
      for (const auto& [size, time] : series)
        ASSERT_TRUE(time > 0 && time <= 1e12) << text;
      ++read_well;
    } catch (const std::invalid_argument& error) {
      ASSERT_THAT(error.what(), testing::StartsWith("a.csv:"));
    }
  }
  EXPECT_GT(read_well, 100);
}

} // namespace
} // namespace umwelt::net
