// SPDX-License-Identifier: LGPL-2.1-or-later
// What is measured, what is said about it, and the command line.
#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "runtime/base/usage_error.h"
#include "runtime/tune/campaign.h"
#include "runtime/tune/measurements.h"
#include "runtime/tune/mpi.h"
#include "runtime/tune/options.h"
#include "runtime/tune/processes.h"
#include "runtime/tune/report.h"
#include "runtime/tune/text.h"

namespace umwelt::tune
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Options options(std::vector<std::string> words)
{
  words.insert(words.begin(), "collectives");
  return parse(std::move(words)).value();
}

std::string refused(const std::vector<std::string>& words)
{
  try {
    options(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TuneOptions, ListsAreSortedAndHaveEachOnce)
{
  const Options read = options({"--sizes", "1KiB,8,8", "--ranks", "16,4", "--functions", "bcast,bcast,scan"});
  EXPECT_THAT(read.sizes, ElementsAre(8, 1024));
  EXPECT_THAT(read.ranks, ElementsAre(4, 16));
  ASSERT_EQ(read.functions.size(), 2U);
  EXPECT_EQ(read.functions[1]->name, "scan");
  EXPECT_EQ(options({"--functions", "all"}).functions.size(), functions().size());
}

TEST(TuneOptions, WhatIsNotKnownGoesToUmweltRun)
{
  EXPECT_THAT(
      options({"--platform", "torus:dims=2x2", "--ranks", "4", "-N", "2", "-host", "a,b", "--timeout", "5"}).run,
      ElementsAre("--platform", "torus:dims=2x2", "-N", "2", "--host", "a,b", "--timeout", "5", "--cpu", "none"));
  EXPECT_THAT(options({"--jobs", "3", "--", "--cpu", "measured", "--timeout", "9", "-o", "x"}).run,
              ElementsAre("--cpu", "measured", "--timeout", "9", "-o", "x"));
}

TEST(TuneOptions, MeasuredComputingIsDoneAlone)
{
  EXPECT_EQ(options({"--cpu", "measured"}).jobs, 1U);
  EXPECT_EQ(options({"--cpu", "measured", "--jobs", "3"}).jobs, 3U);
}

TEST(TuneOptions, ErrorsSayWhatToWrite)
{
  EXPECT_THAT(refused({"--functions", "bcats"}), HasSubstr("nearest known one is bcast"));
  EXPECT_THAT(refused({"--sizes", "0"}), HasSubstr("--sizes"));
  EXPECT_THAT(refused({"--sizes", "2GiB"}), HasSubstr("at most 1 GiB"));
  EXPECT_THAT(refused({"--ranks", "1"}), HasSubstr("--ranks"));
  EXPECT_THAT(refused({"-np", "4"}), HasSubstr("--ranks 4"));
  EXPECT_THAT(refused({"--", "-np", "4"}), HasSubstr("--ranks 4"));
  EXPECT_THAT(refused({"--report", "r.json"}), HasSubstr("Leave it out"));
  EXPECT_THAT(refused({"--fuctions", "bcast"}), HasSubstr("nearest known one is --functions"));
  EXPECT_THAT(refused({"--mpi", "openmp"}), HasSubstr("expected openmpi, mpich, or both"));
  EXPECT_THROW(parse({}), UsageError);
  EXPECT_THROW(parse({"collective"}), UsageError);
}

TEST(TuneOptions, BuffersMustFitIntoTheMemory)
{
  const Options read = options({"--functions", "bcast,alltoall", "--sizes", "1KiB", "--ranks", "4", "--jobs", "2"});
  constexpr std::uint64_t needed = 2 * (4 * 8 * 1024); // runs, ranks, blocks, bytes
  EXPECT_NO_THROW(refuse_too_large(read, needed));
  EXPECT_THROW(refuse_too_large(read, needed - 1), UsageError);
}

TEST(TuneText, IsExact)
{
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1000), "1000 B");
  EXPECT_EQ(bytes_text(1536), "1536 B");
  EXPECT_EQ(bytes_text(64 << 10), "64 KiB");
  EXPECT_EQ(time_text(2796), "2.796 us");
  EXPECT_EQ(time_text(1'250'000), "1.250 ms");
}

Series series(Choice choice, std::map<std::uint64_t, std::int64_t> times)
{
  return {"bcast", 4, std::move(choice), std::move(times), {}};
}

TEST(TuneGroup, OfEqualTimesTheOneWithAName)
{
  const Group group("bcast", 4,
                    {series({}, {{8, 10}, {64, 10}}), series({1, "a", 0, 0}, {{8, 10}, {64, 20}}),
                     series({2, "b", 0, 0}, {{8, 10}})});
  EXPECT_EQ(group.best(8).series->choice.name, "a");
  EXPECT_EQ(group.best(64).series->choice.name, "own decision");
  EXPECT_EQ(group.best(9).series, nullptr);
  EXPECT_EQ(group.best_of_all_sizes()->choice.name, "own decision");
}

TEST(TuneOutcome, EverySizeHasATimeOrAProblem)
{
  Series one = series({1, "a", 0, 0}, {});
  const std::vector<std::uint64_t> sizes{8, 64, 512, 4096, 8192};
  read_outcome(one, sizes, 122, "noise\ntime 8 4440\nfailed 64 not supported\nwrong 512\nlate 4096\n", "umwelt: dead");
  EXPECT_THAT(one.times, ElementsAre(Pair(8, 4440)));
  EXPECT_THAT(one.problems, ElementsAre(Pair(64, "not supported"), Pair(512, "the result is wrong"),
                                        Pair(4096, "the ranks did not begin together"), Pair(8192, "deadlock")));
  Series other = series({1, "a", 0, 0}, {});
  read_outcome(other, std::vector<std::uint64_t>{8}, 139, "", "Noise\numwelt: rank 1 died\n  at\n");
  EXPECT_EQ(other.problems[8], "exit code 139: umwelt: rank 1 died");
}

TEST(TuneReport, TellsWhatWasLeftOut)
{
  const auto mpi = open_mpi("algorithm bcast 1 a\n", {0}, {4});
  Series broken = series({2, "two_proc", 0, 0}, {});
  broken.problems = {{8, "not supported"}, {64, "not suppor"}};
  const Group group("bcast", 4,
                    {series({}, {{8, 200}, {64, 100}}), series({1, "a", 0, 0}, {{8, 100}, {64, 100}}), broken});
  const std::string text = table(*mpi, group);
  EXPECT_THAT(text, HasSubstr("50.0 %"));
  EXPECT_THAT(text, HasSubstr("left out: two_proc: not supported\n"));
  EXPECT_THAT(csv(std::vector<Library>{{"openmpi", "Open MPI", {group}}}),
              HasSubstr("openmpi,bcast,4,8,2,two_proc,0,0,,not supported\n"));
  const std::string plot = plot_script("Open MPI", std::vector{group});
  EXPECT_THAT(plot, HasSubstr("title \"a\""));
  EXPECT_THAT(plot, Not(HasSubstr("two_proc")));
}

TEST(TuneMpi, AlgorithmsComeWithWhatMeansSomethingToThem)
{
  const auto mpi = open_mpi("algorithm bcast 0 ignore\nalgorithm bcast 1 basic_linear\nalgorithm bcast 2 chain\n"
                            "algorithm bcast 3 pipeline\nalgorithm scan 1 linear\nother line\n",
                            {0, 8192}, {2, 4});
  EXPECT_EQ(mpi->choices("bcast").size(), 1U + 4U + 2U);
  EXPECT_EQ(mpi->choices("scan").size(), 1U);
  EXPECT_TRUE(mpi->choices("alltoall").empty());
  EXPECT_THAT(mpi->forced("bcast", {2, "chain", 8192, 4}),
              ElementsAre("--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_bcast_algorithm", "2",
                          "--mca", "coll_tuned_bcast_algorithm_segmentsize", "8192", "--mca",
                          "coll_tuned_bcast_algorithm_chain_fanout", "4"));
  EXPECT_TRUE(mpi->forced("bcast", {}).empty());
}

TEST(TuneProcesses, AreToldApart)
{
  std::vector<std::string> outputs(3);
  run_all({{"/bin/sh", "-c", "echo a; exit 3"}, {"/bin/sh", "-c", "echo b"}, {"/no/such/program"}}, 2,
          [&](std::size_t number, const Outcome& outcome) {
            outputs[number] = outcome.output + std::to_string(outcome.code);
          });
  EXPECT_THAT(outputs, ElementsAre("a\n3", "b\n0", "127"));
}

TEST(TuneProcesses, AreEndedByWhatEndsThisOne)
{
  const std::string stop = "kill -TERM " + std::to_string(getpid()) + "; exec sleep 60";
  try {
    run_all({{"/bin/sh", "-c", stop}}, 1, [](std::size_t, const Outcome&) {});
    FAIL() << "expected Stopped";
  } catch (const Stopped& stopped) {
    EXPECT_EQ(stopped.signal, SIGTERM);
  }
}

} // namespace
} // namespace umwelt::tune
