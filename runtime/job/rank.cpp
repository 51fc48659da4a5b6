// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/rank.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/job/job.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/standard_output.h"

namespace umwelt::job
{

namespace
{
// A burst of this length between two polls is work of the program, not the library's way of looking.
constexpr SimTime work = 5 * sim::microsecond;
constexpr SimTime longest_debt = 5 * sim::microsecond;
} // namespace

Rank::Rank(Job& owner, int rank) : job(owner), index(rank)
{
}

Rank::~Rank() = default;

std::string Rank::title() const
{
  return fmt::format("rank {} ({})", index, gate.host_name);
}

void Rank::enter(bool looks)
{
  umw_clock& clock = gate.clock;
  const bool looked = clock.looks != poll.looks;
  const SimTime burst = phase == Phase::loading ? 0 : job.cpu().burst(clock.burst_start, looked);
  SimTime charge = clock.debt_ps;
  clock.debt_ps = 0;
  if (burst > 0) {
    charge += static_cast<SimTime>(static_cast<double>(burst) / speed);
    poll.computed = poll.computed || burst >= work;
  }
  // What the program has seen of the time has passed, even if the burst turns out shorter (it was interrupted) or is dropped.
  charge = std::max(charge, clock.shown_ps - clock.now_ps);
  ++statistics.crossings;
  if (charge <= 0)
    return;
  // In a constructor ld.so's lock is held, and others must not run into it.
  if (job.loading(*this) || (looks && charge < longest_debt)) {
    clock.debt_ps = charge;
    return;
  }
  spend(observe::RankState::compute, charge);
}

void Rank::spend(observe::RankState state, SimTime time)
{
  gate.clock.cpu_ps += time;
  (state == observe::RankState::compute ? statistics.compute : statistics.communication) += time;
  const SimTime now = job.scheduler().now();
  tell_trace(state, now, now + time);
  job.scheduler().sleep(time);
}

void Rank::tell_trace(observe::RankState state, SimTime from, SimTime to)
{
  if (observe::Trace* trace = job.plan().trace.get())
    trace->rank_spent(static_cast<std::uint32_t>(index), state, from, to);
}

void Rank::leave()
{
  job.use_folder_of(*this);
  gate.clock.now_ps = job.scheduler().now();
  gate.clock.burst_start = engine::BurstMeter::ticks();
}

template <class Block> bool Rank::wait_with(For what, Block block)
{
  engine::Scheduler& scheduler = job.scheduler();
  engine::Actor* self = scheduler.current();
  const SimTime begin = scheduler.now();
  if (self != main && poll.parked)
    notify_network(); // what this thread has written may be what the main thread looks for
  waiting_.push_back({self, what});
  const bool woken = block(scheduler);
  std::erase_if(waiting_, [self](const Waiting& waiting) { return waiting.actor == self; });
  if (self == main) {
    statistics.waiting += scheduler.now() - begin;
    tell_trace(observe::RankState::waiting, begin, scheduler.now());
  }
  return woken;
}

bool Rank::wait(SimTime deadline, For what)
{
  return wait_with(what, [deadline](engine::Scheduler& scheduler) { return scheduler.block(deadline); });
}

bool Rank::wait_in_background(SimTime deadline)
{
  return wait_with(For::anything,
                   [deadline](engine::Scheduler& scheduler) { return scheduler.block_in_background(deadline); });
}

void Rank::notify_network()
{
  for (const Waiting& waiting : waiting_)
    if (waiting.what == For::network)
      job.scheduler().wake(*waiting.actor);
}

void Rank::notify_all()
{
  for (const Waiting& waiting : waiting_)
    job.scheduler().wake(*waiting.actor);
}

} // namespace umwelt::job
