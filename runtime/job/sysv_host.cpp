// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/sysv_host.h"

#include <csignal>
#include <filesystem>

#include <sys/eventfd.h>
#include <unistd.h>

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

sysv::PosixQueues::Caller SysvCall::posix_queues()
{
  return {rank_.gate.pid, this};
}

namespace
{

// `rank`, here and below: null if it has ended.
void tell(Job& job, Rank* rank, const sysv::PosixQueues::Notice& notice, int sender)
{
  if (rank == nullptr || notice.signal == 0)
    return;
  Thread* thread = notice.tid == 0 ? nullptr : job.find_thread(*rank, notice.tid);
  if (notice.tid != 0 && thread == nullptr)
    return;
  siginfo_t information{};
  information.si_signo = notice.signal;
  information.si_code = SI_MESGQ;
  information.si_pid = sender;
  information.si_uid = getuid();
  information.si_value.sival_ptr = reinterpret_cast<void*>(notice.value);
  rank->send_signal(information, thread);
}

void show(Job& job, Rank* rank, int fd, bool readable)
{
  eventfd_t count = 0;
  if (readable)
    eventfd_write(fd, 1);
  else
    eventfd_read(fd, &count);
  if (rank == nullptr || !readable)
    return;
  job.polling().progress();
  ++rank->gate.wakes;
  rank->notify_all();
}

} // namespace

SysvHost::Node::Node(const std::string& directory, Job& job, std::uint32_t node)
    : segments(directory),
      posix_queues([&job, node](int pid, const sysv::PosixQueues::Notice& notice,
                                int sender) { tell(job, job.find_rank(node, pid), notice, sender); },
                   [&job, node](int pid, int fd, bool readable) { show(job, job.find_rank(node, pid), fd, readable); })
{
}

SysvHost::Node& SysvHost::of(const Rank& rank)
{
  auto& node = nodes_[rank.node];
  if (!node) {
    const std::string directory = rank.session_directory + "/sysv";
    std::filesystem::create_directories(directory);
    node = std::make_unique<Node>(directory, rank.job, rank.node);
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
  node->second->posix_queues.forget(rank.gate.pid);
}

void SysvHost::program_changed(Rank& rank)
{
  if (const auto node = nodes_.find(rank.node); node != nodes_.end())
    node->second->segments.forget(rank.gate.pid, now(rank));
}

std::int64_t SysvHost::now(const Rank& rank)
{
  constexpr std::int64_t second = 1'000'000'000;
  return (rank.gate.clock.realtime_origin_ns + rank.job.scheduler().now() / sim::nanosecond) / second;
}

} // namespace umwelt::job
