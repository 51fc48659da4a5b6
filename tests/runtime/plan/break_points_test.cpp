// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/break_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "preload/abi/mpi_calls.h"
#include "runtime/base/usage_error.h"

namespace umwelt::plan
{
namespace
{

TEST(BreakPoints, HaveARankAFunctionAndACount)
{
  const BreakPoint point = parse_break("--break", "rank=2:MPI_Recv:10");
  EXPECT_EQ(point.rank, 2u);
  EXPECT_EQ(point.function, "MPI_Recv");
  EXPECT_EQ(point.count, 10u);
  EXPECT_EQ(point.text, "--break rank=2:MPI_Recv:10");
  EXPECT_EQ(parse_break("--break", "rank=0:solve_").count, 1u);
}

TEST(BreakPoints, FunctionsOfMpiHaveTheirNumbersAndOthersFollow)
{
  RegionFunctions functions;
  const std::vector<BreakPoint> points =
      plan_breaks({parse_break("--break", "rank=0:MPI_Send"), parse_break("--break", "rank=1:solve_")}, 2, functions);
  EXPECT_EQ(points[0].number, UMW_MPI_Send);
  EXPECT_EQ(points[1].number, UMW_MPI_FUNCTIONS);
  EXPECT_TRUE(has_mpi(points));
  EXPECT_FALSE(has_mpi({points[1]}));
}

TEST(BreakPoints, RanksThatAreNoneAreRefused)
{
  RegionFunctions functions;
  EXPECT_THROW(plan_breaks({parse_break("--break", "rank=2:MPI_Send")}, 2, functions), UsageError);
}

} // namespace
} // namespace umwelt::plan
