// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/values.h"

#include <gtest/gtest.h>

#include "tests/runtime/cli/support.h"

namespace umwelt
{
namespace
{
namespace test = cli::test;

TEST(ReadCount, TakesANumberWithinTheRange)
{
  EXPECT_EQ(read_count("-np", "16", "a number", 1, 16), 16u);
}

TEST(ReadCount, NamesOptionRangeAndText)
{
  EXPECT_EQ(test::error_of([] { read_count("-np", "17", "a number of ranks", 1, 16); }),
            "-np: expected a number of ranks between 1 and 16, got '17'\n  Give a whole number, for example 1.");
}

TEST(ReadCount, RefusesTextBehindTheNumber)
{
  EXPECT_THROW(read_count("-np", "4x", "", 1, 9), UsageError);
}
TEST(ReadCount, RefusesASign)
{
  EXPECT_THROW(read_count("-np", "-1", "", 0, 9), UsageError);
}
TEST(ReadCount, RefusesAnEmptyText)
{
  EXPECT_THROW(read_count("-np", "", "", 0, 9), UsageError);
}
TEST(ReadCount, RefusesWhatDoesNotFitIntoAWord)
{
  EXPECT_THROW(read_count("-np", "99999999999999999999", "", 0, 9), UsageError);
}

TEST(ReadFactor, TakesAFraction)
{
  EXPECT_DOUBLE_EQ(read_factor("--cpu", "0.25"), 0.25);
}
TEST(ReadFactor, RefusesZero)
{
  EXPECT_THROW(read_factor("--cpu", "0"), UsageError);
}
TEST(ReadFactor, RefusesWhatIsNotFinite)
{
  EXPECT_THROW(read_factor("--cpu", "inf"), UsageError);
  EXPECT_THROW(read_factor("--cpu", "nan"), UsageError);
}

TEST(ReadDuration, KnowsEveryUnit)
{
  EXPECT_EQ(read_duration("o", "7ps"), 7 * sim::picosecond);
  EXPECT_EQ(read_duration("o", "7ns"), 7 * sim::nanosecond);
  EXPECT_EQ(read_duration("o", "7us"), 7 * sim::microsecond);
  EXPECT_EQ(read_duration("o", "7ms"), 7 * sim::millisecond);
  EXPECT_EQ(read_duration("o", "7s"), 7 * sim::second);
}

TEST(ReadDuration, TakesAFractionAndABlank)
{
  EXPECT_EQ(read_duration("o", "1.5 us"), 1500 * sim::nanosecond);
}
TEST(ReadDuration, ZeroNeedsNoUnit)
{
  EXPECT_EQ(read_duration("o", "0"), 0);
}

TEST(ReadDuration, RefusesANumberWithoutUnit)
{
  EXPECT_EQ(test::error_of([] { read_duration("--cpu-threshold", "5"); }),
            "--cpu-threshold: expected a duration: a number and one of ps, ns, us, ms, s, got '5'\n"
            "  For example: 500ns or 2us");
}

TEST(ReadDuration, RefusesNegativeTime)
{
  EXPECT_THROW(read_duration("o", "-1us"), UsageError);
}

TEST(ReadAssignment, SplitsAtTheFirstEqualsSign)
{
  EXPECT_EQ(read_assignment("-x", "A=b=c"), std::make_pair(std::string("A"), std::string("b=c")));
}

TEST(ReadAssignment, TakesAnEmptyValue)
{
  EXPECT_EQ(read_assignment("-x", "A=").second, "");
}

TEST(ReadAssignment, RefusesAnEmptyKey)
{
  EXPECT_EQ(test::error_of([] { read_assignment("--nic", "=3"); }),
            "--nic: expected KEY=VALUE, got '=3'\n  Write the key, '=' and the value without blanks around '='.");
}

TEST(InQuotes, EscapesBytesThatCannotBePrinted)
{
  EXPECT_EQ(in_quotes("a\n\xff"), "'a\\x0a\\xff'");
}

TEST(InQuotes, ShortensLongText)
{
  const std::string shown = in_quotes(std::string(1000, 'a'));
  EXPECT_EQ(shown, "'" + std::string(60, 'a') + "...'");
}

} // namespace
} // namespace umwelt
