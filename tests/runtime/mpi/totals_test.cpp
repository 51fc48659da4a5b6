// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/totals.h"

#include <gtest/gtest.h>

#include "preload/abi/mpi_calls.h"
#include "runtime/mpi/functions.h"

namespace umwelt::mpi
{
namespace
{

Totals example()
{
  Totals totals;
  totals.sites[{UMW_MPI_Send, "main+0x12 (a program)"}] = {3, 24, 1000, 400};
  totals.sizes[{UMW_MPI_Send, 4}] = {3, 24, 0, 0};
  totals.peers[UMW_MPI_PEER_ELSEWHERE] = {1, 8, 0, 0};
  totals.peers[7] = {2, 16, 0, 0};
  totals.communicators[{"a name with spaces", UMW_MPI_Barrier}] = {5, 0, 600, 500};
  return totals;
}

TEST(MpiTotals, GoThroughText)
{
  Totals there;
  add_totals(there, totals_text(example()));
  EXPECT_EQ(totals_text(there), totals_text(example()));
  ASSERT_EQ(there.sites.size(), 1U);
  EXPECT_EQ(there.sites.begin()->first.second, "main+0x12 (a program)");
  EXPECT_EQ(there.sites.begin()->second.waited, 400);
  EXPECT_EQ(there.peers.at(UMW_MPI_PEER_ELSEWHERE).bytes, 8U);
}

TEST(MpiTotals, AreAdded)
{
  Totals sum;
  add_totals(sum, totals_text(example()));
  add_totals(sum, totals_text(example()));
  EXPECT_EQ(sum.peers.at(7).calls, 4U);
  EXPECT_EQ(sum.communicators.begin()->second.time, 1200);
}

TEST(MpiTotals, AreAddedAsTheyWereToldHoweverOften)
{
  ToldTotals told;
  for (int i = 0; i < 10'000; ++i)
    told.add(totals_text(example()));
  const Totals sum = told.totals();
  EXPECT_EQ(sum.peers.at(7).calls, 20'000U);
  EXPECT_EQ(sum.communicators.begin()->second.time, 6'000'000);
}

TEST(MpiTotals, SayNothingByOtherText)
{
  Totals totals;
  add_totals(totals, "nonsense\n1 2 3\n1 60000 1 1 1 1 place\n9 1 1 1 1 1 place\n");
  EXPECT_TRUE(totals_text(totals).empty());
  ToldTotals told;
  told.add("nonsense\n1 2 3\n\n1 60000 1 1 1 1 place\n9 1 1 1 1 1 place\nno end");
  EXPECT_TRUE(totals_text(told.totals()).empty());
}

TEST(MpiFunctions, HaveNamesAndClasses)
{
  EXPECT_EQ(function_name(UMW_MPI_Recv), "MPI_Recv");
  EXPECT_EQ(function_class(UMW_MPI_Recv), UMW_MPI_point_to_point);
  EXPECT_EQ(function_class(UMW_MPI_Neighbor_alltoallw), UMW_MPI_collective);
  EXPECT_EQ(function_class(UMW_MPI_Wtime), UMW_MPI_clock);
}

} // namespace
} // namespace umwelt::mpi
