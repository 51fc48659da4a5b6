// SPDX-License-Identifier: LGPL-2.1-or-later
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/parameters.h"

namespace umwelt
{
namespace
{

struct Sample {
  sim::SimTime latency = 5;
  double rate = 1;
  std::uint64_t size = 1;
  std::uint64_t many = 1;
  double part = 0.5;
  bool on = false;

  template <class Visitor> void visit(Visitor& v)
  {
    v.time("latency", latency, "a time");
    v.bandwidth("rate", rate, "a rate");
    v.size("size", size, "a size");
    v.count("many", many, "a count");
    v.fraction("part", part, "a fraction");
    v.flag("on", on, "a flag");
  }
};

Sample read(std::string_view list)
{
  Parameters parameters;
  parameters.add(list, "--nic");
  return read_parameters<Sample>(parameters, "model sample");
}

std::string message(std::string_view list)
{
  try {
    read(list);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Parameters, UnitsOfTime)
{
  EXPECT_EQ(read("latency=2us").latency, 2 * sim::microsecond);
  EXPECT_EQ(read("latency=1.5ns").latency, 1500);
  EXPECT_EQ(read("latency=7ps").latency, 7);
  EXPECT_EQ(read("latency=0").latency, 0);
  EXPECT_EQ(read("latency=3 ms").latency, 3 * sim::millisecond);
}

TEST(Parameters, UnitsOfBandwidth)
{
  EXPECT_DOUBLE_EQ(read("rate=12.5GB/s").rate, 12.5e9);
  EXPECT_DOUBLE_EQ(read("rate=12.5GBps").rate, 12.5e9);
  EXPECT_DOUBLE_EQ(read("rate=100Gbps").rate, 12.5e9);
  EXPECT_DOUBLE_EQ(read("rate=1MiB/s").rate, 1048576);
}

TEST(Parameters, UnitsOfSize)
{
  EXPECT_EQ(read("size=64").size, 64U);
  EXPECT_EQ(read("size=64B").size, 64U);
  EXPECT_EQ(read("size=4KiB").size, 4096U);
  EXPECT_EQ(read("size=2MB").size, 2'000'000U);
}

TEST(Parameters, OtherTypes)
{
  EXPECT_EQ(read("many=17").many, 17U);
  EXPECT_DOUBLE_EQ(read("part=25%").part, 0.25);
  EXPECT_TRUE(read("on=yes").on);
  EXPECT_FALSE(read("on=off").on);
}

TEST(Parameters, TheRestKeepsItsDefaults)
{
  EXPECT_EQ(read("many=2").latency, 5);
}

TEST(Parameters, ALaterValueWins)
{
  EXPECT_EQ(read("many=2,many=3").many, 3U);
}

TEST(Parameters, BadValuesNameKeyExpectedAndGot)
{
  EXPECT_EQ(
      message("latency=5"),
      "--nic: parameter latency of model sample: expected a time with unit such as 250ns or 2us, got '5'. Correct the "
      "value or leave the parameter out to keep its default.");
  EXPECT_THAT(message("rate=12"), testing::HasSubstr("a bandwidth with unit"));
  EXPECT_THAT(message("size=1.5"), testing::HasSubstr("a size in bytes"));
  EXPECT_THAT(message("many=-1"), testing::HasSubstr("a whole number"));
  EXPECT_THAT(message("part=2"), testing::HasSubstr("a fraction from 0 to 1"));
  EXPECT_THAT(message("on=perhaps"), testing::HasSubstr("on or off"));
  EXPECT_THAT(message("latency=1us2"), testing::HasSubstr("got '1us2'"));
}

TEST(Parameters, UnknownKeysNameTheNearest)
{
  EXPECT_EQ(message("latencies=1us"), "--nic: model sample has no parameter 'latencies'. Did you mean 'latency'?");
  EXPECT_EQ(message("zzzzzzzz=1"), "--nic: model sample has no parameter 'zzzzzzzz'; expected one of latency rate size "
                                   "many part on.");
}

TEST(Parameters, ItemsNeedAnEqualsSign)
{
  EXPECT_EQ(message("latency"),
            "--nic: expected key=value, got 'latency'. Write each parameter as key=value, separated by commas.");
}

class ParameterFile : public testing::Test
{
protected:
  ParameterFile() { std::filesystem::create_directories(directory_); }
  ~ParameterFile() override { std::filesystem::remove_all(directory_); }

  Parameters load(const std::string& text)
  {
    std::ofstream(path_) << text;
    Parameters parameters;
    parameters.add_file(path_);
    return parameters;
  }
  std::string error(const std::string& text)
  {
    try {
      read_parameters<Sample>(load(text), "model sample");
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
    return "no error";
  }

  // One per process: ctest runs the cases beside each other.
  std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) / ("umwelt_parameter_file." + std::to_string(getpid()));
  std::string path_ = directory_ / "nic.conf";
};

TEST_F(ParameterFile, HasALinePerKey)
{
  const auto values = read_parameters<Sample>(load("# fitted\n\nlatency = 2us  # or so\r\nmany=7"), "model sample");
  EXPECT_EQ(values.latency, 2 * sim::microsecond);
  EXPECT_EQ(values.many, 7U);
}

TEST_F(ParameterFile, ErrorsNameTheLine)
{
  EXPECT_EQ(error("many = 1\nlatency\n"),
            path_ + ":2: expected 'key = value', got 'latency'. Correct the line or put '#' before it.");
  EXPECT_THAT(error("\nlatency = 5"), testing::StartsWith(path_ + ":2: parameter latency of model sample: expected"));
  EXPECT_THAT(error("latencies = 5us"), testing::StartsWith(path_ + ":1: model sample has no parameter 'latencies'."));
}

TEST_F(ParameterFile, AMissingOneIsNamed)
{
  Parameters parameters;
  EXPECT_THROW(parameters.add_file("/no/such/file"), std::invalid_argument);
  EXPECT_THROW(parameters.add_file(directory_), std::invalid_argument);
}

TEST(Parameters, DefaultsReadBackAsThemselves)
{
  EXPECT_EQ(time_text(200 * sim::nanosecond), "200ns");
  EXPECT_EQ(time_text(1500), "1.5ns");
  EXPECT_EQ(bandwidth_text(12.5e9), "12.5GB/s");
  EXPECT_EQ(size_text(4096), "4KiB");
  EXPECT_EQ(size_text(416), "416B");
}

} // namespace
} // namespace umwelt
