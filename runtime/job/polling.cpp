// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/polling.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

constexpr std::uint64_t empty_poll_limit = UMW_QUICK_POLLS; // empty polls answered before the rank is blocked
// Polls in vain of all parked threads together, and of each at least, without progress: a deadlock. Of those who come
// back to where they have stood, and of others.
struct Enough {
  std::uint64_t in_all, each;
};
constexpr Enough enough_standing = {1 << 22, 80'000};
constexpr Enough enough_moving = {1 << 26, 1 << 22};
constexpr std::uint64_t most_rounds = 10'000; // of those who come back
constexpr std::uint64_t most_spins = 200;     // the same, in loops without calls: each lasts some milliseconds
constexpr unsigned most_rounds_in_all = 1'000'000;
constexpr unsigned final_rounds = 64;
constexpr unsigned rounds_before_longer = 64; // ones, twice as long,
constexpr unsigned most_doublings = 7;        // so often: 1,024 polls, less than a time slice
constexpr std::uint64_t crossing = 2;         // what a poll that crosses counts, which lasts longer
constexpr SimTime shortest_step = sim::microsecond;
constexpr SimTime longest_step = 10 * sim::microsecond;
constexpr SimTime step_fraction = 64;
constexpr SimTime longest_neglect = sim::second; // of descriptors: who has not looked by then does not look at all
constexpr SimTime longest_look = 100 * sim::microsecond; // between looks at memory that is shared,
constexpr SimTime slowest_look = 10'000;                 // or this part of the time it has waited
constexpr SimTime first_doubt = 20 * sim::microsecond;   // whether a rank that has polled in vain does wait,
constexpr SimTime next_doubt = 4;                        // and again after so many times that
constexpr SimTime poll_interval = 100 * sim::nanosecond; // of a native poll loop, to say how many were saved

} // namespace

void Polling::productive(Rank& rank)
{
  if (Details* const details = job_.details(); details != nullptr)
    details->path().found(static_cast<std::size_t>(rank.index));
  PollState& poll = rank.running().poll;
  poll.empty = 0;
  poll.computed = poll.idle = false;
  rank.statistics.polls_answered += std::exchange(rank.gate.quick_polls, 0);
  end_rounds(rank);
  progress();
}

void Polling::changed(Rank& rank)
{
  ++rank.changed;
  for (Thread* thread : rank.awake)
    thread->poll.empty = 0;
  rank.statistics.polls_answered += std::exchange(rank.gate.quick_polls, 0);
  end_rounds(rank);
}

void Polling::end_rounds(Rank& rank)
{
  rank.gate.most_quick_polls = empty_poll_limit;
  rank.gate.shows_state = 0;
}

SimTime Polling::wait_for_descriptors(const Rank& rank, SimTime waited)
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
  if (poll.computed && rank.gate.shows_state == 0) // else it has looked all the time, as it was let
    poll.empty = 0;
  poll.computed = false;
  if (poll.empty == 0)
    poll.since = now;
  poll.empty += quick + 1;
  if (rank.gate.shows_state != 0 && !poll.at_memory)
    went_round(rank, poll, quick);
  if (poll.empty <= (poll.at_memory ? empty_poll_limit : rank.gate.most_quick_polls)) {
    if (!poll.at_memory) // how often a loop is caught looking depends on when it was found out
      ++rank.statistics.polls_answered;
    return false;
  }
  if (rank.signal_due(rank.running()))
    return true;
  // Others have written to memory since it looked: it cannot have seen that if the burst in which it looked began
  // before.
  if (!rank.memory_peers.empty() && rank.gate.changes != poll.changes && !rank.running().look_again.pending())
    return false;
  SimTime deadline = sim::never;
  if (looked)
    deadline = now + std::clamp((now - poll.since) / step_fraction, shortest_step, longest_step);
  deadline = std::min(deadline, now + std::min(wait_for_descriptors(rank, now - poll.since), sim::never - now));
  if (deadline != sim::never)
    end_rounds(rank);
  poll.idle = poll.idle || (!poll.at_memory && poll.empty > empty_poll_limit + quick + 1); // it has waited before
  poll.parked = deadline == sim::never;
  poll.forced_wakeup = false;
  const bool woken = poll.at_memory               ? spin(rank, deadline)
                     : !rank.memory_peers.empty() ? wait_for_peers(rank, deadline)
                                                  : wait_for_network(rank, deadline);
  poll.parked = false;
  poll.computed = false;
  // What the looking itself cost has gone by while it waited.
  SimTime& debt = rank.gate.clock.debt_ps;
  debt = std::max<SimTime>(debt - (job_.scheduler().now() - now), 0);
  rank.statistics.polls_saved += static_cast<std::uint64_t>((job_.scheduler().now() - now) / poll_interval);
  return woken;
}

// Those who share its memory may write to it without anybody noticing. It looks for that itself, which does not keep
// the simulation going.
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

bool Polling::wait_for_network(Rank& rank, SimTime deadline)
{
  if (deadline != sim::never)
    return rank.wait(deadline, Rank::For::network);
  const SimTime now = job_.scheduler().now();
  const SimTime longer = (now - rank.running().poll.since) * (next_doubt - 1);
  return rank.wait_in_background(now + std::max(first_doubt, longer), Rank::For::network);
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
  poll.forced_wakeup = false;
  const SimTime wait = wait_for_descriptors(rank, 0);
  spin(rank, wait == sim::never ? sim::never : now + wait);
  poll.parked = poll.at_memory = false;
  poll.computed = false;
  rank.statistics.polls_saved += static_cast<std::uint64_t>((job_.scheduler().now() - now) / poll_interval);
}

void Polling::look_again(Rank& rank)
{
  PollState& poll = rank.running().poll;
  if (poll.empty == 0)
    poll.since = job_.scheduler().now();
  poll.empty = std::max(poll.empty, empty_poll_limit);
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

void Polling::went_round(Rank& rank, PollState& poll, std::uint64_t quick) const
{
  if (poll.era != era_)
    return;
  poll.vain += quick + crossing;
  if (std::exchange(rank.gate.shows_state, 2U) == 1) // once in a round: stacks may be deep
    poll.recurrence.add(rank.gate.poll_state);
}

void Polling::force_wakeup(Rank& rank, Thread& thread, std::uint64_t least)
{
  PollState& poll = thread.poll;
  poll.vain += least;
  poll.empty = 1; // not 0: it has been looking since poll.since
  poll.forced_wakeup = poll.goes_round = true;
  rank.gate.most_quick_polls = empty_poll_limit << std::min(rounds_ / rounds_before_longer, most_doublings);
  if (!poll.at_memory) // whether those get on is told by their single steps (rank_host/slices.h)
    rank.gate.shows_state = 1;
  job_.scheduler().wake(*thread.actor);
}

bool Polling::another_round()
{
  if (++all_rounds_ > most_rounds_in_all)
    return false;
  std::uint64_t parked = 0;
  std::uint64_t move = 0;
  for (const auto& rank : job_.ranks())
    for (const auto& thread : rank->threads)
      if (thread->poll.parked) {
        ++parked;
        move += thread->poll.recurrence.new_ground() ? 1 : 0;
      }
  if (parked == 0)
    return false;
  const std::uint64_t standing = std::max(enough_standing.in_all / parked, enough_standing.each);
  const std::uint64_t moving = std::max(enough_moving.in_all / std::max<std::uint64_t>(move, 1), enough_moving.each);
  ++rounds_;
  bool hope = false;
  const auto round = [&](bool all) {
    for (const auto& rank : job_.ranks())
      for (const auto& thread : rank->threads) {
        PollState& poll = thread->poll;
        if (!poll.parked)
          continue;
        if (poll.era != era_) {
          poll.era = era_;
          poll.vain = 0;
          poll.recurrence = {};
        }
        const bool hopeful = poll.vain < (poll.recurrence.new_ground() ? moving : standing);
        if (hopeful || all)
          force_wakeup(*rank, *thread, standing / (poll.at_memory && !poll.calls ? most_spins : most_rounds));
        hope = hope || hopeful;
      }
  };
  round(
      std::has_single_bit(rounds_)); // what has got on may have written to memory that those look at who have given up
  if (hope)
    return true;
  if (++last_rounds_ > final_rounds)
    return false;
  round(true);
  return true;
}

} // namespace umwelt::job
