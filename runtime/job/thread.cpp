// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/thread.h"

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

void Thread::spend(SimTime work)
{
  Cores& cores = rank.job.cores();
  // As the kernel's load balancing does: off to a core that fewer compute on.
  if (allowed.size() > 1 && cores.at(rank.node, core).load() > 0)
    for (const unsigned other : allowed)
      if (cores.at(rank.node, other).load() < cores.at(rank.node, core).load())
        core = other;
  cores.at(rank.node, core).spend(work);
}

void Thread::LookAgain::fire()
{
  if (thread.poll.parked)
    thread.rank.job.scheduler().wake(*thread.actor);
}

} // namespace umwelt::job
