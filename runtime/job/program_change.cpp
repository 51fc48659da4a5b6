// SPDX-License-Identifier: LGPL-2.1-or-later
// execve(2) of a rank, as far as the simulation is concerned: the process with its pid, its date, its descriptors and what waits for it
// stays; what belonged to the old program goes.
#include "runtime/world/program_change.h"

#include <cerrno>

#include <fmt/format.h>

#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/portals/process.h"

namespace umwelt::job
{

int Job::may_change_program(Rank& rank)
{
  const char* why = nullptr;
  if (rank.joined || rank.portals->initialised())
    why = "it has begun to communicate (MPI_Init, PMIx_Init, PtlInit), and its network interface would go with the old "
          "program";
  else if (&rank.running() != &rank.main())
    why = "another thread than the main one asks for it";
  if (why == nullptr)
    return 0;
  warn(rank,
       fmt::format("exec refused (ENOSYS): {}. Next step: exec before MPI_Init and from the main thread, or start the "
                   "program as a child",
                   why));
  return -ENOSYS;
}

void Job::changed_program(Rank& rank, const world::ProgramChange& change)
{
  for (const auto& thread : rank.threads)
    if (thread->actor != scheduler_.current() && !thread->ended()) {
      end_elsewhere(rank, *thread);
      rank.falls_asleep(*thread);
    }
  shared_memory_.forget(rank);
  sysv_.program_changed(rank);
  rank.timers.stop();
  rank.program_changed();
  change.apply(rank.world);
  files_.ended(rank); // made again when they are asked for
  polling_.progress();
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
