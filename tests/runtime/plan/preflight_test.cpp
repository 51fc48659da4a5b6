// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::plan
{
namespace
{

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t mebi = 1 << 20;

const std::vector<ProgramSize> programs{{3, false}, {11, true}};

Needs needs_of(unsigned ranks, unsigned program, unsigned jobs = 1)
{
  const std::vector<unsigned> program_of_rank(ranks, program);
  const std::vector<WorkerProgram> kinds(programs.size());
  std::vector<WorkerRank> places;
  for (const unsigned which : program_of_rank)
    places.push_back({which, static_cast<std::uint32_t>(places.size())});
  return estimate_needs(programs, program_of_rank, plan_workers({}, jobs, places, kinds, 15));
}

// The measurements that the constants come from; a run must fit, and a limit twice as high must not be asked for.
TEST(Preflight, EstimatesWhatWasMeasured)
{
  const Needs mpi = needs_of(15, 1);
  EXPECT_NEAR(static_cast<double>(mpi.memory) / mebi, 64, 10); // Pss_Anon 58 to 68 MB, page tables 2 MB
  EXPECT_NEAR(static_cast<double>(mpi.maps), 6420, 500);
  EXPECT_NEAR(static_cast<double>(mpi.threads), 76, 5);
  EXPECT_NEAR(static_cast<double>(mpi.descriptors), 198, 15);
  const Needs other = needs_of(15, 0);
  EXPECT_NEAR(static_cast<double>(other.memory) / mebi, 6, 1.5); // 15 git: 9.5 - 3.8 MB more than one
  EXPECT_NEAR(static_cast<double>(other.maps), 776, 250);
  EXPECT_NEAR(static_cast<double>(other.threads), 16, 2);
  EXPECT_NEAR(static_cast<double>(other.descriptors), 82, 15);
}

TEST(Preflight, WorkersShareMachineAndAccountButNotMappingsAndDescriptors)
{
  const Needs one = needs_of(15, 1);
  const Needs many = needs_of(1024, 1); // 69 worker processes of 14 and 15 ranks
  EXPECT_EQ(many.maps, one.maps);
  EXPECT_EQ(many.maps_of_rank, one.maps_of_rank);
  EXPECT_NEAR(static_cast<double>(many.threads), 1024 * 5 + 69, 10);
  EXPECT_GT(many.memory, one.memory * 1024 / 15);
  EXPECT_LT(many.memory, 1024 * 8 * mebi) << "8 MiB per rank is the aim";
  EXPECT_GT(many.descriptors, 1024 * 8);
}

TEST(Preflight, MappingsAndDescriptorsSayHowManyRanksFit)
{
  MachineLimits limits;
  EXPECT_GT(ranks_that_fit(programs, limits), 100000U);
  limits.maps = 65530;
  const unsigned mpi = ranks_that_fit(programs, limits);
  EXPECT_NEAR(mpi, 139, 5);
  EXPECT_GT(ranks_that_fit(std::span(programs).first(1), limits), 5 * mpi);
  limits.descriptors = 16 + 19 * 20;
  EXPECT_EQ(ranks_that_fit(programs, limits), 20U);
  limits.maps = 10;
  EXPECT_EQ(ranks_that_fit(programs, limits), 1U);
}

// With room to spare, for what is estimated is the least.
TEST(Preflight, AsManyRanksAsFitAreNotShortOfMappings)
{
  MachineLimits limits;
  limits.maps = 10000;
  const unsigned fit = ranks_that_fit(std::span(programs).last(1), limits);
  const auto needs = [](unsigned ranks) {
    return estimate_needs(programs, std::vector<unsigned>(ranks, 1), WorkerPlan{});
  };
  EXPECT_THAT(find_shortages(needs(fit), limits), IsEmpty());
  EXPECT_THAT(find_shortages(needs(fit * 11 / 10), limits), IsEmpty());
  EXPECT_THAT(find_shortages(needs(fit * 6 / 5), limits), SizeIs(1));
}

TEST(Preflight, WhatIsUnlimitedIsEnough)
{
  EXPECT_THAT(find_shortages(needs_of(100000, 1), {}), IsEmpty());
}

TEST(Preflight, ExactlyEnoughIsEnough)
{
  const Needs needs = needs_of(40, 1);
  MachineLimits limits;
  limits.memory = needs.memory;
  limits.cgroup_memory = {needs.memory + 5, 5, "memory.max"};
  limits.maps = needs.maps;
  limits.threads = limits.thread_ids = limits.user_threads = limits.cgroup_threads = {needs.threads + 7, 7, "x"};
  limits.descriptors = needs.descriptors;
  EXPECT_THAT(find_shortages(needs, limits), IsEmpty());
  --*limits.memory;
  --limits.cgroup_memory->limit;
  --*limits.maps;
  --*limits.descriptors;
  for (std::optional<Bound>* bound :
       {&limits.threads, &limits.thread_ids, &limits.user_threads, &limits.cgroup_threads})
    ++(*bound)->used;
  EXPECT_THAT(find_shortages(needs, limits), SizeIs(8));
}

Shortage only_shortage(const Needs& needs, const MachineLimits& limits)
{
  const std::vector<Shortage> shortages = find_shortages(needs, limits);
  EXPECT_THAT(shortages, SizeIs(1));
  return shortages.empty() ? Shortage{} : shortages.front();
}

TEST(Preflight, SaysHowManyRanksHaveMemory)
{
  Needs needs;
  needs.ranks = 100;
  needs.memory = 500 * mebi;
  MachineLimits limits;
  limits.memory = 220 * mebi;
  const Shortage shortage = only_shortage(needs, limits);
  EXPECT_EQ(shortage.expected, "about 500 MiB (not counting what the program itself needs)");
  EXPECT_EQ(shortage.got, "220 MiB (MemAvailable and SwapFree of /proc/meminfo)");
  EXPECT_EQ(shortage.next, "End what else uses memory, or run 44 ranks, about as many as fit.");
  limits.memory = mebi;
  EXPECT_THAT(only_shortage(needs, limits).next, HasSubstr("or run on a machine with more."));
}

TEST(Preflight, NamesTheControlGroupThatIsTooSmall)
{
  Needs needs;
  needs.ranks = 2;
  needs.memory = 10 * mebi;
  MachineLimits limits;
  limits.cgroup_memory = {12 * mebi, 5 * mebi, "/sys/fs/cgroup/box/memory.max"};
  const Shortage shortage = only_shortage(needs, limits);
  EXPECT_EQ(shortage.got, "12 MiB, 5 MiB of which are used (/sys/fs/cgroup/box/memory.max)");
  EXPECT_THAT(shortage.next, HasSubstr("MemoryMax="));
}

TEST(Preflight, NamesTheSettingForMappings)
{
  Needs needs;
  needs.ranks = 15;
  needs.maps = 6250;
  needs.maps_of_rank = 400;
  MachineLimits limits;
  limits.maps = 4300;
  EXPECT_EQ(only_shortage(needs, limits).next,
            "As root: sysctl -w vm.max_map_count=8192, for good in a file of /etc/sysctl.d; or "
            "pass --ranks-per-worker 10.");
  limits.maps = 300;
  EXPECT_EQ(only_shortage(needs, limits).next,
            "As root: sysctl -w vm.max_map_count=8192, for good in a file of /etc/sysctl.d.");
}

TEST(Preflight, NamesTheSettingForThreads)
{
  Needs needs;
  needs.ranks = 1;
  needs.threads = 900;
  MachineLimits limits;
  limits.user_threads = {1000, 200, "ulimit -u"};
  Shortage shortage = only_shortage(needs, limits);
  EXPECT_EQ(shortage.object, "threads of this user");
  EXPECT_EQ(shortage.got, "ulimit -u = 1000, 200 of which are used");
  EXPECT_THAT(shortage.next, HasSubstr("ulimit -u 2048"));
  limits = {};
  limits.thread_ids = {1000, 200, "kernel.pid_max"};
  EXPECT_THAT(only_shortage(needs, limits).next, HasSubstr("sysctl -w kernel.pid_max=2048"));
  limits = {};
  limits.cgroup_threads = {1000, 200, "/sys/fs/cgroup/pids.max"};
  shortage = only_shortage(needs, limits);
  EXPECT_EQ(shortage.got, "/sys/fs/cgroup/pids.max = 1000, 200 of which are used");
  EXPECT_THAT(shortage.next, HasSubstr("write 2048 there"));
}

TEST(Preflight, TellsEverythingAtOnce)
{
  const std::vector<Shortage> shortages{{"memory", "9 MiB", "7 MiB", "Buy some."}, {"files", "4", "3", "Raise it."}};
  EXPECT_EQ(shortage_text(20, shortages), "20 ranks do not fit on this machine\n"
                                          "  memory: expected 9 MiB, got 7 MiB\n    Buy some.\n"
                                          "  files: expected 4, got 3\n    Raise it.");
  EXPECT_THAT(shortage_text(1, shortages), testing::StartsWith("1 rank does not fit on this machine\n"));
}

} // namespace
} // namespace umwelt::plan
