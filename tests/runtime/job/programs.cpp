// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/runtime/job/programs.h"

#include <filesystem>
#include <optional>

#include "loader/private_directory.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/gate/dispatch.h"
#include "runtime/plan/placement.h"
#include "runtime/rank_host/signals.h"

namespace umwelt::job::test
{

Outcome JobTest::run(const std::vector<Program>& programs)
{
  Server server = gate::server();
  server.program = [&programs](Rank& rank) {
    rank.job.started(rank);
    rank.leave();
    programs[static_cast<std::size_t>(rank.index)](rank);
  };
  return run(server, programs.size());
}

Outcome JobTest::run(const Server& server, std::size_t ranks)
{
  plan::Plan plan;
  plan.options = options;
  plan.options.platform = "crossbar";
  plan.options.model = "delay";
  plan.options.ranks_per_node = per_node;
  plan.options.programs.resize(1);
  plan.options.programs.front().argv = {"test"};
  plan.options.programs.front().ranks = static_cast<unsigned>(ranks);
  plan.platform = platform::make_platform({plan.options.platform, plan::nodes_wanted(plan.options), 0});
  plan::RegionFunctions functions;
  plan.cpus = plan::plan_node_cpus(plan.options, static_cast<std::uint32_t>(plan.platform->node_count()), functions);
  plan.placement = plan::place_ranks(plan.options, plan.platform->name(), plan.platform->nodes());
  plan.programs.resize(1);
  plan.programs.front().program.path = "/test";
  plan.programs.front().program.argv = {"test"};
  plan.programs.front().directory = std::filesystem::current_path();
  plan.program_of_rank.resize(ranks);
  plan.in_wrapper.resize(ranks);
  plan.descriptors = plan.most_descriptors = 64;

  if (in_workers)
    for (unsigned rank = 0; rank < ranks; ++rank)
      plan.workers.push_back({rank});
  engine::adopt_runtime_thread_pointer();
  loader::PrivateDirectory directory(false);
  testing::internal::CaptureStderr();
  Outcome outcome;
  {
    Job job(plan, server, directory);
    const rank_host::Signals signals(job.rank_host());
    outcome = job.run();
    job.finish_output();
    record = job.record(outcome, 0);
  }
  said = testing::internal::GetCapturedStderr();
  return outcome;
}

void sleep(Rank& rank, SimTime duration)
{
  request(rank, UMW_OP_umw_sleep, umw_args_umw_sleep{0, duration});
}

} // namespace umwelt::job::test
