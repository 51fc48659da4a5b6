// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/failures.h"

#include <cerrno>
#include <set>

#include "runtime/job/job.h"

namespace umwelt::job
{

namespace
{

std::int64_t word_of(const Rank& dead)
{
  const bool by_signal = dead.end.signal != 0;
  const int status = by_signal ? exit_code::signalled + dead.end.signal : dead.end.status & 0xff;
  return std::int64_t{dead.number} | std::int64_t{status} << UMW_FAILURE_STATUS |
         std::int64_t{by_signal ? 1 : 0} << UMW_FAILURE_SIGNAL;
}

} // namespace

void Failures::add(const Rank& dead)
{
  std::set<std::uint32_t> nodes;
  for (const plan::RankPlace& place : dead.facts->places)
    nodes.insert(place.node);
  Word& word = words_.emplace_back(*this, dead);
  job_.scheduler().timeline().schedule_in(word, bootstrap::fence_time(nodes.size(), job_.node_parameters().daemon_hop));
}

void Failures::tell(const Rank& dead)
{
  told_[dead.facts].push_back(&dead);
  job_.polling().progress();
  for (const auto& rank : job_.ranks())
    if (rank->facts == dead.facts && rank->phase != Rank::Phase::ended)
      rank->notify_all();
}

// The handlers of the MPI library leave what they have to do to its event loop, which it looks at now and then while it
// waits for its network: as if something had come to a descriptor.
std::int64_t Failures::wait(Rank& rank, std::uint64_t seen)
{
  if (seen > 0)
    job_.descriptors_changed(rank);
  const std::vector<const Rank*>& told = told_[rank.facts];
  Thread& thread = rank.running();
  while (rank.joined && told.size() <= seen) {
    rank.falls_asleep(thread); // the others of the rank are as quick as without it
    rank.wait(sim::never);
    rank.wakes_up(thread);
    rank.act_on_signals();
  }
  if (!rank.joined)
    return -ESRCH;
  job_.polling().productive(rank);
  return word_of(*told[seen]);
}

} // namespace umwelt::job
