// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"
#include "runtime/kernels/builtin.h"
#include "runtime/kernels/expression.h"

namespace umwelt::kernels
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string> variables{"M", "N", "TRANSA"};

double value(std::string_view text, std::vector<double> values = {3, 4, 'T'})
{
  return Expression(text, variables, "k.yaml:1:1").evaluate(values);
}

Dimension dimension(std::string_view text, std::vector<std::uint8_t> times = {})
{
  return Expression(text, variables, "k.yaml:1:1").dimension(times);
}

std::string message(std::string_view text)
{
  try {
    const Expression expression(text, variables, "k.yaml:1:1, kernel dgemm, duration");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string time_message(std::string_view text)
{
  try {
    require_time(Expression(text, variables, "k.yaml:1:1"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Expression, Arithmetic)
{
  EXPECT_DOUBLE_EQ(value("1 + 2 * 3 ^ 2"), 19);
  EXPECT_DOUBLE_EQ(value("M*N - M/N"), 11.25);
  EXPECT_DOUBLE_EQ(value("2^3^2"), 512);
  EXPECT_DOUBLE_EQ(value("-M + 5"), 2);
  EXPECT_DOUBLE_EQ(value("(M + N) * .5"), 3.5);
}

TEST(Expression, Functions)
{
  EXPECT_DOUBLE_EQ(value("min(M, N, 2) + max(M, N)"), 6);
  EXPECT_DOUBLE_EQ(value("abs(M - N) + sqrt(N)"), 3);
  EXPECT_DOUBLE_EQ(value("log(exp(2)) + log2(8)"), 5);
  EXPECT_DOUBLE_EQ(value("floor(2.7) + ceil(2.1) + floor(-0.5)"), 4);
  EXPECT_DOUBLE_EQ(value("sqrt (N)"), 2);
}

TEST(Expression, Comparisons)
{
  EXPECT_DOUBLE_EQ(value("M < N ? 1 : 2"), 1);
  EXPECT_DOUBLE_EQ(value("M >= N ? 1 : 2"), 2);
  EXPECT_DOUBLE_EQ(value("M == 3 && N != 3"), 1);
  EXPECT_DOUBLE_EQ(value("M > 3 || N <= 3"), 0);
}

TEST(Expression, Characters)
{
  EXPECT_DOUBLE_EQ(value("TRANSA == 'T' ? 5 : 6"), 5);
  EXPECT_DOUBLE_EQ(value("TRANSA == 'N' ? 5 : 6"), 6);
  EXPECT_DOUBLE_EQ(value("'('"), '(');
  EXPECT_DOUBLE_EQ(value("' '"), ' ');
}

TEST(Expression, Units)
{
  EXPECT_DOUBLE_EQ(value("1.1us"), 1.1e-6);
  EXPECT_DOUBLE_EQ(value("7e-11 s * M * N"), 7e-11 * 12);
  EXPECT_DOUBLE_EQ(value("2ms + 3 ns + 4ps"), 2e-3 + 3e-9 + 4e-12);
  EXPECT_DOUBLE_EQ(value("(M + N) us"), 7e-6);
  EXPECT_DOUBLE_EQ(value("M KiB + 2MiB + 1GiB"), 3072 + 2 * 1048576. + 1073741824.);
  EXPECT_DOUBLE_EQ(value("1kB + 1 MB + 1GB"), 1001001000);
}

TEST(Expression, KnowsItsVariables)
{
  EXPECT_EQ(Expression("N + N", variables, "").used(), std::vector<std::size_t>{1});
  EXPECT_TRUE(Expression("1", variables, "").used().empty());
}

TEST(Expression, UndefinedValuesAreNotErrors)
{
  EXPECT_TRUE(std::isinf(value("1 / (M - 3)")));
  EXPECT_TRUE(std::isnan(value("log(-1)")));
}

TEST(Expression, MovesWithItsVariables)
{
  Expression first("M + N", variables, "");
  Expression second = std::move(first);
  first = Expression("M - N", variables, "");
  const std::vector<double> values{5, 2, 0};
  EXPECT_DOUBLE_EQ(second.evaluate(values), 7);
  EXPECT_DOUBLE_EQ(first.evaluate(values), 3);
}

TEST(Expression, UnknownVariable)
{
  EXPECT_EQ(message("2 * TRANA"), "k.yaml:1:1, kernel dgemm, duration: expected a variable, got 'TRANA' at column 5 in "
                                  "'2 * TRANA'\n  Did you mean 'TRANSA'? There are M N TRANSA.");
  EXPECT_THAT(message("mni(1, 2)"), HasSubstr("Did you mean 'min'?"));
  EXPECT_THAT(message("_pi"), HasSubstr("'_pi' at column 1"));
}

TEST(Expression, SaysWhatIsSaidOfUnknownVariables)
{
  try {
    const Expression expression("2us * COUNT", {}, "k", "Give a 'function:' line.");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "k: expected a variable, got 'COUNT' at column 7 in '2us * COUNT'\n  Give a 'function:' "
                               "line.");
  }
}

TEST(Expression, NumberOfArguments)
{
  EXPECT_THAT(message("1 + sqrt(1, 2)"), HasSubstr("expected 1 argument of sqrt, got 2 arguments at column 9"));
  EXPECT_THAT(message("min()"), HasSubstr("expected one or more arguments of min, got 0 arguments at column 4"));
  EXPECT_THAT(message("sqrt * 2"), HasSubstr("expected '(' behind the function sqrt, got '*' at column 6"));
}

TEST(Expression, MissingOperators)
{
  EXPECT_THAT(message("M N"), HasSubstr("expected an operator or a unit, got 'N' at column 3"));
  EXPECT_THAT(message("2 3"), HasSubstr("expected an operator, got '3' at column 3"));
  EXPECT_THAT(message("2 (3)"), HasSubstr("expected an operator, got '(' at column 3"));
  EXPECT_THAT(message("3 second"), HasSubstr("expected an operator or a unit, got 'second' at column 3"));
}

TEST(Expression, UnitsBelongBehindNumbers)
{
  EXPECT_THAT(message("us * 2"), HasSubstr("expected a number or a variable, got the unit 'us' at column 1"));
}

TEST(Expression, RefusesWhatMuParserWouldAccept)
{
  EXPECT_THAT(message("M = 3"), AllOf(HasSubstr("'=' at column 3"), HasSubstr("Compare with ==")));
  EXPECT_THAT(message("1, 2"), HasSubstr("',' at column 2"));
  EXPECT_THAT(message("(1, 2)"), HasSubstr("',' at column 3"));
  EXPECT_THAT(message("\"abc\""), HasSubstr("at column 1"));
  EXPECT_THAT(message("sum(1, 2)"), HasSubstr("'sum' at column 1"));
  EXPECT_THAT(message("0x10"), HasSubstr("'x10' at column 2"));
  EXPECT_THAT(message("'ab'"), HasSubstr("expected one character between quotes"));
  EXPECT_THAT(message("1e999"), HasSubstr("expected a number, got '1e999' at column 1"));
  EXPECT_THAT(message("!M"), HasSubstr("'!' at column 1"));
}

TEST(Expression, Syntax)
{
  EXPECT_THAT(message("M *"), HasSubstr("expected an expression, got the end at column 4 in 'M *'"));
  EXPECT_THAT(message("(M"), HasSubstr("a parenthesis that is not closed"));
  EXPECT_THAT(message("M)"), HasSubstr("expected '(' before ')', got ')' at column 2"));
  EXPECT_THAT(message(""), HasSubstr("got nothing"));
  EXPECT_THAT(message("M ? 1"), HasSubstr("a '?' without ':'"));
  EXPECT_THAT(message("* 2"), HasSubstr("expected an expression"));
}

TEST(Expression, DimensionOfTimes)
{
  EXPECT_EQ(dimension("1us"), Dimension::time);
  EXPECT_EQ(dimension("1us + 7e-11 s * M * N"), Dimension::time);
  EXPECT_EQ(dimension("M * N < 100 ? 1us : 1ns * M * N"), Dimension::time);
  EXPECT_EQ(dimension("max(1us, 2ns * M)"), Dimension::time);
  EXPECT_EQ(dimension("sqrt(1us * 1us)"), Dimension::time);
  EXPECT_EQ(dimension("M * N us", {0, 0, 0}), Dimension::time);
}

TEST(Expression, DimensionOfNumbers)
{
  EXPECT_EQ(dimension("1e-6"), Dimension::number);
  EXPECT_EQ(dimension("M * N < 1e6"), Dimension::number);
  EXPECT_EQ(dimension("1us / 1ns"), Dimension::number);
  EXPECT_EQ(dimension("0 * M"), Dimension::zero);
}

TEST(Expression, DimensionOfParametersThatAreTimes)
{
  EXPECT_EQ(dimension("M * N", {1, 0, 0}), Dimension::time);
  EXPECT_EQ(dimension("M * N us", {1, 0, 0}), Dimension::mixed);
  EXPECT_EQ(dimension("M > 1us ? M : 2us", {1, 0, 0}), Dimension::time);
}

TEST(Expression, MixedDimensions)
{
  EXPECT_EQ(dimension("1us + 1"), Dimension::mixed);
  EXPECT_EQ(dimension("1us * 1us"), Dimension::mixed);
  EXPECT_EQ(dimension("1 / 1us"), Dimension::mixed);
  EXPECT_EQ(dimension("min(1us, 3)"), Dimension::time); // whatever the unit: 1us
}

TEST(Expression, BothSidesOfAComparisonAreLookedAt)
{
  EXPECT_EQ(dimension("TRANSA == 'T' ? 1e-6 : 1us"), Dimension::mixed);
  EXPECT_EQ(dimension("M == 4711 ? 1e-6 : 1us"), Dimension::mixed);
  EXPECT_EQ(dimension("M > 98765 && N == 31 ? 1e-6 : 1us"), Dimension::mixed);
}

TEST(Expression, RequiresATime)
{
  EXPECT_EQ(time_message("1e-6"), "k.yaml:1:1: expected a time, got '1e-6', without a unit\n  Put one of ps ns us ms s "
                                  "behind a number: 2us, or 7e-11 s * M * N * K.");
  EXPECT_THAT(time_message("1us * 1us"), HasSubstr("which is not proportional to the unit of time"));
  EXPECT_EQ(time_message("0"), "no error");
}

TEST(Expression, CountsOfTheBuiltInTable)
{
  int counts = 0;
  for (const std::string& name : builtin_names()) {
    const KernelFunction& function = *find_builtin(name);
    for (const std::string& text : {function.flops, function.bytes}) {
      const Expression expression(text, function.sizes, name);
      EXPECT_NE(expression.dimension(), Dimension::time) << name;
      EXPECT_NE(expression.dimension(), Dimension::mixed) << name;
      ++counts;
    }
  }
  EXPECT_GT(counts, 500);
}

} // namespace
} // namespace umwelt::kernels
