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
constexpr unsigned most_spins = 3; // of these rounds, for a rank that spins: each costs it many milliseconds
constexpr SimTime shortest_step = sim::microsecond;
constexpr SimTime longest_step = 10 * sim::microsecond;
constexpr SimTime step_fraction = 64;
constexpr SimTime poll_interval = 100 * sim::nanosecond; // of a native poll loop, to say how many were saved

} // namespace

void Polling::productive(Rank& rank)
{
  rank.poll.empty = 0;
  rank.poll.computed = false;
  rank.statistics.polls_answered += std::exchange(rank.gate.quick_polls, 0);
  progress();
}

void Polling::changed(Rank& rank)
{
  rank.poll.empty = 0;
  rank.statistics.polls_answered += std::exchange(rank.gate.quick_polls, 0);
}

bool Polling::empty(Rank& rank)
{
  PollState& poll = rank.poll;
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
    ++rank.statistics.polls_answered;
    return false;
  }
  SimTime deadline = sim::never;
  if (looked)
    deadline = now + std::clamp((now - poll.since) / step_fraction, shortest_step, longest_step);
  poll.parked = deadline == sim::never;
  const bool woken = rank.wait(deadline, Rank::For::network);
  poll.parked = false;
  poll.computed = false;
  // What the looking itself cost has gone by while it waited.
  SimTime& debt = rank.gate.clock.debt_ps;
  debt = std::max<SimTime>(debt - (job_.scheduler().now() - now), 0);
  rank.statistics.polls_saved += static_cast<std::uint64_t>((job_.scheduler().now() - now) / poll_interval);
  return woken;
}

void Polling::spin(Rank& rank, std::uint64_t seen)
{
  job_.scheduler().yield();
  if (rank.poll.writes != seen)
    return;
  PollState& poll = rank.poll;
  if (job_.scheduler().current() != rank.main) {
    // What the main thread does to their common memory nobody says.
    rank.wait(job_.scheduler().now() + longest_step, Rank::For::network);
    return;
  }
  poll.since = job_.scheduler().now();
  poll.parked = poll.spins = true;
  rank.wait(sim::never, Rank::For::network);
  poll.parked = poll.spins = false;
  poll.empty = 0;
}

bool Polling::another_round()
{
  if (++rounds_ > most_rounds)
    return false;
  bool any = false;
  for (const auto& rank : job_.ranks())
    if (rank->poll.parked && (!rank->poll.spins || rounds_ <= most_spins)) {
      rank->poll.empty = 1; // not 0: it has been looking since poll.since
      rank->notify_network();
      any = true;
    }
  return any;
}

} // namespace umwelt::job
