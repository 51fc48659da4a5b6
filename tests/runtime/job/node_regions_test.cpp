// SPDX-License-Identifier: LGPL-2.1-or-later
// Which model a node has while its ranks enter and leave regions (--model-region).
#include "runtime/job/node_regions.h"

#include <array>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "preload/abi/mpi_calls.h"
#include "runtime/plan/options.h"

namespace umwelt::job
{
namespace
{

using testing::ElementsAre;
using testing::IsEmpty;

class Regions : public testing::Test
{
protected:
  void have(std::initializer_list<const char*> regions)
  {
    plan::RunOptions options;
    for (const char* text : regions)
      options.region_models.push_back(plan::parse_region_model("--model-region", text));
    models = plan::plan_node_models(options, 2, functions);
    assignment.emplace(models.of_node);
    all.emplace(models, *assignment);
  }
  std::uint32_t function(std::size_t region) const { return models.regions.at(region).function; }
  void pcontrol(std::size_t rank, int level)
  {
    all->came_back(rank, rank % 2, function(0), level, 0); // odd ranks are on node 1
  }
  int model(net::NodeIndex node) { return assignment->at(node, 0); }

  plan::RegionFunctions functions;
  plan::NodeModels models;
  std::optional<net::Assignment> assignment;
  std::optional<NodeRegions> all;
};

TEST_F(Regions, ANodeLeavesWhenAllItsRanksHaveLeft)
{
  have({"1=zero"});
  pcontrol(0, 1);
  pcontrol(2, 1);
  EXPECT_EQ(model(0), 1);
  EXPECT_EQ(model(1), 0);
  pcontrol(0, 7);
  EXPECT_EQ(model(0), 1);
  pcontrol(2, 0);
  EXPECT_EQ(model(0), 0);
}

TEST_F(Regions, TheLastOneThatWasEnteredCounts)
{
  have({"1=zero", "2=loggp"});
  pcontrol(0, 1);
  pcontrol(2, 2);
  EXPECT_EQ(model(0), 2);
  pcontrol(0, 1); // again
  EXPECT_EQ(model(0), 1);
  all->ended(0, 0, 0);
  EXPECT_EQ(model(0), 2);
}

TEST_F(Regions, CallsAreCountedForEachRank)
{
  have({"MPI_Barrier#2=zero"});
  for (const std::size_t rank : {0, 2})
    all->came_back(rank, 0, function(0), 0, 0);
  EXPECT_EQ(model(0), 0);
  all->came_back(0, 0, function(0), 0, 0);
  EXPECT_EQ(model(0), 1);
  all->came_back(0, 0, function(0), 0, 0);
  EXPECT_EQ(model(0), 1); // it has no end
}

TEST_F(Regions, OnlyNodesThatAreNamed)
{
  have({"1=0=zero"});
  pcontrol(0, 1);
  pcontrol(1, 1);
  EXPECT_EQ(model(0), 1);
  EXPECT_EQ(model(1), 0);
}

TEST_F(Regions, WhatNobodyEnteredIsTold)
{
  have({"1=zero", "MPI_Init..MPI_Finalize=loggp"});
  pcontrol(0, 1);
  EXPECT_THAT(all->not_reached(), ElementsAre("--model-region MPI_Init..MPI_Finalize=loggp"));
  std::array<std::uint64_t, UMW_MPI_FUNCTIONS / 64 + 1> watched{};
  all->watch(watched);
  EXPECT_TRUE(watched.at(models.regions[1].until / 64) >> (models.regions[1].until % 64) & 1);
  all->came_back(1, 1, function(1), 0, 0);
  EXPECT_EQ(model(1), 2);
  all->calls(1, 1, models.regions[1].until, 0);
  EXPECT_EQ(model(1), 0);
  EXPECT_THAT(all->not_reached(), IsEmpty());
}

TEST_F(Regions, FunctionsOfTheProgramAreNoneOfMpi)
{
  have({"solve..MPI_Finalize=zero", "solve#2=loggp"});
  EXPECT_EQ(function(0), static_cast<std::uint32_t>(UMW_MPI_FUNCTIONS));
  EXPECT_EQ(function(1), function(0));
  EXPECT_THAT(functions.others(), ElementsAre("solve"));
  std::array<std::uint64_t, UMW_MPI_FUNCTIONS / 64 + 1> watched{};
  all->watch(watched);
  all->came_back(0, 0, function(0), 0, 0);
  EXPECT_EQ(model(0), 1);
  all->came_back(0, 0, function(0), 0, 0);
  EXPECT_EQ(model(0), 2);
}

} // namespace
} // namespace umwelt::job
