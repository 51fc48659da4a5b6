// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs whose ranks' programs are functions of a test: no file is loaded, all else is as in a run with --cpu none
// (unless options.cpu says otherwise). Ranks live in the test's process, one to a node unless said otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "preload/abi/gate.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job::test
{

using Program = std::function<void(Rank&)>;

class JobTest : public testing::Test
{
protected:
  JobTest() { options.cpu.kind = engine::CpuPolicy::Kind::none; }

  // To the end of all ranks, or of the job. `said`: what it wrote to standard error.
  Outcome run(const std::vector<Program>& programs);
  Outcome run(const Program& program, unsigned ranks) { return run(std::vector<Program>(ranks, program)); }

  // The same with whoever serves.
  Outcome run(const Server& server, std::size_t ranks);

  unsigned per_node = 1;
  bool in_workers = false; // each rank in a worker process of its own
  plan::RunOptions options;
  std::string said;
  observe::JobRecord record; // of the last run
};

// A request as the shim makes it, with the structure of its arguments; returns its result.
template <class Arguments> std::int64_t request(Rank& rank, std::uint32_t operation, Arguments arguments)
{
  rank.job.rank_host().request(*rank.running().here, operation, &arguments);
  return arguments.result;
}

// Simulated time goes by.
void sleep(Rank& rank, SimTime duration);

inline SimTime now(const Rank& rank)
{
  return rank.job.scheduler().now();
}

} // namespace umwelt::job::test
