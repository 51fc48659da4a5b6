// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/sysv_host.h"

#include <filesystem>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

SysvCall::SysvCall(Rank& rank) : rank_(rank), thread_(rank.running())
{
}

SysvCall::~SysvCall()
{
  if (pending())
    rank_.job.scheduler().timeline().cancel(*this);
}

SysvCall::End SysvCall::wait(sim::SimTime deadline)
{
  if (!woken_ && !rank_.signal_due(thread_) && !rank_.wait(pending() ? sim::never : deadline, Rank::For::itself) &&
      !pending())
    return End::deadline;
  if (woken_ || pending()) {
    while (!woken_)
      rank_.wait(sim::never, Rank::For::itself);
    woken_ = false;
    return End::woken;
  }
  return rank_.signal_due(thread_) ? End::signal : End::woken;
}

void SysvCall::wake(Waiting& by)
{
  if (woken_ || pending())
    return;
  Job& job = rank_.job;
  const unsigned core = static_cast<SysvCall&>(by).thread_.place.core;
  job.scheduler().timeline().schedule_in(*this,
                                         job.shared_memory().of(rank_.node).seen_after(core, thread_.place.core));
}

void SysvCall::fire()
{
  woken_ = true;
  rank_.job.polling().progress();
  rank_.job.scheduler().wake(*thread_.actor);
}

sysv::Semaphores::Caller SysvCall::semaphores()
{
  return {rank_.gate.pid, SysvHost::now(rank_), this};
}

sysv::Queues::Caller SysvCall::queues()
{
  return {rank_.gate.pid, SysvHost::now(rank_), this};
}

SysvHost::Node& SysvHost::of(const Rank& rank)
{
  auto& node = nodes_[rank.node];
  if (!node) {
    const std::string folder = rank.session_folder + "/sysv";
    std::filesystem::create_directories(folder);
    node = std::make_unique<Node>(folder);
  }
  return *node;
}

void SysvHost::forget(Rank& rank)
{
  const auto node = nodes_.find(rank.node);
  if (node == nodes_.end())
    return;
  SysvCall call(rank);
  node->second->segments.forget(rank.gate.pid, now(rank));
  node->second->semaphores.forget(call.semaphores());
  node->second->queues.forget(rank.gate.pid);
}

std::int64_t SysvHost::now(const Rank& rank)
{
  constexpr std::int64_t second = 1'000'000'000;
  return (rank.gate.clock.realtime_origin_ns + rank.job.scheduler().now() / sim::nanosecond) / second;
}

} // namespace umwelt::job
