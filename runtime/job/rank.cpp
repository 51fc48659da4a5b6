// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/rank.h"

#include <algorithm>
#include <utility>

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
// A line written by one core is read by another: 60 to 110 ns within a socket of an EPYC 7763 (core-to-core latency).
constexpr SimTime coherence = 80 * sim::nanosecond;
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

Thread& Rank::running() const
{
  return *static_cast<Thread*>(job.scheduler().current()->owner);
}

void Rank::enter(bool looks)
{
  umw_clock& clock = gate.clock;
  Thread& thread = running();
  PollState& poll = thread.poll;
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
  Thread& thread = running();
  const SimTime begin = job.scheduler().now();
  thread.spend(time);
  if (thread.number == 0)
    tell_trace(state, begin, job.scheduler().now());
}

void Rank::pause_burst()
{
  if (!job.cpu().measured())
    return;
  const SimTime burst = job.cpu().burst(gate.clock.burst_start, true);
  gate.clock.debt_ps += static_cast<SimTime>(static_cast<double>(burst) / speed);
}

void Rank::resume_burst()
{
  job.cpu().skip();
  gate.clock.burst_start = engine::BurstMeter::ticks();
}

void Rank::tell_trace(observe::RankState state, SimTime from, SimTime to)
{
  if (observe::Trace* trace = job.plan().trace.get())
    trace->rank_spent(static_cast<std::uint32_t>(index), state, from, to);
}

void Rank::leave()
{
  const Thread& thread = running();
  if (threads.size() > 1)
    notify_parked(thread); // what this thread has written may be what they look for
  job.use_folder_of(*this);
  gate.core = static_cast<std::int32_t>(thread.core);
  gate.tid = thread.tid;
  gate.kernel_tid = thread.donor.kernel_id();
  gate.clock.now_ps = job.scheduler().now();
  gate.clock.burst_start = engine::BurstMeter::ticks();
}

template <class Block> bool Rank::wait_with(For what, Block block)
{
  engine::Scheduler& scheduler = job.scheduler();
  const Thread& self = running();
  const SimTime begin = scheduler.now();
  if (threads.size() > 1)
    notify_parked(self);
  waiting_.push_back({self.actor, what});
  const SimTime debt = std::exchange(gate.clock.debt_ps, 0); // this thread's own
  const bool woken = block(scheduler);
  gate.clock.debt_ps = debt;
  std::erase_if(waiting_, [&self](const Waiting& waiting) { return waiting.actor == self.actor; });
  if (self.number == 0) {
    statistics.waiting += scheduler.now() - begin;
    tell_trace(observe::RankState::waiting, begin, scheduler.now());
  }
  return woken;
}

void Rank::notify_parked(const Thread& but)
{
  if (but.poll.idle)
    return;
  ++changes;
  sim::Timeline& timeline = job.scheduler().timeline();
  for (const auto& thread : threads)
    if (thread->poll.parked && thread.get() != &but && !thread->look_again.pending())
      timeline.schedule_in(thread->look_again, coherence);
}

void Rank::memory_changed()
{
  ++changes;
  for (const auto& thread : threads)
    if (thread->poll.at_memory)
      job.scheduler().wake(*thread->actor);
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
    if (waiting.what != For::itself)
      job.scheduler().wake(*waiting.actor);
}

} // namespace umwelt::job
