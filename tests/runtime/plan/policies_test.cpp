// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/policies.h"

#include <gtest/gtest.h>

#include "tests/runtime/cli/support.h"

namespace umwelt::plan
{
namespace
{
namespace test = cli::test;

RunOptions mapped(std::string_view text)
{
  RunOptions run;
  apply_map_by("--map-by", text, run);
  return run;
}

TEST(MapByPolicy, CoreAndSlotFillNodes)
{
  EXPECT_EQ(mapped("slot").map_by, MapBy::slot);
  EXPECT_EQ(mapped("core").map_by, MapBy::slot);
}

TEST(MapByPolicy, NodeIsRoundRobin)
{
  EXPECT_EQ(mapped("node").map_by, MapBy::node);
}
TEST(MapByPolicy, LetterCaseDoesNotMatter)
{
  EXPECT_EQ(mapped("NODE").map_by, MapBy::node);
}
TEST(MapByPolicy, PprSetsRanksPerNode)
{
  EXPECT_EQ(mapped("ppr:4:node").ranks_per_node, 4u);
}
TEST(MapByPolicy, PprPerSocketIsPerNode)
{
  EXPECT_EQ(mapped("ppr:2:socket").ranks_per_node, 2u);
}
TEST(MapByPolicy, PeSetsCoresPerRank)
{
  EXPECT_EQ(mapped("slot:PE=4").cores_per_rank, 4u);
}
TEST(MapByPolicy, PeBehindPpr)
{
  EXPECT_EQ(mapped("ppr:2:node:pe=3").cores_per_rank, 3u);
}
TEST(MapByPolicy, TakesSeveralModifiers)
{
  const RunOptions run = mapped("core:PE=2,OVERSUBSCRIBE");
  EXPECT_EQ(run.cores_per_rank, 2u);
  EXPECT_TRUE(run.oversubscribe);
}

TEST(MapByPolicy, AModifierAloneKeepsThePolicy)
{
  EXPECT_EQ(mapped(":PE=2").map_by, MapBy::automatic);
}

TEST(MapByPolicy, AnUnknownOneNamesTheNearest)
{
  EXPECT_EQ(test::error_of([] { mapped("slto"); }),
            "--map-by: expected slot, core, node or ppr:N:node, got 'slto'\n  The nearest known one is 'slot'.");
}

TEST(MapByPolicy, AnEmptyOneIsAnError)
{
  EXPECT_THROW(mapped(""), UsageError);
}

TEST(MapByPolicy, PprPerCoreIsRefused)
{
  EXPECT_EQ(test::error_of([] { mapped("ppr:1:core"); }),
            "--map-by: expected ppr:N:node, got 'ppr:1:core'\n"
            "  Only ranks per node can be set; :PE=N sets cores per rank.");
}

TEST(MapByPolicy, AnUnknownModifierNamesTheNearest)
{
  EXPECT_EQ(test::error_of([] { mapped("slot:oversubscrib"); }),
            "--map-by: expected PE=N, OVERSUBSCRIBE, NOOVERSUBSCRIBE or SPAN after the policy, got 'oversubscrib'\n"
            "  The nearest known one is 'oversubscribe'.");
}

TEST(RankByPolicy, KnowsNodeAndWhatLiesWithin)
{
  EXPECT_EQ(parse_rank_by("--rank-by", "node"), RankBy::node);
  EXPECT_EQ(parse_rank_by("--rank-by", "core"), RankBy::slot);
}

TEST(RankByPolicy, AnUnknownOneIsAnError)
{
  EXPECT_THROW(parse_rank_by("--rank-by", "nod"), UsageError);
}

TEST(BindToPolicy, TakesMpirunsPoliciesWithQualifiers)
{
  EXPECT_FALSE(parse_bind_to("--bind-to", "none"));
  EXPECT_FALSE(parse_bind_to("--bind-to", "socket"));
  EXPECT_TRUE(parse_bind_to("--bind-to", "core:overload-allowed"));
}

TEST(BindToPolicy, AnUnknownOneIsAnError)
{
  EXPECT_EQ(test::error_of([] { parse_bind_to("--bind-to", "cores"); }),
            "--bind-to: expected none, core, socket or another policy of mpirun, got 'cores'\n"
            "  The nearest known one is 'core'.");
}

TEST(CpuPolicy, IsMeasuredOrNone)
{
  EXPECT_EQ(parse_cpu("--cpu", "measured").kind, engine::CpuPolicy::Kind::measured);
  EXPECT_EQ(parse_cpu("--cpu", "none").kind, engine::CpuPolicy::Kind::none);
}

TEST(CpuPolicy, FixedIsInNanoseconds)
{
  const engine::CpuPolicy policy = parse_cpu("--cpu", "fixed=250");
  EXPECT_EQ(policy.kind, engine::CpuPolicy::Kind::fixed);
  EXPECT_EQ(policy.fixed, 250 * sim::nanosecond);
}

TEST(CpuPolicy, FixedTakesAUnit)
{
  EXPECT_EQ(parse_cpu("--cpu", "fixed=2us").fixed, 2 * sim::microsecond);
}

TEST(CpuPolicy, ScaleTakesAFactor)
{
  const engine::CpuPolicy policy = parse_cpu("--cpu", "scale=0.5");
  EXPECT_EQ(policy.kind, engine::CpuPolicy::Kind::scaled);
  EXPECT_DOUBLE_EQ(policy.scale, 0.5);
}

TEST(CpuPolicy, AnUnknownOneIsAnError)
{
  EXPECT_EQ(test::error_of([] { parse_cpu("--cpu", "fast"); }),
            "--cpu: expected measured, none, fixed=NS or scale=F, got 'fast'\n"
            "  For example: --cpu none (no computation time), --cpu scale=0.5 (a machine twice as fast)");
}

TEST(OutputFilename, KeepsTheJobDirectoryAndTheCopy)
{
  const OutputFiles files = parse_output_files("--output-filename", "out");
  EXPECT_EQ(files.directory, "out");
  EXPECT_TRUE(files.job_directory);
  EXPECT_TRUE(files.copy);
}

TEST(OutputFilename, TakesMpirunsModifiers)
{
  const OutputFiles files = parse_output_files("--output-filename", "out:nojobid,nocopy");
  EXPECT_EQ(files.directory, "out");
  EXPECT_FALSE(files.job_directory);
  EXPECT_FALSE(files.copy);
}

TEST(OutputFilename, AnUnknownModifierIsAnError)
{
  EXPECT_EQ(test::error_of([] { parse_output_files("--output-filename", "out:nocpy"); }),
            "--output-filename: expected nojobid or nocopy after the directory, got 'nocpy'\n"
            "  For example: --output-filename out:nojobid,nocopy");
}

TEST(RankList, IsSortedAndEachOnce)
{
  EXPECT_EQ(parse_rank_list("--trace-ranks", "7,0-2,1", 10), (std::vector<std::uint32_t>{0, 1, 2, 7}));
  EXPECT_EQ(parse_rank_list("--trace-ranks", "3", 10), (std::vector<std::uint32_t>{3}));
}
TEST(RankList, RefusesWhatIsNone)
{
  for (const char* text : {"", ",", "1,", "a", "1-", "-1", "3-1", "1-2-3", "10", "0-10", "1 2"})
    EXPECT_NE(test::error_of([text] { parse_rank_list("--trace-ranks", text, 10); }), "") << text;
}

} // namespace
} // namespace umwelt::plan
