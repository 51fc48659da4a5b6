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

namespace
{

// `idle`: the thread has done nothing but look since it did so the last time. What it has done before that, others are
// told as it begins to wait, which may be later.
void begin_look(Rank& rank, bool idle)
{
  job::PollState& poll = rank.running().poll;
  poll.untold = poll.untold || !idle;
  poll.idle = !poll.untold;
  if (!idle)
    rank.job.polling().progress();
}

} // namespace

int umw_slice_park(Rank& rank, std::uint64_t seen, int idle)
{
  job::PollState& poll = rank.running().poll;
  poll.untold = poll.untold || !poll.idle || idle == 0;
  poll.idle = !poll.untold;
  rank.job.polling().park(rank, seen);
  poll.idle = true;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_slice_pause(Rank& rank, std::uint64_t seen, int idle)
{
  job::PollState& poll = rank.running().poll;
  begin_look(rank, idle != 0);
  poll.at_memory = true;
  if (rank.gate.changes == seen)
    // Where computing takes no time, a loop that counts its rounds in memory must get on.
    idle != 0 && rank_host::Cpu::measures(rank.gate.clock) ? rank.job.polling().look_again(rank)
                                                           : static_cast<void>(rank.job.polling().empty(rank));
  poll.at_memory = false;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_look_again(Rank& rank, std::uint64_t seen, int idle)
{
  rank.set_last_call("PtlAtomicSync");
  job::PollState& poll = rank.running().poll;
  begin_look(rank, idle != 0);
  poll.at_memory = poll.calls = true;
  if (rank.gate.changes == seen)
    rank.job.polling().look_again(rank);
  poll.at_memory = poll.calls = false;
  poll.idle = true;
  return std::exchange(poll.forced_wakeup, false);
}

int umw_slice_cut(Rank& rank, int)
{
  if (!rank_host::Cpu::measures(rank.gate.clock))
    rank.job.polling().park_until_next(rank);
  else
    rank.job.scheduler().yield();
  return 0;
}

} // namespace umwelt::gate::services
