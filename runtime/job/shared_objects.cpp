// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/shared_objects.h"

#include <algorithm>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

using sim::SimTime;

void SharedObjects::Waiter::fire()
{
  woken = true;
  thread.rank.job.polling().progress();
  thread.rank.job.scheduler().wake(*thread.actor);
}

SharedObjects::Waiter& SharedObjects::enter(Rank& rank, const ObjectKey& place)
{
  return queues_[place].emplace_back(rank.running());
}

void SharedObjects::leave(const ObjectKey& place, const Waiter& waiter)
{
  const auto queue = queues_.find(place);
  const auto own = std::find_if(queue->second.begin(), queue->second.end(),
                                [&waiter](const Waiter& other) { return &other == &waiter; });
  if (own->pending())
    job_.scheduler().timeline().cancel(*own);
  queue->second.erase(own);
  if (queue->second.empty())
    queues_.erase(queue);
}

void SharedObjects::tell(Rank& rank, Waiter& waiter)
{
  waiter.told = true;
  const net::NodeMemory& memory = job_.shared_memory().of(rank.node);
  job_.scheduler().timeline().schedule_in(waiter,
                                          memory.seen_after(rank.running().place.core, waiter.thread.place.core));
}

bool SharedObjects::wait(Rank& rank, const ObjectKey& object, std::uint64_t seen, SimTime deadline)
{
  if (rank.gate.releases != seen || rank.signal_due(rank.running()))
    return true;
  Waiter& self = enter(rank, object);
  const bool woken = rank.wait(deadline, Rank::For::itself);
  leave(object, self);
  return woken;
}

void SharedObjects::wake(Rank& rank, const ObjectKey& object)
{
  ++rank.gate.releases;
  for (Rank* peer : rank.memory_peers)
    ++peer->gate.releases;
  const auto queue = queues_.find(object);
  if (queue == queues_.end())
    return;
  for (Waiter& waiter : queue->second)
    if (!waiter.told)
      tell(rank, waiter);
}

void SharedObjects::enter_condition(Rank& rank, const ObjectKey& condition)
{
  enter(rank, condition);
  in_condition_[&rank.running()] = condition;
}

SharedObjects::Ending SharedObjects::wait_for_condition(Rank& rank, SimTime deadline)
{
  const Thread& thread = rank.running();
  Queue& queue = queues_.at(in_condition_.at(&thread));
  const auto self =
      std::find_if(queue.begin(), queue.end(), [&thread](const Waiter& other) { return &other.thread == &thread; });
  bool in_time = true;
  if (!self->woken && !rank.signal_due(thread))
    in_time = rank.wait(self->told ? sim::never : deadline, Rank::For::itself); // it is its turn, whatever the time
  if (self->woken) {
    leave_condition(rank);
    return Ending::signalled;
  }
  if (in_time || self->told)
    return Ending::early;
  leave_condition(rank);
  return Ending::deadline;
}

void SharedObjects::leave_condition(Rank& rank)
{
  const auto entry = in_condition_.find(&rank.running());
  if (entry == in_condition_.end())
    return;
  const Queue& queue = queues_.at(entry->second);
  leave(entry->second, *std::find_if(queue.begin(), queue.end(),
                                     [&entry](const Waiter& other) { return &other.thread == entry->first; }));
  in_condition_.erase(entry);
}

void SharedObjects::signal(Rank& rank, const ObjectKey& condition, bool all)
{
  const auto queue = queues_.find(condition);
  if (queue == queues_.end())
    return;
  for (Waiter& waiter : queue->second) {
    if (waiter.told)
      continue;
    tell(rank, waiter);
    if (!all)
      break;
  }
}

bool SharedObjects::meet(Rank& rank, const ObjectKey& barrier, std::uint32_t count)
{
  const auto queue = queues_.find(barrier);
  const auto waiting = queue == queues_.end() ? 0
                                              : std::count_if(queue->second.begin(), queue->second.end(),
                                                              [](const Waiter& waiter) { return !waiter.told; });
  if (waiting + 1 >= count) {
    signal(rank, barrier, true);
    return true;
  }
  Waiter& self = enter(rank, barrier);
  while (!self.woken) {
    rank.wait(sim::never, Rank::For::itself);
    rank.act_on_signals();
  }
  leave(barrier, self);
  return false;
}

void SharedObjects::forget(const Thread& thread)
{
  in_condition_.erase(&thread);
  for (auto queue = queues_.begin(); queue != queues_.end();) {
    for (Waiter& waiter : queue->second)
      if (&waiter.thread == &thread && waiter.pending())
        job_.scheduler().timeline().cancel(waiter);
    queue->second.remove_if([&thread](const Waiter& waiter) { return &waiter.thread == &thread; });
    queue = queue->second.empty() ? queues_.erase(queue) : std::next(queue);
  }
}

} // namespace umwelt::job
