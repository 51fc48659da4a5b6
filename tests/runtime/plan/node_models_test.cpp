// SPDX-License-Identifier: LGPL-2.1-or-later
// What --nodes, --model-at and --model-region say.
#include "runtime/plan/node_models.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/usage_error.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{
namespace
{

using sim::millisecond;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& work)
{
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

NodeModels plan_of(std::initializer_list<const char*> nodes, std::uint32_t count,
                   std::initializer_list<const char*> timed = {})
{
  RunOptions options;
  for (const char* text : nodes)
    options.node_models.push_back(parse_node_model("--nodes", text));
  for (const char* text : timed)
    options.timed_models.push_back(parse_timed_model("--model-at", text));
  RegionFunctions functions;
  return plan_node_models(options, count, functions);
}

TEST(NodeModels, WithoutOptionsThereIsOne)
{
  const NodeModels models = plan_of({}, 3);
  EXPECT_FALSE(models.mixed());
  EXPECT_FALSE(models.change());
  EXPECT_THAT(models.of_node, ElementsAre(0, 0, 0));
}

TEST(NodeModels, NodesThatAreNamedAndTheRest)
{
  const NodeModels models = plan_of({"rest=loggp:L=2us,o=1ns", "0-1,4=zero", "2=bxi"}, 6);
  ASSERT_EQ(models.kinds.size(), 3U);
  EXPECT_TRUE(models.kinds[0].own_nic);
  EXPECT_EQ(models.kinds[1].name, "loggp");
  EXPECT_EQ(models.kinds[1].parameters, "L=2us,o=1ns");
  EXPECT_EQ(models.kinds[2].name, "zero");
  EXPECT_THAT(models.of_node, ElementsAre(2, 2, 0, 1, 2, 1));
}

TEST(NodeModels, TheNameAloneOfTheRunsModelIsThatWithItsNic)
{
  EXPECT_FALSE(plan_of({"0=bxi"}, 2).mixed());
  EXPECT_TRUE(plan_of({"0=bxi:seed=1"}, 2).mixed());
  EXPECT_EQ(plan_of({"0=bxi:seed=1", "1=bxi:seed=1"}, 2).kinds.size(), 2U);
}

TEST(NodeModels, ChangesAreSortedByTime)
{
  const NodeModels models = plan_of({}, 4, {"5ms:bxi", "1ms:1-2=loggp:L=3us"});
  ASSERT_EQ(models.changes.size(), 2U);
  EXPECT_EQ(models.changes[0].at, 1 * millisecond);
  EXPECT_THAT(models.changes[0].nodes, ElementsAre(1, 2));
  EXPECT_EQ(models.kinds[models.changes[0].kind].parameters, "L=3us");
  EXPECT_THAT(models.changes[1].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(models.change());
}

TEST(NodeModels, MistakesAreNamed)
{
  EXPECT_THAT(error_of([] { plan_of({"0-9=zero"}, 4); }),
              AllOf(HasSubstr("--nodes 0-9=zero: expected nodes from 0 to 3"), HasSubstr("got 4")));
  EXPECT_THAT(error_of([] { plan_of({"0-1=zero", "1=loggp"}, 4); }), HasSubstr("node 1 also by --nodes 0-1=zero"));
  EXPECT_THAT(error_of([] { plan_of({"rest=zero", "rest=loggp"}, 4); }), HasSubstr("also --nodes rest=zero"));
  EXPECT_THAT(error_of([] { parse_node_model("--nodes", "0=logp"); }), HasSubstr("The nearest known one is 'loggp'"));
  EXPECT_THAT(error_of([] { parse_node_model("--nodes", "8"); }), HasSubstr("expected NODES=MODEL, got '8'"));
  EXPECT_THAT(error_of([] { parse_node_model("--nodes", "3-1=bxi"); }), HasSubstr("got '3-1'"));
  EXPECT_THAT(error_of([] { parse_node_model("--nodes", "1,=bxi"); }), HasSubstr("a node behind the comma"));
  EXPECT_THAT(error_of([] { parse_node_model("--nodes", "1=bxi:"); }), HasSubstr("KEY=VALUE behind the colon"));
  EXPECT_THAT(error_of([] { parse_timed_model("--model-at", "bxi"); }),
              HasSubstr("expected TIME: and what is to be from then on"));
  EXPECT_THAT(error_of([] { parse_timed_model("--model-at", "5:bxi"); }), HasSubstr("--model-at"));
  EXPECT_THAT(error_of([] { parse_timed_model("--model-at", "5ms:rest=bxi"); }), HasSubstr("'rest'"));
}

TEST(RegionModel, IsALevelOrBehindOrBetweenFunctions)
{
  EXPECT_EQ(parse_region_model("--model-region", "-3=zero").where.level, -3);
  const RegionModel after = parse_region_model("--model-region", "MPI_Barrier#12=0-3=loggp:L=1us");
  EXPECT_EQ(after.where.kind, Where::Kind::after);
  EXPECT_EQ(after.where.function, "MPI_Barrier");
  EXPECT_EQ(after.where.count, 12U);
  EXPECT_EQ(after.choice.name, "loggp");
  ASSERT_EQ(after.choice.nodes.ranges.size(), 1U);
  const RegionModel between = parse_region_model("--model-region", "MPI_Init..MPI_Barrier=zero");
  EXPECT_EQ(between.where.kind, Where::Kind::between);
  EXPECT_EQ(between.where.until, "MPI_Barrier");
}

TEST(RegionModel, MistakesAreNamed)
{
  EXPECT_THAT(error_of([] { parse_region_model("--model-region", "zero"); }), HasSubstr("N, FUNCTION#N or FROM..TO"));
  EXPECT_THAT(error_of([] { parse_region_model("--model-region", "MPI_Barier#1=zero"); }),
              HasSubstr("The nearest known one is 'MPI_Barrier'"));
  EXPECT_THAT(error_of([] { parse_region_model("--model-region", "MPI_Barrier#0=zero"); }),
              HasSubstr("a number of calls"));
  EXPECT_THAT(error_of([] { parse_region_model("--model-region", "so lve..MPI_Barrier=zero"); }),
              HasSubstr("a function of MPI or of the program, by its symbol, got 'so lve'"));
}

} // namespace
} // namespace umwelt::plan
