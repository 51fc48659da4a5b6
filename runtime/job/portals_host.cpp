// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/portals_host.h"

#include "runtime/job/details.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

Rank& PortalsHost::rank_of(const portals::Process& process) const
{
  return *job_.ranks()[process.rank()];
}

bool PortalsHost::wait(portals::Process& process, sim::SimTime deadline)
{
  Rank& rank = rank_of(process);
  if (rank.signal_due(rank.running()))
    rank.act_on_signals();
  const bool woken = rank.wait(deadline, Rank::For::network);
  rank.act_on_signals();
  return woken;
}

void PortalsHost::changed(portals::Process& process)
{
  Rank& rank = rank_of(process);
  ++rank.gate.activity;
  tell(rank);
}

void PortalsHost::refused(portals::Process& process)
{
  ++rank_of(process).statistics.messages_refused;
}

void PortalsHost::event_visible(portals::Process& process, ptl_handle_eq_t queue)
{
  Rank& rank = rank_of(process);
  ++rank.gate.queue_news[queue % UMW_QUEUE_SLOTS];
  for (job::Thread* thread : rank.awake)
    thread->more_events = true; // for those that have taken an event and not yet gone on
  tell(rank);
}

void PortalsHost::tell(Rank& rank)
{
  rank.lateness.progress();
  ++rank.statistics.events;
  job_.polling().changed(rank);
  rank.notify_network();
}

std::unique_ptr<sim::Origin> PortalsHost::departs(portals::Process& process)
{
  Details* const details = job_.details();
  return details == nullptr ? nullptr
                            : details->path().departs(static_cast<std::size_t>(rank_of(process).index), now(process));
}

void PortalsHost::came(portals::Process& process, std::uint32_t source, const sim::Origin* origin, sim::SimTime began,
                       std::uint64_t bytes)
{
  rank_of(process).came(source, origin, began, bytes);
}

void PortalsHost::answered(portals::Process& process, std::uint32_t other, const sim::Origin* origin,
                           sim::SimTime began, std::uint64_t bytes)
{
  if (Details* const details = job_.details(); details != nullptr)
    details->path().answered(static_cast<std::size_t>(rank_of(process).index), other, origin, began, bytes,
                             job_.scheduler().now());
}

void PortalsHost::exchanged(std::uint32_t one, std::uint32_t other, sim::SimTime began)
{
  job_.exchanged(one, other, began);
}

void PortalsHost::written(portals::Process& process, bool told)
{
  Rank& rank = rank_of(process);
  rank.memory_changed();
  if (told)
    return;
  job_.polling().changed(rank); // who polls may look at memory between the polls, and nothing else will wake it
  rank.notify_network();
}

bool PortalsHost::empty_poll(portals::Process& process)
{
  return job_.polling().empty(rank_of(process));
}

void PortalsHost::idle_call(portals::Process& process)
{
  job_.polling().nothing_to_tell(rank_of(process));
}

void PortalsHost::productive_poll(portals::Process& process)
{
  job_.polling().productive(rank_of(process));
}

void PortalsHost::took_event(portals::Process& process, bool more)
{
  rank_of(process).running().more_events = more;
}

void PortalsHost::received(portals::Process& process, std::uint64_t unread)
{
  Rank& rank = rank_of(process);
  const net::NodeParameters& node = job_.node_parameters();
  if (node.receive > 0 && !rank_host::Cpu::measures(rank.gate.clock))
    rank.spend(observe::RankState::communication, node.receive, true);
  const sim::SimTime misses = job_.cpu().first_touch(rank.gate.clock) + node.read_uncached(unread);
  if (misses > 0)
    rank.spend(observe::RankState::compute, misses, true);
}

void PortalsHost::spend(portals::Process& process, sim::SimTime host_time)
{
  rank_of(process).spend(observe::RankState::communication, host_time, true);
}

sim::SimTime PortalsHost::now(const portals::Process& process) const
{
  return rank_of(process).running().now();
}

} // namespace umwelt::job
