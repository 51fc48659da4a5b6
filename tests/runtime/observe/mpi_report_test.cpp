// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/mpi_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "preload/abi/mpi_calls.h"

namespace umwelt::observe
{
namespace
{

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two ranks of the run's own job, of which the first sends to the second and to a rank of another job, and one that it
// has started.
JobRecord example()
{
  JobRecord job;
  job.ending = completed;
  job.ranks.resize(3);
  job.ranks[1].number = 1;
  job.ranks[2].job = 2;
  for (RankRecord& rank : job.ranks)
    rank.finished = 1000000;
  job.mpi_calls.resize(3);
  job.mpi_calls[0].sites[{UMW_MPI_Send, "main+0x10 (app)"}] = {3, 48, 200000, 100000, 70000};
  job.mpi_calls[0].sites[{UMW_MPI_Send, "f+0x20 (app)"}] = {1, 2, 100000, 0};
  job.mpi_calls[0].sizes[{UMW_MPI_Send, 5}] = {3, 48, 0, 0};
  job.mpi_calls[0].sizes[{UMW_MPI_Send, 2}] = {1, 2, 0, 0};
  job.mpi_calls[0].peers[1] = {3, 48, 0, 0};
  job.mpi_calls[0].peers[UMW_MPI_PEER_ELSEWHERE] = {1, 2, 0, 0};
  job.mpi_calls[1].sites[{UMW_MPI_Barrier, "main+0x30 (app)"}] = {1, 0, 600000, 600000, 500000};
  job.mpi_calls[1].communicators[{"MPI_COMM_WORLD", UMW_MPI_Barrier}] = {1, 0, 600000, 600000};
  job.mpi_calls[2].peers[0] = {5, 5, 0, 0};
  return job;
}

TEST(MpiReport, SaysNothingOfWhatWasNotFollowed)
{
  EXPECT_THAT(mpi_tables(JobRecord()), IsEmpty());
}

TEST(MpiReport, SumsUpByFunction)
{
  const nlohmann::ordered_json json = mpi_json(example());
  ASSERT_EQ(json["functions"].size(), 2U);
  EXPECT_EQ(json["functions"][0]["name"], "MPI_Barrier"); // most time first
  EXPECT_EQ(json["functions"][1]["calls"], 4);
  EXPECT_EQ(json["functions"][1]["bytes"], 50);
  EXPECT_EQ(json["functions"][1]["sizes"][0]["to_bytes"], 3);
  EXPECT_EQ(json["functions"][1]["sizes"][1]["from_bytes"], 16);
  EXPECT_EQ(json["sites"].size(), 3U);
  EXPECT_EQ(json["communicators"][0]["communicator"], "MPI_COMM_WORLD");
  EXPECT_EQ(json["waited_ps"]["sends"], 100000);
  EXPECT_EQ(json["waited_ps"]["receives"], 0);
  EXPECT_EQ(json["waited_ps"]["barriers"], 600000);
  EXPECT_EQ(json["late_ps"]["sends"], 70000);
  EXPECT_EQ(json["functions"][0]["late_ps"], 500000);
  EXPECT_THAT(mpi_tables(example()), HasSubstr("late were: receivers 2.3 %, in barriers 16.7 %"));
}

TEST(MpiReport, NamesRanksOfTheRun)
{
  const nlohmann::ordered_json json = mpi_json(example());
  ASSERT_EQ(json["messages"].size(), 3U);
  EXPECT_EQ(json["messages"][0]["to"], 1);
  EXPECT_EQ(json["messages"][1]["to"], -1);
  EXPECT_EQ(json["messages"][2]["from"], 2);
  EXPECT_EQ(json["messages"][2]["to"], 2); // the first of its job
}

TEST(MpiReport, SaysOfWhichRanksItKnows)
{
  JobRecord job;
  job.mpi_calls.resize(1);
  job.ending = "deadlock";
  EXPECT_EQ(mpi_tables(job), "\n  calls of MPI are known of ranks that have ended themselves\n");
  job.ending = completed;
  EXPECT_EQ(mpi_tables(job), "\n  no calls of MPI\n");
}

TEST(MpiReport, HasTables)
{
  const std::string text = mpi_tables(example());
  EXPECT_THAT(text, HasSubstr("MPI_Barrier      1  600.0 ns  20.0 %"));
  EXPECT_THAT(text, HasSubstr("sends 3.3 %, barriers 20.0 %"));
  EXPECT_THAT(text, HasSubstr("main+0x30 (app)  MPI_Barrier"));
  EXPECT_THAT(text, Not(HasSubstr("are known of ranks")));
  JobRecord broken = example();
  broken.ending = "deadlock";
  EXPECT_THAT(mpi_tables(broken), HasSubstr("are known of ranks that have ended themselves"));
}

} // namespace
} // namespace umwelt::observe
