// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/thread.h"

#include <algorithm>
#include <utility>

#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

Thread::Thread(Rank& of, unsigned n) : rank(of), number(n), look_again(*this)
{
}

Thread::~Thread() = default;

engine::Core& Thread::choose_core()
{
  return rank.job.cores().choose(rank.node, place);
}

SimTime Thread::spend(SimTime work)
{
  if (channel && channel->computing())
    return channel->finish_burst(work);
  const SimTime begin = rank.job.scheduler().now();
  choose_core().spend(work, &place);
  return begin;
}

void Thread::look_again_at(SimTime date, bool written)
{
  look_again.written = look_again.written || written;
  if (!look_again.pending()) {
    look_again.next = sim::never;
    rank.job.scheduler().timeline().schedule(look_again, date);
  } else if (date < look_again.when()) {
    look_again.next = std::max(look_again.when(), look_again.next == sim::never ? 0 : look_again.next);
    rank.job.scheduler().timeline().schedule(look_again, date);
  } else if (date > look_again.when()) {
    look_again.next = std::max(date, look_again.next == sim::never ? 0 : look_again.next);
  }
}

// What was written for the second date is in memory already and would be seen too early at the first, so the first waits for it, but only
// once. Who may have found something may have something for others in turn.
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
