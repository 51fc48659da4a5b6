// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/node_now.h"

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace fs = std::filesystem;

namespace
{

procfs::Mask mask_of(const std::vector<unsigned>& cores, std::size_t size)
{
  procfs::Mask mask(size);
  for (const unsigned core : cores)
    mask[core] = true;
  return mask;
}

procfs::ProcessFacts facts_of(const Rank& rank)
{
  const auto cores = static_cast<std::size_t>(rank.gate.cores);
  const worker::Workers* workers = rank.job.workers();
  procfs::ProcessFacts facts{.pid = rank.gate.pid,
                             .parent = rank.gate.parent_pid,
                             .session = rank.gate.parent_pid,
                             .host_pid = workers != nullptr ? workers->pid(rank.worker) : getpid(),
                             .program = rank.hosted.program_path,
                             .argv = rank.hosted.argv,
                             .environment = rank.hosted.environment,
                             .directory = rank.first_directory,
                             .started_ticks =
                                 rank.gate.clock.uptime_origin_ns / 10'000'000 + rank.began / procfs::ps_per_tick,
                             .cpu_ticks = rank.gate.clock.cpu_ps / procfs::ps_per_tick,
                             .sockets = static_cast<unsigned>(rank.gate.sockets),
                             .threads = {}};
  std::error_code none;
  const fs::path moved = fs::read_symlink(fmt::format("{}/cwd.{}", rank.session_directory, rank.gate.pid), none);
  if (!none)
    facts.directory = moved;
  for (const auto& thread : rank.threads)
    if (!thread->ended())
      facts.threads.push_back({thread->tid, thread->actor->state() == engine::Actor::State::blocked ? 'S' : 'R',
                               mask_of(thread->place.allowed, cores), thread->place.core});
  return facts;
}

} // namespace

procfs::NodeNow node_now(const Rank& rank)
{
  const umw_gate& gate = rank.gate;
  procfs::NodeNow now{.node = rank.node,
                      .session = rank.session_directory,
                      .host_name = gate.host_name,
                      .cores = static_cast<unsigned>(gate.cores),
                      .sockets = static_cast<unsigned>(gate.sockets),
                      .now = rank.job.scheduler().now(),
                      .uptime_origin_ns = gate.clock.uptime_origin_ns,
                      .realtime_origin_ns = gate.clock.realtime_origin_ns,
                      .looking = gate.pid,
                      .launcher = gate.parent_pid,
                      .processes = {}};
  for (const auto& other : rank.job.ranks())
    if (other->node == rank.node)
      now.processes.push_back({other->gate.pid, other->main().place.core,
                               other->gate.clock.cpu_ps / procfs::ps_per_tick, other->phase == Rank::Phase::ended,
                               [&other] { return facts_of(*other); }});
  return now;
}

} // namespace umwelt::job
