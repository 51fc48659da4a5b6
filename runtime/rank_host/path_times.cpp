// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/path_times.h"

#include <algorithm>
#include <cmath>

namespace umwelt::rank_host
{

namespace
{

// Counting costs some 2 us per instruction. What it may cost at once, and per burst afterwards.
constexpr std::uint64_t free_steps = 200'000;
constexpr std::uint64_t bursts_per_step = 8;
// Bursts from one place may end at several; tries to count one of them.
constexpr unsigned tries = 3;
constexpr std::uint64_t count_again = 4; // times as often seen,
constexpr double enough_counts = 3;      // when it has been counted so often
constexpr double memory = 8;             // bursts, counts: what came before fades
// Beyond this many times the typical time, a burst has done something else besides.
constexpr double far_longer = 4;
constexpr double moved = 1.4; // the typical time, up or down: perhaps another path by now

} // namespace

PathTimes::Path& PathTimes::path(PathEnd from, PathEnd to)
{
  return paths_[(from ^ (to >> 29)) * 0x9e3779b97f4a7c15 ^ to];
}

bool PathTimes::affordable() const
{
  return steps_ < free_steps + bursts_ / bursts_per_step;
}

bool PathTimes::wants_count(PathEnd from)
{
  if (due_.empty() || from == 0) [[likely]]
    return false;
  const auto due = due_.find(from);
  if (due == due_.end())
    return false;
  if (--due->second == 0)
    due_.erase(due);
  return affordable();
}

Burst PathTimes::charge(PathEnd from, PathEnd to, sim::SimTime measured)
{
  if (from == 0 || to == 0)
    return {measured};
  ++bursts_;
  Path& path = this->path(from, to);
  ++path.seen;
  const auto time = static_cast<double>(measured);
  const double before = path.typical;
  path.typical =
      path.seen == 1 ? time : before + (std::clamp(time, before / far_longer, before * far_longer) - before) / memory;
  if (path.uncountable || path.seen < first_seen || path.typical > static_cast<double>(longest))
    return {measured};
  const bool has_moved = path.counts > 0 && path.seen >= path.counted_at * 2 &&
                         (path.typical > path.at_count * moved || path.typical < path.at_count / moved);
  if (has_moved) { // what is counted now is to tell more than what was before
    path.at_count = path.typical;
    path.counts = std::min(path.counts, 1.0);
  }
  if (path.seen >= path.next_count || has_moved) {
    due_[from] = tries;
    path.next_count = std::max(path.next_count, path.seen + first_seen); // if none of them comes here
  }
  if (path.counts == 0)
    return {measured};
  const double learned = path.mean * per_instruction_;
  const double besides = time > far_longer * path.typical ? time - path.typical : 0;
  return {static_cast<sim::SimTime>(learned + besides), static_cast<sim::SimTime>(learned),
          static_cast<sim::SimTime>(std::sqrt(path.variance) * per_instruction_)};
}

Burst PathTimes::charge_counted(PathEnd from, PathEnd to, std::uint64_t instructions)
{
  steps_ += instructions;
  const auto count = static_cast<double>(instructions);
  const auto time = static_cast<sim::SimTime>(count * per_instruction_);
  if (from == 0 || to == 0)
    return {time, time};
  Path& path = this->path(from, to);
  path.counts = std::min(path.counts + 1, memory);
  const double off = count - path.mean;
  path.mean += off / path.counts;
  path.variance += (off * (count - path.mean) - path.variance) / path.counts;
  path.at_count = path.typical;
  path.counted_at = path.seen;
  path.next_count = path.counts < enough_counts ? path.seen + first_seen : path.seen * count_again;
  return {time, time, static_cast<sim::SimTime>(std::sqrt(path.variance) * per_instruction_)};
}

void PathTimes::cannot_count(PathEnd from, PathEnd to, std::uint64_t steps)
{
  steps_ += steps;
  if (from != 0 && to != 0)
    path(from, to).uncountable = true;
}

} // namespace umwelt::rank_host
