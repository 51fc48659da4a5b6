// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/csv.h"

#include <gmock/gmock.h>

#include "runtime/base/usage_error.h"
#include "tests/runtime/kernels/scratch.h"

namespace umwelt::kernels
{
namespace
{

using testing::ElementsAre;
using testing::Pair;

TEST(Csv, LinesThatSayNothingDoNotCount)
{
  const Scratch scratch;
  CsvReader reader(scratch.write("a.csv", "\xef\xbb\xbfx, \"y\"\r\n\n# no\n1,2,\n"), "next");
  std::vector<std::string> row;
  ASSERT_TRUE(reader.next(row));
  EXPECT_THAT(row, ElementsAre("x", "y"));
  ASSERT_TRUE(reader.next(row));
  EXPECT_THAT(row, ElementsAre("1", "2", ""));
  EXPECT_TRUE(reader.object().ends_with("a.csv:4"));
  EXPECT_FALSE(reader.next(row));
}

TEST(Csv, HeadersHaveUnitsOfTime)
{
  EXPECT_THAT(csv_header("alpha [us]", "f"), Pair("alpha", 1e-6));
  EXPECT_THAT(csv_header("N", "f"), Pair("N", 0.0));
  EXPECT_THROW(csv_header("alpha [m]", "f"), UsageError);
}

TEST(Csv, NumbersAreWholeCells)
{
  EXPECT_EQ(csv_number<double>("1.5e3"), 1500.0);
  EXPECT_EQ(csv_number<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(csv_number<double>("1 "), std::nullopt);
}

TEST(Csv, AFileThatIsNotThereIsRefused)
{
  EXPECT_THROW(CsvReader("/no/such/file.csv", "next"), UsageError);
  EXPECT_THROW(CsvReader("/", "next"), UsageError);
}

} // namespace
} // namespace umwelt::kernels
