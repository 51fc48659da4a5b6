// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/thread.h"

#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

Thread::Thread(Rank& of, unsigned n) : rank(of), number(n), look_again(*this)
{
}

Thread::~Thread() = default;

void Thread::choose_core()
{
  rank.job.cores().choose(rank.node, place);
}

SimTime Thread::spend(SimTime work)
{
  if (channel && channel->computing())
    return channel->finish_burst(work);
  const SimTime begin = rank.job.scheduler().now();
  choose_core();
  rank.job.cores().at(rank.node, place.core).spend(work, &place);
  return begin;
}

void Thread::LookAgain::fire()
{
  if (thread.poll.parked)
    thread.rank.job.scheduler().wake(*thread.actor);
}

} // namespace umwelt::job
