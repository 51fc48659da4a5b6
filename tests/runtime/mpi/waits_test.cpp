// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/waits.h"

#include <cstring>

#include <gtest/gtest.h>

namespace umwelt::mpi
{
namespace
{

Wait receive(std::uint32_t rank, std::int32_t from)
{
  Wait wait{rank, {}, {}};
  wait.call.function = UMW_MPI_Recv;
  wait.call.peer = wait.call.peer_of = from;
  wait.call.tag = 5;
  wait.call.receives = 1;
  std::strcpy(&wait.call.communicator[0], "MPI_COMM_WORLD");
  return wait;
}

Wait barrier(std::uint32_t rank, std::vector<std::int32_t> members, std::uint32_t turn)
{
  Wait wait{rank, {}, std::move(members)};
  wait.call.function = UMW_MPI_Barrier;
  wait.call.peer = UMW_MPI_ALL;
  wait.call.tag = UMW_MPI_NO_TAG;
  wait.call.turn = turn;
  return wait;
}

TEST(MpiWaits, AreDescribed)
{
  EXPECT_EQ(describe(receive(0, 1).call), "MPI_Recv from 1, tag 5, on MPI_COMM_WORLD");
  Wait any = receive(0, UMW_MPI_ANY);
  any.call.tag = UMW_MPI_ANY_TAG;
  EXPECT_EQ(describe(any.call), "MPI_Recv from any rank, any tag, on MPI_COMM_WORLD");
  Wait other = receive(0, 6);
  other.call.peer_of = 2;
  other.call.function = UMW_MPI_Wait;
  other.call.began_by = UMW_MPI_Isend;
  other.call.receives = 0;
  EXPECT_EQ(describe(other.call), "MPI_Wait for MPI_Isend to 6 (rank 2 of the communicator), tag 5, on MPI_COMM_WORLD");
  EXPECT_EQ(describe(barrier(0, {0, 1}, 1).call), "MPI_Barrier");
}

TEST(MpiWaits, OfTwoCloseACycle)
{
  EXPECT_EQ(describe_cycle({receive(0, 1), receive(1, 0)}), "cycle: 0 waits in MPI_Recv from 1, 1 in MPI_Recv from 0");
}

TEST(MpiWaits, OfThreeCloseACycleThatOthersOnlyLeadTo)
{
  EXPECT_EQ(describe_cycle({receive(0, 1), receive(1, 2), receive(2, 3), receive(3, 1)}),
            "cycle: 1 waits in MPI_Recv from 2, 2 in MPI_Recv from 3, 3 in MPI_Recv from 1");
}

TEST(MpiWaits, ForWhoHasEndedOrForAnybodyCloseNone)
{
  EXPECT_EQ(describe_cycle({receive(0, 1)}), "");
  EXPECT_EQ(describe_cycle({receive(0, 1), receive(1, UMW_MPI_ANY)}), "");
}

TEST(MpiWaits, InABarrierAreForThoseThatHaveNotCome)
{
  EXPECT_EQ(describe_cycle({barrier(0, {0, 1, 2}, 4), barrier(1, {0, 1, 2}, 4), receive(2, 1)}),
            "cycle: 1 waits in MPI_Barrier for 2, 2 in MPI_Recv from 1");
  EXPECT_EQ(describe_cycle({barrier(0, {0, 1}, 4), barrier(1, {0, 1}, 4)}), "");
}

TEST(MpiWaits, OnCommunicatorsInDifferentOrderCloseACycle)
{
  Wait other = barrier(1, {0, 1}, 1);
  std::strcpy(&other.call.communicator[0], "another");
  EXPECT_EQ(describe_cycle({barrier(0, {0, 1}, 1), other}),
            "cycle: 0 waits in MPI_Barrier for 1, 1 in MPI_Barrier for 0");
}

TEST(MpiWaits, OfWhoIsBehindAreNotWaitedForTwice)
{
  EXPECT_EQ(describe_cycle({barrier(0, {0, 1}, 3), barrier(1, {0, 1}, 4)}), "");
}

TEST(MpiWaits, AreForTheseRanks)
{
  const std::vector<Wait> waits{barrier(0, {0, 1, 2, 3}, 4), barrier(1, {0, 1, 2, 3}, 4), receive(2, 1)};
  EXPECT_EQ(waited_for(waits[0], waits), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(waited_for(waits[2], waits), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(waited_for(receive(5, UMW_MPI_ANY), waits), std::vector<std::uint32_t>{});
  EXPECT_EQ(cycle(waits), (std::vector<std::uint32_t>{1, 2}));
}

} // namespace
} // namespace umwelt::mpi
