// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/polling.h"

#include <algorithm>
#include <utility>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

constexpr std::uint64_t patience = UMW_QUICK_POLLS; // empty polls answered before the rank is blocked
constexpr unsigned most_rounds = 10'000;            // of all parked ranks without progress: a deadlock
constexpr unsigned most_rounds_in_all = 1'000'000;
constexpr unsigned spin_round = 50; // rounds that one of a loop without calls is worth: it lasts some milliseconds
constexpr SimTime shortest_step = sim::microsecond;
constexpr SimTime longest_step = 10 * sim::microsecond;
constexpr SimTime step_fraction = 64;
constexpr SimTime longest_neglect = sim::second; // of descriptors: who has not looked by then does not look at all
constexpr SimTime longest_look = 100 * sim::microsecond; // between looks at memory that is shared,
constexpr SimTime slowest_look = 10'000;                 // or this part of the time it has waited
constexpr SimTime poll_interval = 100 * sim::nanosecond; // of a native poll loop, to say how many were saved

} // namespace

void Polling::productive(Rank& rank)
{
  PollState& poll = rank.running().poll;
  poll.empty = 0;
  poll.computed = poll.idle = false;
  rank.statistics.polls_answered += std::exchange(rank.gate.quick_polls, 0);
  progress();
}

void Polling::changed(Rank& rank)
{
  ++rank.changed;
  for (Thread* thread : rank.awake)
    thread->poll.empty = 0;
  rank.statistics.polls_answered += std::exchange(rank.gate.quick_polls, 0);
}

SimTime Polling::patience_for_descriptors(const Rank& rank, SimTime waited)
{
  if (rank.running().descriptors_seen == rank.gate.descriptor_news || waited > longest_neglect)
    return sim::never;
  return std::clamp(waited / step_fraction, shortest_step, longest_step);
}

bool Polling::empty(Rank& rank)
{
  PollState& poll = rank.running().poll;
  const SimTime now = job_.scheduler().now();
  const bool looked = poll.looks != rank.gate.clock.looks;
  poll.looks = rank.gate.clock.looks;
  const std::uint64_t quick = std::exchange(rank.gate.quick_polls, 0);
  rank.statistics.polls_answered += quick;
  if (poll.computed)
    poll.empty = 0;
  poll.computed = false;
  if (poll.empty == 0)
    poll.since = now;
  poll.empty += quick + 1;
  if (poll.empty <= patience) {
    if (!poll.at_memory) // how often a loop is caught looking depends on when it was found out
      ++rank.statistics.polls_answered;
    return false;
  }
  if (rank.signal_due(rank.running()))
    return true;
  // Others have written to memory since it looked: it cannot have seen that if the burst in which it looked began before.
  if (!rank.memory_peers.empty() && rank.gate.changes != poll.changes && !rank.running().look_again.pending())
    return false;
  SimTime deadline = sim::never;
  if (looked)
    deadline = now + std::clamp((now - poll.since) / step_fraction, shortest_step, longest_step);
  deadline = std::min(deadline, now + std::min(patience_for_descriptors(rank, now - poll.since), sim::never - now));
  poll.idle = poll.idle || (!poll.at_memory && poll.empty > patience + quick + 1); // it has waited before
  poll.parked = deadline == sim::never;
  poll.let_go = false;
  const bool woken = poll.at_memory               ? spin(rank, deadline)
                     : !rank.memory_peers.empty() ? wait_for_peers(rank, deadline)
                                                  : rank.wait(deadline, Rank::For::network);
  poll.parked = false;
  poll.computed = false;
  // What the looking itself cost has gone by while it waited.
  SimTime& debt = rank.gate.clock.debt_ps;
  debt = std::max<SimTime>(debt - (job_.scheduler().now() - now), 0);
  rank.statistics.polls_saved += static_cast<std::uint64_t>((job_.scheduler().now() - now) / poll_interval);
  return woken;
}

// Those who share its memory may write to it without anybody noticing. It looks for that itself, which does not keep the simulation
// going.
bool Polling::wait_for_peers(Rank& rank, SimTime deadline)
{
  if (deadline != sim::never)
    return rank.wait(deadline, Rank::For::network);
  const SimTime now = job_.scheduler().now();
  const SimTime waited = now - rank.running().poll.since;
  const SimTime longest = std::max(longest_look, waited / slowest_look);
  const bool woken =
      rank.wait_in_background(now + std::clamp(waited / step_fraction, shortest_step, longest), Rank::For::network);
  if (woken || !rank.running().look_again.pending())
    return woken;
  return rank.wait(sim::never, Rank::For::network); // what others have told of its core does not see before that
}

void Polling::nothing_to_tell(Rank& rank)
{
  PollState& poll = rank.running().poll;
  if (std::exchange(poll.acted, false))
    poll.empty = 0;
  empty(rank);
}

void Polling::park(Rank& rank, std::uint64_t seen)
{
  if (rank.gate.changes != seen || rank.signal_due(rank.running()))
    return;
  PollState& poll = rank.running().poll;
  const SimTime now = job_.scheduler().now();
  poll.since = now;
  poll.parked = poll.at_memory = true;
  poll.let_go = false;
  const SimTime patience = patience_for_descriptors(rank, 0);
  spin(rank, patience == sim::never ? sim::never : now + patience);
  poll.parked = poll.at_memory = false;
  poll.computed = false;
  rank.statistics.polls_saved += static_cast<std::uint64_t>((job_.scheduler().now() - now) / poll_interval);
}

void Polling::look_again(Rank& rank)
{
  PollState& poll = rank.running().poll;
  if (poll.empty == 0)
    poll.since = job_.scheduler().now();
  poll.empty = std::max(poll.empty, patience);
  empty(rank);
}

// Spinning is CPU time too, and a timer may count it.
bool Polling::spin(Rank& rank, SimTime deadline)
{
  const SimTime left = rank.timers.cpu_left();
  if (left == sim::never)
    return rank.wait(deadline, Rank::For::network);
  const SimTime begin = job_.scheduler().now();
  const bool woken = rank.wait(std::min(deadline, begin + left), Rank::For::network);
  rank.gate.clock.cpu_ps += job_.scheduler().now() - begin;
  rank.timers.cpu_passed();
  return woken;
}

void Polling::park_until_next(Rank& rank)
{
  job_.scheduler().yield();
  if (rank.signal_due(rank.running()))
    return;
  const SimTime next = job_.scheduler().timeline().next();
  if (next != sim::never)
    rank.wait(next, Rank::For::network);
}

bool Polling::another_round()
{
  if (++rounds_ > most_rounds || ++all_rounds_ > most_rounds_in_all)
    return false;
  bool any = false;
  bool spins = false;
  for (const auto& rank : job_.ranks())
    for (const auto& thread : rank->threads)
      if (thread->poll.parked) {
        thread->poll.empty = 1; // not 0: it has been looking since poll.since
        thread->poll.let_go = thread->poll.goes_round = true;
        spins = spins || (thread->poll.at_memory && !thread->poll.calls);
        job_.scheduler().wake(*thread->actor);
        any = true;
      }
  if (spins)
    rounds_ += spin_round - 1;
  return any;
}

} // namespace umwelt::job
