// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/worker_plan.h"

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

const std::vector<WorkerProgram> ordinary{{"app", ""}};
const std::vector<WorkerProgram> mixed{{"app", ""}, {"old", "is not position-independent (ET_EXEC)"}};

Ranks programs_of(unsigned count, unsigned program = 0)
{
  return Ranks(count, program);
}

constexpr unsigned room = 15; // in a process

// Each on a node of its own.
WorkerPlan plan_workers(const WorkerWishes& wishes, unsigned jobs, const Ranks& programs,
                        const std::vector<WorkerProgram>& kinds)
{
  std::vector<WorkerRank> ranks;
  for (const unsigned program : programs)
    ranks.push_back({program, static_cast<std::uint32_t>(ranks.size())});
  return plan_workers(wishes, jobs, ranks, kinds, room);
}

// Of one program, on these nodes.
WorkerPlan plan_nodes(const WorkerWishes& wishes, unsigned jobs, const std::vector<std::uint32_t>& nodes)
{
  std::vector<WorkerRank> ranks;
  for (const std::uint32_t node : nodes)
    ranks.push_back({0, node});
  return plan_workers(wishes, jobs, ranks, ordinary, room);
}

std::vector<std::size_t> sizes(const WorkerPlan& plan)
{
  std::vector<std::size_t> result;
  for (const Ranks& worker : plan.workers)
    result.push_back(worker.size());
  return result;
}

std::string plan_error(const WorkerWishes& wishes, const Ranks& ranks, const std::vector<WorkerProgram>& programs)
{
  return error_of([&] { plan_workers(wishes, 1, ranks, programs); });
}

TEST(WorkerPlan, AsManyRanksAsFitStayInTheRuntimesProcess)
{
  EXPECT_THAT(plan_workers({}, 8, programs_of(15), ordinary).workers, IsEmpty());
}

TEST(WorkerPlan, MoreAreSpreadInBalancedBlocks)
{
  const WorkerPlan plan = plan_workers({}, 1, programs_of(32), ordinary);
  EXPECT_THAT(sizes(plan), ElementsAre(10, 11, 11));
  EXPECT_EQ(plan.workers[1].front(), 10u);
  EXPECT_EQ(plan.workers[1].back(), 20u);
  EXPECT_THAT(plan.notes, IsEmpty());
}

TEST(WorkerPlan, EveryJobGetsAWorkerToCompute)
{
  EXPECT_THAT(sizes(plan_workers({}, 4, programs_of(16), ordinary)), ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(plan_workers({}, 64, programs_of(16), ordinary).workers, testing::SizeIs(16));
}

TEST(WorkerPlan, AskingForJobsMakesWorkers)
{
  EXPECT_THAT(sizes(plan_workers({{}, {}, true}, 2, programs_of(8), ordinary)), ElementsAre(4, 4));
  EXPECT_THAT(plan_workers({{}, {}, true}, 2, programs_of(1), ordinary).workers, IsEmpty());
  EXPECT_THAT(plan_workers({0, {}, true}, 2, programs_of(8), ordinary).workers, IsEmpty());
}

TEST(WorkerPlan, RanksOfANodeStayTogether)
{
  std::vector<std::uint32_t> by_slot;
  std::vector<std::uint32_t> by_node;
  for (std::uint32_t rank = 0; rank < 32; ++rank) {
    by_slot.push_back(rank / 8);
    by_node.push_back(rank % 4);
  }
  EXPECT_THAT(sizes(plan_nodes({}, 1, by_slot)), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(plan_nodes({}, 8, by_node).workers,
              testing::Each(testing::ResultOf([](const Ranks& worker) { return worker[1] - worker[0]; }, 4U)));
  EXPECT_THAT(sizes(plan_nodes({2, {}}, 1, {0, 0, 0, 1, 1, 1, 1})), ElementsAre(3, 4));
  EXPECT_THAT(sizes(plan_nodes({}, 1, std::vector<std::uint32_t>(20, 0))), ElementsAre(10, 10));
}

TEST(WorkerPlan, OneNodeIsSpreadIfThatIsAskedFor)
{
  const std::vector<std::uint32_t> one_node(8, 0);
  EXPECT_THAT(sizes(plan_nodes({{}, {}, true}, 4, one_node)), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(plan_nodes({}, 4, one_node).workers, IsEmpty());
}

TEST(WorkerPlan, ALimitPerWorkerMakesWorkers)
{
  EXPECT_THAT(sizes(plan_workers({{}, 3}, 1, programs_of(7), ordinary)), ElementsAre(2, 2, 3));
}

TEST(WorkerPlan, ANumberOfWorkersIsKept)
{
  EXPECT_THAT(sizes(plan_workers({1, {}}, 4, programs_of(7), ordinary)), ElementsAre(7));
  EXPECT_THAT(sizes(plan_workers({3, {}}, 1, programs_of(8), ordinary)), ElementsAre(2, 3, 3));
}

TEST(WorkerPlan, TooFewWorkersAreAnErrorThatNamesTheSmallestNumber)
{
  EXPECT_EQ(plan_error({2, {}}, programs_of(31), ordinary),
            "--workers 2: expected at least 3 for 31 ranks, with at most 15 in a worker process, got 2\n"
            "  Pass --workers 3, or --workers auto.");
  EXPECT_EQ(plan_error({2, 3}, programs_of(7), ordinary),
            "--workers 2: expected at least 3 for 7 ranks, with at most 3 in a worker process, got 2\n"
            "  Pass --workers 3, or --workers auto.");
  EXPECT_EQ(plan_error({2, {}}, {1, 0, 1}, mixed), "--workers 2: expected at least 3 for 3 ranks, 2 of which need one "
                                                   "each, with at most 15 in a worker process, got 2\n"
                                                   "  Pass --workers 3, or --workers auto.");
}

TEST(WorkerPlan, MoreWorkersThanRanksAreCut)
{
  const WorkerPlan plan = plan_workers({9, {}}, 1, programs_of(2), ordinary);
  EXPECT_THAT(sizes(plan), ElementsAre(1, 1));
  EXPECT_THAT(plan.notes, ElementsAre("--workers 9: 2 worker processes are used, as there are 2 ranks"));
}

TEST(WorkerPlan, RanksThatCannotShareAProcessGetOneEach)
{
  const WorkerPlan plan = plan_workers({}, 1, Ranks{0, 1, 0, 1}, mixed);
  EXPECT_THAT(plan.workers, ElementsAre(Ranks{0, 2}, Ranks{1}, Ranks{3}));
  EXPECT_THAT(plan.notes, ElementsAre("program old is not position-independent (ET_EXEC): each of its ranks gets a "
                                      "worker process of its own"));
}

TEST(WorkerPlan, ARankThatIsAloneHasAWorkerSinceItMayStartOthers)
{
  EXPECT_THAT(plan_workers({}, 4, Ranks{1}, mixed).workers, ElementsAre(Ranks{0}));
  EXPECT_THAT(plan_workers({}, 4, Ranks{1}, mixed).notes, IsEmpty());
  EXPECT_THAT(plan_workers({0, {}}, 4, Ranks{1}, mixed).workers, IsEmpty());
}

TEST(WorkerPlan, AWorkerHasNoMoreRanksThanSlots)
{
  const std::vector<WorkerRank> ranks(2000, WorkerRank{0, 0});
  EXPECT_THAT(plan_workers({}, 1, ranks, ordinary, 5000).workers, IsEmpty());
  EXPECT_THAT(sizes(plan_workers({{}, {}, true}, 2, ranks, ordinary, 5000)), ElementsAre(500, 500, 500, 500));
}

TEST(WorkerPlan, WithoutWorkersThereAreLimits)
{
  EXPECT_THAT(plan_workers({0, {}}, 4, programs_of(15), ordinary).workers, IsEmpty());
  EXPECT_EQ(plan_error({0, {}}, programs_of(16), ordinary),
            "--workers 0: expected at most 15 ranks, as many as one process has memory mappings (vm.max_map_count), "
            "files (ulimit -Hn) and, with --loader dlmopen, namespaces for, got 16\n"
            "  Leave --workers 0 out: the ranks are then spread over worker processes. Or raise these limits.");
  EXPECT_EQ(
      plan_error({0, {}}, {0, 1, 1}, mixed),
      "--workers 0: expected programs whose ranks can share a process, got 3 ranks, 2 of them of old, which is not "
      "position-independent (ET_EXEC)\n"
      "  Leave --workers 0 out: each of these ranks then gets a worker process of its own.");
  EXPECT_EQ(plan_error({0, 4}, programs_of(2), ordinary), "--ranks-per-worker: expected worker processes to put the "
                                                          "ranks into, got --workers 0\n  Leave out one of the two.");
}

// Whatever is asked for: an error, or every rank in exactly one worker process, within the limits and in the order
// promised.
TEST(WorkerPlan, HoldsItsPromisesForAnyInput)
{
  std::mt19937 random(4);
  const auto below = [&random](unsigned end) { return static_cast<unsigned>(random() % end); };
  unsigned planned = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<WorkerProgram> programs(1 + below(3));
    for (WorkerProgram& program : programs)
      program = {"program", below(3) == 0 ? "is large" : ""};
    Ranks ranks(1 + below(round % 2 ? 20 : 200));
    for (unsigned& program : ranks)
      program = below(static_cast<unsigned>(programs.size()));
    WorkerWishes wishes;
    if (below(2) == 0)
      wishes.workers = below(40);
    if (below(2) == 0)
      wishes.ranks_per_worker = 1 + below(15);
    const unsigned jobs = 1 + below(16);

    WorkerPlan plan;
    const std::string error = error_of([&] { plan = plan_workers(wishes, jobs, ranks, programs); });
    const auto alone = static_cast<std::size_t>(
        std::count_if(ranks.begin(), ranks.end(), [&](unsigned program) { return !programs[program].alone.empty(); }));
    const std::size_t limit = wishes.ranks_per_worker.value_or(15);
    const std::size_t least = alone + (ranks.size() - alone + limit - 1) / limit;
    if (!error.empty()) {
      ASSERT_TRUE(wishes.workers) << "what is chosen automatically always works: " << error;
      ASSERT_TRUE(*wishes.workers == 0 || *wishes.workers < least) << error;
      continue;
    }
    ++planned;
    if (plan.workers.empty()) {
      ASSERT_LE(ranks.size(), 15u);
      ASSERT_TRUE(alone == 0 || (ranks.size() == 1 && wishes.workers == 0U));
      ASSERT_FALSE(wishes.ranks_per_worker);
      continue;
    }
    if (wishes.workers) {
      ASSERT_EQ(plan.workers.size(), std::min<std::size_t>(*wishes.workers, ranks.size()));
    }
    ASSERT_GE(plan.workers.size(), least);
    std::set<unsigned> seen;
    std::size_t smallest = limit;
    std::size_t largest = 0;
    Ranks ordinary_in_order;
    for (std::size_t worker = 0; worker < plan.workers.size(); ++worker) {
      const Ranks& members = plan.workers[worker];
      ASSERT_FALSE(members.empty());
      ASSERT_LE(members.size(), limit);
      ASSERT_TRUE(std::is_sorted(members.begin(), members.end()));
      ASSERT_TRUE(worker == 0 || plan.workers[worker - 1].front() < members.front());
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
