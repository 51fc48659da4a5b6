// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops that look at memory: a thread that was interrupted in one, or asks for time to pass, is parked until something
// may have changed.
#include "runtime/gate/services.h"

#include <cstdint>
#include <utility>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;

int umw_slice_park(Rank& rank, std::uint64_t seen, int idle)
{
  job::PollState& poll = rank.running().poll;
  poll.idle = poll.idle && idle != 0;
  rank.job.polling().park(rank, seen);
  poll.idle = true;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_slice_pause(Rank& rank, std::uint64_t seen, int idle)
{
  job::PollState& poll = rank.running().poll;
  poll.idle = idle != 0;
  if (!poll.idle)
    rank.job.polling().progress();
  poll.at_memory = true;
  if (rank.gate.changes == seen)
    // Where computing takes no time, a loop that counts its rounds in memory must get on.
    poll.idle&& rank.job.cpu().measured() ? rank.job.polling().look_again(rank)
                                          : static_cast<void>(rank.job.polling().empty(rank));
  poll.at_memory = false;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_look_again(Rank& rank, std::uint64_t seen, int idle)
{
  rank.set_last_call("PtlAtomicSync");
  job::PollState& poll = rank.running().poll;
  poll.idle = idle != 0;
  if (!poll.idle)
    rank.job.polling().progress();
  poll.at_memory = poll.calls = true;
  if (rank.gate.changes == seen)
    rank.job.polling().look_again(rank);
  poll.at_memory = poll.calls = false;
  poll.idle = true;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_slice_cut(Rank& rank, int)
{
  if (!rank.job.cpu().measured())
    rank.job.polling().park_until_next(rank);
  else
    rank.job.scheduler().yield();
  return 0;
}

} // namespace umwelt::gate::services
