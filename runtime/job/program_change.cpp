// SPDX-License-Identifier: LGPL-2.1-or-later
// execve(2) of a rank, as far as the simulation is concerned: the process with its pid, its time, its descriptors and
// what waits for it stays; what belonged to the old program goes.
#include "runtime/rank_host/program_change.h"

#include <cerrno>

#include <fmt/format.h>

#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

int Job::may_change_program(Rank& rank)
{
  if (&rank.running() == &rank.main())
    return 0;
  warn(rank,
       "exec refused (ENOSYS): another thread than the main one asks for it. Next step: exec from the main thread, "
       "or start the program as a child");
  return -ENOSYS;
}

void Job::changed_program(Rank& rank, const rank_host::ProgramChange& change)
{
  for (const auto& thread : rank.threads)
    if (thread->actor != scheduler_.current() && !thread->ended()) {
      end_elsewhere(rank, *thread);
      rank.falls_asleep(*thread);
    }
  if (rank.portals->initialised()) { // its interface goes with the program, what others send there is lost
    rank.portals->detach();
    give_interface(rank);
  }
  if (rank.joined)
    rank.joined_before = true;
  shared_memory_.forget(rank);
  sysv_.program_changed(rank);
  rank.timers.stop();
  rank.program_changed();
  change.apply(rank.hosted);
  procfs::NodeFiles::ended(rank.session_directory, rank.gate.pid); // made again when they are asked for
  polling_.progress();
}

// As natively: the server knows a connection of the program before this one, and has lost it.
int Job::join(Rank& rank)
{
  if (rank.joined_before) {
    warn(rank, "PMIx_Init (MPI_Init) fails: the program before this one, which has executed it, has called it and not "
               "PMIx_Finalize (MPI_Finalize). Next step: exec before MPI_Init");
    return -EALREADY;
  }
  rank.joined = true;
  return 0;
}

// A thread ends where it is.
void Job::end_elsewhere(Rank& rank, Thread& thread)
{
  cores_.at(rank.node, thread.place.core).forget(*thread.actor);
  futexes_.forget(thread);
  shared_memory_.forget(*thread.actor);
  shared_objects_.forget(thread);
  if (thread.channel)
    thread.channel->close();
  scheduler_.kill(*thread.actor);
}

} // namespace umwelt::job
