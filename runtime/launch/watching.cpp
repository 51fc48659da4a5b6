// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/watching.h"

#include <cstdio>

#include <fmt/format.h>

#include "runtime/observe/now.h"
#include "runtime/observe/report.h"

namespace umwelt::launch
{

using Clock = std::chrono::steady_clock;

Watching::Watching(const plan::RunOptions& options, const std::filesystem::path& program)
{
  if (!options.serve)
    return;
  server_.emplace(serve::parse_address("--serve", *options.serve), program.string());
  fmt::print(stderr, "umwelt: to watch this run, open {}\n", server_->url());
}

double Watching::seconds() const
{
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void Watching::look_at(job::Job& job, Clock::time_point begin)
{
  if (!server_)
    return;
  begin_ = begin;
  live_.emplace(job);
  job.watch(server_->asked(), [this] {
    server_->answered();
    const Clock::time_point start = Clock::now();
    const std::string state = observe::now_json(live_->now(seconds()), observe::report_json(live_->record(seconds())));
    server_->show(state, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start));
  });
}

void Watching::ended(const job::Job& job, const job::Outcome& outcome, const observe::JobRecord& record)
{
  if (!server_)
    return;
  observe::Now now = live_->now(record.host.wall_seconds);
  now.state = "ended";
  now.note = outcome.ending;
  now.exit_code = outcome.exit_code;
  now.simulated = record.simulated;
  now.events = job.events();
  server_->finish(observe::now_json(now, observe::report_json(record)));
}

} // namespace umwelt::launch
