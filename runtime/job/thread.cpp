// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/thread.h"

#include <algorithm>
#include <utility>

#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{
constexpr SimTime longest_lead = 5 * sim::microsecond;
}

Thread::Thread(Rank& of, unsigned n) : rank(of), number(n), look_again(*this)
{
}

Thread::~Thread()
{
  rank.job.scheduler().timeline().cancel(look_again);
}

engine::Core& Thread::choose_core()
{
  return rank.job.cores().choose(rank.node, place);
}

SimTime Thread::spend(SimTime work)
{
  catch_up();
  if (channel && channel->computing())
    return channel->finish_burst(work);
  const SimTime begin = rank.job.scheduler().now();
  choose_core().spend(work, &place);
  return begin;
}

SimTime Thread::spend_ahead(SimTime work)
{
  engine::Scheduler& scheduler = rank.job.scheduler();
  const SimTime now = scheduler.now();
  const SimTime begin = this->now();
  // One rank on the node with one thread that is awake: nobody else computes there or shares its memory.
  const bool alone = rank.gate.local_ranks == 1 && rank.awake.size() == 1 && !(channel && channel->overlaps());
  if (!alone || begin + work > now + longest_lead)
    return spend(work);
  if (begin > now || !scheduler.pass(work))
    ahead_until = begin + work;
  return begin;
}

void Thread::catch_up()
{
  engine::Scheduler& scheduler = rank.job.scheduler();
  if (ahead_until > scheduler.now())
    scheduler.sleep(ahead_until - scheduler.now());
}

SimTime Thread::now() const
{
  return std::max(rank.job.scheduler().now(), ahead_until);
}

void Thread::look_again_at(SimTime time, bool written)
{
  look_again.written = look_again.written || written;
  if (!look_again.pending()) {
    look_again.next = sim::never;
    rank.job.scheduler().timeline().schedule(look_again, time);
  } else if (time < look_again.when()) {
    look_again.next = std::max(look_again.when(), look_again.next == sim::never ? 0 : look_again.next);
    rank.job.scheduler().timeline().schedule(look_again, time);
  } else if (time > look_again.when()) {
    look_again.next = std::max(time, look_again.next == sim::never ? 0 : look_again.next);
  }
}

// What was written for the second time is in memory already and would be seen too early at the first, so the first
// waits for it, but only once. Who may have found something may have something for others in turn.
void Thread::LookAgain::fire()
{
  if (next != sim::never) {
    const bool again = std::exchange(put_off, !put_off);
    thread.rank.job.scheduler().timeline().schedule(*this, std::exchange(next, sim::never));
    if (!again)
      return;
  } else {
    put_off = false;
  }
  if (std::exchange(written, pending() && written)) {
    thread.poll.empty = 0;
    thread.poll.idle = false;
  }
  if (thread.poll.parked)
    thread.rank.job.scheduler().wake(*thread.actor);
}

} // namespace umwelt::job
