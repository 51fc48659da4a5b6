// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/parameter_table.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

const RandomKey key(1, "k", Purpose::parameters);

ParameterTable table(std::string_view text)
{
  const Scratch scratch;
  return ParameterTable::read(scratch.write("t.csv", text));
}

std::string message(std::string_view text)
{
  const Scratch scratch;
  try {
    ParameterTable::read(scratch.write("t.csv", text));
  } catch (const UsageError& error) {
    return std::string(error.what()).erase(0, scratch.directory().size() + 1);
  }
  return "no error";
}

std::vector<double> mean(const ParameterTable& values, const Place& place, Missing missing = Missing::error)
{
  return values.choose(place, RowChoice::mean, missing, key);
}

TEST(ParameterTable, OneRowForEachNode)
{
  const ParameterTable values = table("node,alpha,beta\n0,1,10\n2,3,30\n");
  EXPECT_THAT(values.names(), ElementsAre("alpha", "beta"));
  EXPECT_THAT(mean(values, {0}), ElementsAre(1, 10));
  EXPECT_THAT(mean(values, {2, 1, 7}), ElementsAre(3, 30));
  EXPECT_TRUE(values.has({0}));
  EXPECT_FALSE(values.has({1}));
}

TEST(ParameterTable, SocketsAndCores)
{
  const ParameterTable values = table("core, alpha, socket, node\n0, 1, 0, 0\n1, 2, 0, 0\n2, 3, 1, 0\n");
  EXPECT_THAT(mean(values, {0, 0, 1}), ElementsAre(2));
  EXPECT_THAT(mean(values, {0, 1, 2}), ElementsAre(3));
  EXPECT_FALSE(values.has({0, 1, 0}));
}

TEST(ParameterTable, CommentsQuotesAndLineEndings)
{
  const ParameterTable values = table("\xef\xbb\xbf# fitted\r\n\r\n\"node\",\"alpha\"\r\n0,\"1e-3\"\r\n");
  EXPECT_THAT(mean(values, {0}), ElementsAre(1e-3));
}

TEST(ParameterTable, UnitInTheHeader)
{
  const ParameterTable values = table("node,alpha [us],n\n0,2.5,3\n");
  EXPECT_THAT(values.times(), ElementsAre(1, 0));
  EXPECT_THAT(mean(values, {0}), ElementsAre(testing::DoubleEq(2.5e-6), 3));
}

TEST(ParameterTable, ColumnsOfTextAreNoParameters)
{
  const ParameterTable values = table("node,day,alpha\n0,monday,1\n0,tuesday,3\n");
  EXPECT_THAT(values.names(), ElementsAre("alpha"));
  ASSERT_EQ(values.refused().size(), 1U);
  EXPECT_EQ(values.refused()[0].name, "day");
  EXPECT_EQ(values.refused()[0].cell, "monday");
  EXPECT_THAT(values.refused()[0].object, HasSubstr("t.csv:2, column day"));
  EXPECT_THAT(mean(values, {0}), ElementsAre(2));
}

TEST(ParameterTable, Errors)
{
  EXPECT_EQ(message(""), "t.csv: expected a line with the names of the columns, got an empty file\n  For example: "
                         "node,alpha,beta");
  EXPECT_THAT(message("alpha\n1\n"), HasSubstr("t.csv:1: expected a column 'node', got none"));
  EXPECT_THAT(message("node,a,a\n0,1,1\n"), HasSubstr("t.csv:1: expected each column once, got 'a' twice"));
  EXPECT_THAT(message("node,a\n\n0\n"), HasSubstr("t.csv:3: expected 2 cells, as in the first line, got 1"));
  EXPECT_THAT(message("node,a\nx,1\n"), HasSubstr("t.csv:2, column node: expected a whole number, got 'x'"));
  EXPECT_THAT(message("node,a\n-1,1\n"), HasSubstr("expected a whole number, got '-1'"));
  EXPECT_THAT(message("node,a\n"), HasSubstr("t.csv: expected a row of values, got none"));
  EXPECT_THAT(message("node,a [Hz]\n0,1\n"), HasSubstr("t.csv:1, column a: expected an operator or a unit, got 'Hz'"));
  EXPECT_THAT(message("node,a [MiB]\n0,1\n"), HasSubstr("t.csv:1, column a: expected a time"));
}

TEST(ParameterTable, MissingFile)
{
  EXPECT_THROW(ParameterTable::read("/nowhere/t.csv"), UsageError);
  EXPECT_THROW(ParameterTable::read("/tmp"), UsageError);
}

TEST(ParameterTable, CycleRepeatsNodes)
{
  const ParameterTable values = table("node,alpha\n0,1\n2,3\n5,6\n");
  EXPECT_THAT(mean(values, {5}, Missing::cycle), ElementsAre(6));
  EXPECT_THAT(mean(values, {3}, Missing::cycle), ElementsAre(1)); // 3 modulo 3: the first
  EXPECT_THAT(mean(values, {7}, Missing::cycle), ElementsAre(3));
}

TEST(ParameterTable, CycleRepeatsCoresOfTheNode)
{
  const ParameterTable values = table("node,core,alpha\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n");
  EXPECT_THAT(mean(values, {1, 0, 5}, Missing::cycle), ElementsAre(4));
  EXPECT_THAT(mean(values, {2, 0, 1}, Missing::cycle), ElementsAre(2));
}

TEST(ParameterTable, DrawnNodesKeepTheirSocketsTogether)
{
  const ParameterTable values = table("node,socket,alpha\n0,0,1\n0,1,2\n1,0,11\n1,1,12\n2,0,21\n2,1,22\n");
  std::set<double> seen;
  for (std::uint32_t node = 100; node < 200; ++node) {
    const double first = mean(values, {node, 0}, Missing::draw)[0];
    EXPECT_EQ(mean(values, {node, 1}, Missing::draw)[0], first + 1);
    seen.insert(first);
  }
  EXPECT_THAT(seen, ElementsAre(1, 11, 21));
}

TEST(ParameterTable, OneRowAtRandom)
{
  const ParameterTable values = table("node,a,b\n0,1,10\n0,2,20\n0,3,30\n1,7,70\n");
  EXPECT_THAT(values.choose({1}, RowChoice::row, Missing::error, key), ElementsAre(7, 70));
  std::set<double> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto drawn = values.choose({0}, RowChoice::row, Missing::error, RandomKey(seed, "k", Purpose::parameters));
    EXPECT_EQ(drawn[1], 10 * drawn[0]);
    seen.insert(drawn[0]);
  }
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST(ParameterTable, RowsOfAllNodesForOneThatIsMissing)
{
  const ParameterTable values = table("node,a\n0,1\n0,2\n1,3\n");
  std::set<double> seen;
  for (std::uint32_t node = 10; node < 60; ++node)
    seen.insert(values.choose({node}, RowChoice::row, Missing::draw, key)[0]);
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

// Means 2e-11 and 5e-6, covariance of the sample: standard deviations sqrt(2.5)*1e-12 and 1e-6, correlation 0.8.
constexpr std::string_view correlated =
    "node,a,b\n0,1.8e-11,4e-6\n0,1.9e-11,4.5e-6\n0,2e-11,5.5e-6\n0,2.1e-11,4.5e-6\n0,2.2e-11,6.5e-6\n";

TEST(ParameterTable, NormalDistributionFittedToRows)
{
  const ParameterTable values = table(correlated);
  constexpr int count = 20'000;
  double means[2] = {};
  double squares[3] = {};
  for (int i = 0; i < count; ++i) {
    const auto drawn = values.choose({0}, RowChoice::normal, Missing::error, RandomKey(i, "k", Purpose::parameters));
    const double a = drawn[0] * 1e12 - 20;
    const double b = drawn[1] * 1e6 - 5;
    means[0] += a / count;
    means[1] += b / count;
    squares[0] += a * a / count;
    squares[1] += b * b / count;
    squares[2] += a * b / count;
  }
  // Of the five rows: sums of squares 10, 4 and of products 5, divided by 4.
  EXPECT_NEAR(means[0], 0, 4 * std::sqrt(2.5 / count));
  EXPECT_NEAR(means[1], 0, 4 * std::sqrt(1. / count));
  EXPECT_NEAR(squares[0], 2.5, 0.1);
  EXPECT_NEAR(squares[1], 1, 0.04);
  EXPECT_NEAR(squares[2], 1.25, 0.06);
}

TEST(ParameterTable, NormalDistributionOfDependentColumns)
{
  const ParameterTable values = table("node,a,b,c\n0,1,2,5\n0,3,6,5\n0,2,4,5\n");
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto drawn = values.choose({0}, RowChoice::normal, Missing::error, RandomKey(seed, "k", Purpose::parameters));
    EXPECT_NEAR(drawn[1], 2 * drawn[0], 1e-6);
    EXPECT_EQ(drawn[2], 5);
  }
}

TEST(ParameterTable, NormalDistributionNeedsTwoRows)
{
  const ParameterTable values = table("node,a\n0,1\n0,2\n3,3\n");
  values.check(RowChoice::mean);
  try {
    values.check(RowChoice::normal);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected two rows or more for each place, to fit a normal distribution to, "
                                        "got one for node 3"));
  }
}

TEST(ParameterTable, LastNodeOfAll)
{
  const ParameterTable values = table("node,core,a\n4294967295,4294967295,1\n0,4294967295,2\n");
  EXPECT_THAT(mean(values, {1, 0, 3}, Missing::cycle), ElementsAre(1));
}

} // namespace
} // namespace umwelt::kernels
