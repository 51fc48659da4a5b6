// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/cell_plan.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cli/support.h"

namespace umwelt::plan
{
namespace
{
namespace test = cli::test;

using test::error_of;
using testing::ElementsAre;
using testing::IsEmpty;

using Ranks = std::vector<unsigned>;

const std::vector<CellProgram> ordinary{{"app", ""}};
const std::vector<CellProgram> mixed{{"app", ""}, {"old", "is not position-independent (ET_EXEC)"}};

Ranks programs_of(unsigned count, unsigned program = 0)
{
  return Ranks(count, program);
}

constexpr unsigned room = 15; // in a process

// Each on a node of its own.
CellPlan plan_cells(const CellWishes& wishes, unsigned jobs, const Ranks& programs,
                    const std::vector<CellProgram>& kinds)
{
  std::vector<CellRank> ranks;
  for (const unsigned program : programs)
    ranks.push_back({program, static_cast<std::uint32_t>(ranks.size())});
  return plan_cells(wishes, jobs, ranks, kinds, room);
}

// Of one program, on these nodes.
CellPlan plan_nodes(const CellWishes& wishes, unsigned jobs, const std::vector<std::uint32_t>& nodes)
{
  std::vector<CellRank> ranks;
  for (const std::uint32_t node : nodes)
    ranks.push_back({0, node});
  return plan_cells(wishes, jobs, ranks, ordinary, room);
}

std::vector<std::size_t> sizes(const CellPlan& plan)
{
  std::vector<std::size_t> result;
  for (const Ranks& cell : plan.cells)
    result.push_back(cell.size());
  return result;
}

std::string plan_error(const CellWishes& wishes, const Ranks& ranks, const std::vector<CellProgram>& programs)
{
  return error_of([&] { plan_cells(wishes, 1, ranks, programs); });
}

TEST(CellPlan, AsManyRanksAsFitStayInTheRuntimesProcess)
{
  EXPECT_THAT(plan_cells({}, 8, programs_of(15), ordinary).cells, IsEmpty());
}

TEST(CellPlan, MoreAreSpreadInBalancedBlocks)
{
  const CellPlan plan = plan_cells({}, 1, programs_of(32), ordinary);
  EXPECT_THAT(sizes(plan), ElementsAre(10, 11, 11));
  EXPECT_EQ(plan.cells[1].front(), 10u);
  EXPECT_EQ(plan.cells[1].back(), 20u);
  EXPECT_THAT(plan.notes, IsEmpty());
}

TEST(CellPlan, EveryJobGetsACellToCompute)
{
  EXPECT_THAT(sizes(plan_cells({}, 4, programs_of(16), ordinary)), ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(plan_cells({}, 64, programs_of(16), ordinary).cells, testing::SizeIs(16));
}

TEST(CellPlan, AskingForJobsMakesCells)
{
  EXPECT_THAT(sizes(plan_cells({{}, {}, true}, 2, programs_of(8), ordinary)), ElementsAre(4, 4));
  EXPECT_THAT(plan_cells({{}, {}, true}, 2, programs_of(1), ordinary).cells, IsEmpty());
  EXPECT_THAT(plan_cells({0, {}, true}, 2, programs_of(8), ordinary).cells, IsEmpty());
}

TEST(CellPlan, RanksOfANodeStayTogether)
{
  std::vector<std::uint32_t> by_slot;
  std::vector<std::uint32_t> by_node;
  for (std::uint32_t rank = 0; rank < 32; ++rank) {
    by_slot.push_back(rank / 8);
    by_node.push_back(rank % 4);
  }
  EXPECT_THAT(sizes(plan_nodes({}, 1, by_slot)), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(plan_nodes({}, 8, by_node).cells,
              testing::Each(testing::ResultOf([](const Ranks& cell) { return cell[1] - cell[0]; }, 4U)));
  EXPECT_THAT(sizes(plan_nodes({2, {}}, 1, {0, 0, 0, 1, 1, 1, 1})), ElementsAre(3, 4));
  EXPECT_THAT(sizes(plan_nodes({}, 1, std::vector<std::uint32_t>(20, 0))), ElementsAre(10, 10));
}

TEST(CellPlan, OneNodeIsSpreadIfThatIsAskedFor)
{
  const std::vector<std::uint32_t> one_node(8, 0);
  EXPECT_THAT(sizes(plan_nodes({{}, {}, true}, 4, one_node)), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(plan_nodes({}, 4, one_node).cells, IsEmpty());
}

TEST(CellPlan, ALimitPerCellMakesCells)
{
  EXPECT_THAT(sizes(plan_cells({{}, 3}, 1, programs_of(7), ordinary)), ElementsAre(2, 2, 3));
}

TEST(CellPlan, ANumberOfCellsIsKept)
{
  EXPECT_THAT(sizes(plan_cells({1, {}}, 4, programs_of(7), ordinary)), ElementsAre(7));
  EXPECT_THAT(sizes(plan_cells({3, {}}, 1, programs_of(8), ordinary)), ElementsAre(2, 3, 3));
}

TEST(CellPlan, TooFewCellsAreAnErrorThatNamesTheSmallestNumber)
{
  EXPECT_EQ(plan_error({2, {}}, programs_of(31), ordinary),
            "--cells 2: expected at least 3 for 31 ranks, with at most 15 in a cell, got 2\n"
            "  Pass --cells 3, or --cells auto.");
  EXPECT_EQ(plan_error({2, 3}, programs_of(7), ordinary),
            "--cells 2: expected at least 3 for 7 ranks, with at most 3 in a cell, got 2\n"
            "  Pass --cells 3, or --cells auto.");
  EXPECT_EQ(plan_error({2, {}}, {1, 0, 1}, mixed),
            "--cells 2: expected at least 3 for 3 ranks, 2 of which need one each, with at most 15 in a cell, got 2\n"
            "  Pass --cells 3, or --cells auto.");
}

TEST(CellPlan, MoreCellsThanRanksAreCut)
{
  const CellPlan plan = plan_cells({9, {}}, 1, programs_of(2), ordinary);
  EXPECT_THAT(sizes(plan), ElementsAre(1, 1));
  EXPECT_THAT(plan.notes, ElementsAre("--cells 9: 2 cells are used, as there are 2 ranks"));
}

TEST(CellPlan, RanksThatCannotShareAProcessGetOneEach)
{
  const CellPlan plan = plan_cells({}, 1, Ranks{0, 1, 0, 1}, mixed);
  EXPECT_THAT(plan.cells, ElementsAre(Ranks{0, 2}, Ranks{1}, Ranks{3}));
  EXPECT_THAT(plan.notes, ElementsAre("program old is not position-independent (ET_EXEC): each of its ranks gets a "
                                      "process (cell) of its own"));
}

TEST(CellPlan, ARankThatIsAloneHasACellSinceItMayStartOthers)
{
  EXPECT_THAT(plan_cells({}, 4, Ranks{1}, mixed).cells, ElementsAre(Ranks{0}));
  EXPECT_THAT(plan_cells({}, 4, Ranks{1}, mixed).notes, IsEmpty());
  EXPECT_THAT(plan_cells({0, {}}, 4, Ranks{1}, mixed).cells, IsEmpty());
}

TEST(CellPlan, ACellHasNoMoreRanksThanSlots)
{
  const std::vector<CellRank> ranks(2000, CellRank{0, 0});
  EXPECT_THAT(plan_cells({}, 1, ranks, ordinary, 5000).cells, IsEmpty());
  EXPECT_THAT(sizes(plan_cells({{}, {}, true}, 2, ranks, ordinary, 5000)), ElementsAre(500, 500, 500, 500));
}

TEST(CellPlan, WithoutCellsThereAreLimits)
{
  EXPECT_THAT(plan_cells({0, {}}, 4, programs_of(15), ordinary).cells, IsEmpty());
  EXPECT_EQ(plan_error({0, {}}, programs_of(16), ordinary),
            "--cells 0: expected at most 15 ranks, as many as one process has memory mappings (vm.max_map_count) and "
            "files (ulimit -Hn) for, got 16\n"
            "  Leave --cells 0 out: the ranks are then spread over processes (cells). Or raise these limits.");
  EXPECT_EQ(plan_error({0, {}}, {0, 1, 1}, mixed),
            "--cells 0: expected programs whose ranks can share a process, got 3 ranks, 2 of them of old, which is not "
            "position-independent (ET_EXEC)\n"
            "  Leave --cells 0 out: each of these ranks then gets a process (cell) of its own.");
  EXPECT_EQ(plan_error({0, 4}, programs_of(2), ordinary),
            "--ranks-per-cell: expected cells to put the ranks into, got --cells 0\n  Leave out one of the two.");
}

// Whatever is asked for: an error, or every rank in exactly one cell, within the limits and in the order promised.
TEST(CellPlan, HoldsItsPromisesForAnyInput)
{
  std::mt19937 random(4);
  const auto below = [&random](unsigned end) { return static_cast<unsigned>(random() % end); };
  unsigned planned = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<CellProgram> programs(1 + below(3));
    for (CellProgram& program : programs)
      program = {"program", below(3) == 0 ? "is large" : ""};
    Ranks ranks(1 + below(round % 2 ? 20 : 200));
    for (unsigned& program : ranks)
      program = below(static_cast<unsigned>(programs.size()));
    CellWishes wishes;
    if (below(2) == 0)
      wishes.cells = below(40);
    if (below(2) == 0)
      wishes.ranks_per_cell = 1 + below(15);
    const unsigned jobs = 1 + below(16);

    CellPlan plan;
    const std::string error = error_of([&] { plan = plan_cells(wishes, jobs, ranks, programs); });
    const auto alone = static_cast<std::size_t>(
        std::count_if(ranks.begin(), ranks.end(), [&](unsigned program) { return !programs[program].alone.empty(); }));
    const std::size_t limit = wishes.ranks_per_cell.value_or(15);
    const std::size_t least = alone + (ranks.size() - alone + limit - 1) / limit;
    if (!error.empty()) {
      ASSERT_TRUE(wishes.cells) << "what is chosen automatically always works: " << error;
      ASSERT_TRUE(*wishes.cells == 0 || *wishes.cells < least) << error;
      continue;
    }
    ++planned;
    if (plan.cells.empty()) {
      ASSERT_LE(ranks.size(), 15u);
      ASSERT_TRUE(alone == 0 || (ranks.size() == 1 && wishes.cells == 0U));
      ASSERT_FALSE(wishes.ranks_per_cell);
      continue;
    }
    if (wishes.cells) {
      ASSERT_EQ(plan.cells.size(), std::min<std::size_t>(*wishes.cells, ranks.size()));
    }
    ASSERT_GE(plan.cells.size(), least);
    std::set<unsigned> seen;
    std::size_t smallest = limit;
    std::size_t largest = 0;
    Ranks ordinary_in_order;
    for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
      const Ranks& members = plan.cells[cell];
      ASSERT_FALSE(members.empty());
      ASSERT_LE(members.size(), limit);
      ASSERT_TRUE(std::is_sorted(members.begin(), members.end()));
      ASSERT_TRUE(cell == 0 || plan.cells[cell - 1].front() < members.front());
      for (const unsigned rank : members) {
        ASSERT_LT(rank, ranks.size());
        ASSERT_TRUE(seen.insert(rank).second);
        ASSERT_TRUE(programs[ranks[rank]].alone.empty() || members.size() == 1);
      }
      if (programs[ranks[members.front()]].alone.empty()) {
        smallest = std::min(smallest, members.size());
        largest = std::max(largest, members.size());
        ordinary_in_order.insert(ordinary_in_order.end(), members.begin(), members.end());
      }
    }
    ASSERT_EQ(seen.size(), ranks.size());
    ASSERT_LE(largest, smallest + 1);
    ASSERT_TRUE(std::is_sorted(ordinary_in_order.begin(), ordinary_in_order.end())) << "blocks are contiguous";
  }
  EXPECT_GT(planned, 5000u);
}

} // namespace
} // namespace umwelt::plan
