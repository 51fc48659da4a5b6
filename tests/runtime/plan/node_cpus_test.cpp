// SPDX-License-Identifier: LGPL-2.1-or-later
// What --cpu-at and --cpu-region say.
#include "runtime/plan/node_cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/usage_error.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{
namespace
{

using Kind = engine::CpuPolicy::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NodeCpusTest : public testing::Test
{
protected:
  NodeCpus plan(std::uint32_t nodes) { return plan_node_cpus(options, nodes, functions); }
  void at(const char* text) { options.timed_cpus.push_back(parse_timed_cpu("--cpu-at", text)); }
  void region(const char* text) { options.region_cpus.push_back(parse_region_cpu("--cpu-region", text)); }

  RunOptions options;
  RegionFunctions functions;
};

TEST_F(NodeCpusTest, WithoutOptionsNothingChanges)
{
  const NodeCpus cpus = plan(2);
  EXPECT_FALSE(cpus.change());
  EXPECT_TRUE(cpus.measures());
  EXPECT_THAT(cpus.of_node, ElementsAre(0, 0));
}

TEST_F(NodeCpusTest, AnEqualsSignOfAPolicyIsNoneOfNodes)
{
  at("5ms:fixed=100");
  at("1ms:0,2-3=scale=0.5");
  const NodeCpus cpus = plan(4);
  ASSERT_EQ(cpus.changes.size(), 2U);
  EXPECT_THAT(cpus.changes[0].nodes, ElementsAre(0, 2, 3));
  EXPECT_EQ(cpus.kinds.at(cpus.changes[0].kind).scale, 0.5);
  EXPECT_THAT(cpus.changes[1].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(cpus.kinds.at(cpus.changes[1].kind).fixed, 100 * sim::nanosecond);
}

TEST_F(NodeCpusTest, TheSamePolicyIsOneKind)
{
  region("1=none");
  region("solve..finish=none");
  region("2=measured");
  const NodeCpus cpus = plan(1);
  EXPECT_EQ(cpus.kinds.size(), 2U);
  EXPECT_EQ(cpus.regions.at(0).kind, cpus.regions.at(1).kind);
  EXPECT_EQ(cpus.regions.at(2).kind, 0);
  EXPECT_THAT(functions.others(), ElementsAre("solve", "finish"));
}

TEST_F(NodeCpusTest, WhetherAnythingIsMeasured)
{
  options.cpu.kind = Kind::none;
  EXPECT_FALSE(measures(options));
  region("1=scale=2");
  EXPECT_TRUE(measures(options));
  EXPECT_FALSE(always_measures(options));
  EXPECT_TRUE(plan(1).measures());
  options.cpu.kind = Kind::measured;
  EXPECT_TRUE(always_measures(options));
  at("1ms:none");
  EXPECT_FALSE(always_measures(options));
}

TEST_F(NodeCpusTest, MistakesAreNamed)
{
  const auto error = [](auto parse, const char* option, const char* text) -> std::string {
    try {
      parse(option, text);
    } catch (const UsageError& wrong) {
      return wrong.what();
    }
    return {};
  };
  EXPECT_THAT(error(parse_timed_cpu, "--cpu-at", "none"), HasSubstr("For example: --cpu-at 5ms:none"));
  EXPECT_THAT(error(parse_timed_cpu, "--cpu-at", "5ms:nothing"), HasSubstr("measured, none, fixed=NS or scale=F"));
  EXPECT_THAT(error(parse_region_cpu, "--cpu-region", "none"), HasSubstr("--cpu-region MPI_Barrier#3=none"));
  at("1ms:5=none");
  EXPECT_THAT(error([this](auto...) { return plan(4); }, "", ""), HasSubstr("nodes from 0 to 3"));
}

} // namespace
} // namespace umwelt::plan
