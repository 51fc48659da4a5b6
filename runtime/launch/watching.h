// SPDX-License-Identifier: LGPL-2.1-or-later
// A run that is looked at while it goes on (--serve).
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "runtime/job/job.h"
#include "runtime/job/live.h"
#include "runtime/observe/statistics.h"
#include "runtime/plan/options.h"
#include "runtime/serve/live_server.h"

namespace umwelt::launch
{

class Watching
{
public:
  // Says where, if that is wanted at all; without, none of this does anything. `program`: umwelt-serve. Throws as
  // serve::LiveServer.
  Watching(const plan::RunOptions& options, const std::filesystem::path& program);

  // Before it runs; the job ends before this. `begin`: of the run.
  void look_at(job::Job& job, std::chrono::steady_clock::time_point begin);
  void ended(const job::Job& job, const job::Outcome& outcome, const observe::JobRecord& record);

private:
  [[nodiscard]] double seconds() const;

  std::optional<serve::LiveServer> server_;
  std::optional<job::Live> live_;
  std::chrono::steady_clock::time_point begin_;
};

} // namespace umwelt::launch
