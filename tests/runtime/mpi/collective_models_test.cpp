// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/mpi/collective_models.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/usage_error.h"

namespace umwelt::mpi
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;

constexpr PairTimes pair{1e-6, 1e10};

double seconds(const std::string& text, umw_collective_function function, unsigned members, double bytes)
{
  CollectiveModels models;
  models.add("--collectives", text);
  return models.of(function).seconds(function, members, bytes, pair);
}

std::string refusal(const std::string& text)
{
  try {
    CollectiveModels().add("--collectives", text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CollectiveModels, WhatIsSaidLaterCounts)
{
  CollectiveModels models;
  EXPECT_EQ(models.modelled(), 0U);
  models.add("--collectives", "zero");
  EXPECT_EQ(models.modelled(), (std::uint64_t{1} << UMW_COLLECTIVE_FUNCTIONS) - 1);
  models.add("--collectives", "real, allreduce = tree,MPI_Bcast=zero");
  EXPECT_EQ(models.modelled(), 1U << UMW_COLLECTIVE_Allreduce | 1U << UMW_COLLECTIVE_Bcast);
  EXPECT_TRUE(models.want_pair_times());
  models.add("--collectives", "allreduce=zero");
  EXPECT_FALSE(models.want_pair_times());
  models.add("--collectives", "allreduce=real,bcast=real");
  EXPECT_EQ(models.modelled(), 0U);
}

TEST(CollectiveModels, ZeroCostsNothing)
{
  for (unsigned function = 0; function < UMW_COLLECTIVE_FUNCTIONS; ++function)
    EXPECT_EQ(seconds("zero", static_cast<umw_collective_function>(function), 1000, 1e9), 0);
}

TEST(CollectiveModels, TreeIsLogarithmicInLatency)
{
  EXPECT_DOUBLE_EQ(seconds("tree", UMW_COLLECTIVE_Barrier, 64, 0), 6e-6);
  EXPECT_DOUBLE_EQ(seconds("tree", UMW_COLLECTIVE_Barrier, 65, 0), 7e-6);
  EXPECT_DOUBLE_EQ(seconds("tree", UMW_COLLECTIVE_Allreduce, 8, 1e4), 3 * (1e-6 + 1e-6));
  EXPECT_DOUBLE_EQ(seconds("tree", UMW_COLLECTIVE_Alltoall, 8, 1e4), 3e-6 + 7e-6);
  EXPECT_DOUBLE_EQ(seconds("tree", UMW_COLLECTIVE_Gather, 8, 1e4), 3e-6 + 7e-6);
  EXPECT_DOUBLE_EQ(seconds("tree", UMW_COLLECTIVE_Reduce_scatter, 8, 1e4), 3e-6 + 0.875e-6);
  EXPECT_EQ(seconds("tree", UMW_COLLECTIVE_Bcast, 1, 1e4), 0);
}

TEST(CollectiveModels, ExpressionsHaveMembersBytesLatencyAndBandwidth)
{
  EXPECT_DOUBLE_EQ(seconds("2us*log2(P) + bytes*0.1ns", UMW_COLLECTIVE_Bcast, 16, 1e4), 8e-6 + 1e-6);
  EXPECT_DOUBLE_EQ(seconds("bcast=latency*(P-1) + bytes/bandwidth", UMW_COLLECTIVE_Bcast, 3, 1e4), 2e-6 + 1e-6);
  EXPECT_DOUBLE_EQ(seconds("reduce=max(1us, 2us),gather=3us", UMW_COLLECTIVE_Reduce, 3, 0), 2e-6);
  EXPECT_DOUBLE_EQ(seconds("P == 2 ? 1us : 5us", UMW_COLLECTIVE_Scan, 3, 0), 5e-6);
  CollectiveModels models;
  models.add("--collectives", "bcast=bytes/bandwidth");
  EXPECT_TRUE(models.want_pair_times());
  models.add("--collectives", "bcast=bytes*1ns");
  EXPECT_FALSE(models.want_pair_times());
}

TEST(CollectiveModels, WhatCannotBeIsRefused)
{
  EXPECT_THAT(refusal("fast"),
              AllOf(HasSubstr("--collectives: expected a model, got 'fast'"), HasSubstr("real, zero")));
  EXPECT_THAT(refusal("tre"), HasSubstr("Did you mean 'tree'?"));
  EXPECT_THAT(refusal("allredcue=tree"),
              AllOf(HasSubstr("expected a collective of MPI before '='"), HasSubstr("Did you mean 'allreduce'?")));
  EXPECT_THAT(refusal("bcast="), HasSubstr("--collectives bcast: expected a model, got nothing"));
  EXPECT_THAT(refusal("bcast=1us*(P"), HasSubstr("--collectives bcast: expected an expression"));
  EXPECT_THAT(refusal("bcast=1us*Q"), HasSubstr("expected a variable"));
  EXPECT_THAT(refusal("bcast=2*P"), HasSubstr("expected a time"));
  EXPECT_THAT(refusal("bcast=2us + bytes/10e9"), HasSubstr("expected a time"));
  EXPECT_THAT(refusal("bcast=latency*bandwidth"), HasSubstr("expected a time"));
  EXPECT_THAT(refusal("bcast=10us - 4us*P"), HasSubstr("a time of at least 0 for every P and bytes"));
  EXPECT_THAT(refusal("zero,"), HasSubstr("expected a model, got nothing"));
}

TEST(CollectiveModels, BytesAreThoseOfAPieceWhereThereAreSeveral)
{
  EXPECT_EQ(bytes_of_model(UMW_COLLECTIVE_Bcast, 4, 100, 100), 100);
  EXPECT_EQ(bytes_of_model(UMW_COLLECTIVE_Allreduce, 4, 400, 100), 100);
  EXPECT_EQ(bytes_of_model(UMW_COLLECTIVE_Gatherv, 4, 400, 300), 100);
  EXPECT_EQ(bytes_of_model(UMW_COLLECTIVE_Scatter, 4, 400, 400), 100);
  EXPECT_EQ(bytes_of_model(UMW_COLLECTIVE_Alltoallv, 4, 1000, 400), 100);
  EXPECT_EQ(bytes_of_model(UMW_COLLECTIVE_Barrier, 4, 0, 0), 0);
}

} // namespace
} // namespace umwelt::mpi
