// SPDX-License-Identifier: LGPL-2.1-or-later
// Where ranks wait for each other outside of MPI: fences of PMI and PMIx, and meetings of ranks of several jobs.
#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

#include "runtime/job/job.h"
#include "runtime/job/pmi_socket.h"

namespace umwelt::job
{

namespace
{

std::vector<std::size_t> members_of(const JobFacts& facts)
{
  std::vector<std::size_t> members(facts.space->size);
  std::iota(members.begin(), members.end(), facts.space->first);
  return members;
}

} // namespace

int Job::fence(Rank& rank)
{
  return meet(rank, members_of(*rank.facts));
}

void Job::arrive_at_fence(Rank& rank)
{
  arrive(rank, members_of(*rank.facts));
}

int Job::meet(Rank& rank, const std::vector<std::size_t>& members)
{
  const std::shared_ptr<bootstrap::Meeting> meeting = arrive(rank, members);
  while (!meeting->over) {
    rank.wait(sim::never);
    rank.act_on_signals();
  }
  return meeting->bereft ? -EOWNERDEAD : 0;
}

std::shared_ptr<bootstrap::Meeting> Job::arrive(Rank& rank, const std::vector<std::size_t>& members)
{
  keys_.commit(static_cast<std::size_t>(rank.index));
  std::shared_ptr<bootstrap::Meeting> meeting = meetings_.arrive(static_cast<std::size_t>(rank.index), members);
  if (bootstrap::Meetings::complete(*meeting))
    complete(meeting);
  return meeting;
}

void Job::complete(std::shared_ptr<bootstrap::Meeting> meeting)
{
  auto event = std::find_if(meetings_over_.begin(), meetings_over_.end(),
                            [](const MeetingOver& each) { return !each.pending(); });
  if (event == meetings_over_.end()) {
    meetings_over_.emplace_back(*this);
    event = meetings_over_.end() - 1;
  }
  std::set<std::uint32_t> nodes;
  for (const std::size_t member : meeting->members)
    nodes.insert(ranks_[member]->node);
  event->meeting = std::move(meeting);
  timeline_.schedule_in(*event, bootstrap::fence_time(nodes.size(), node_parameters_.daemon_hop));
}

void Job::meeting_over(bootstrap::Meeting& meeting)
{
  polling_.progress();
  meeting.over = true;
  const bootstrap::Namespace& space = namespaces_.of(meeting.members.front());
  const bool whole_job = meeting.members.size() == space.size && meeting.members.front() == space.first &&
                         meeting.members.back() == space.first + space.size - 1;
  for (const std::size_t member : meeting.members) {
    Rank& rank = *ranks_[member];
    if (whole_job)
      rank.pmi->fence_over();
    rank.notify_all();
  }
}

} // namespace umwelt::job
