// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/path_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace umwelt::rank_host
{

namespace
{

constexpr double step_cost = 3 * sim::microsecond; // of counting
constexpr double small = 0.1;                      // part of a path's time
// What it may cost per burst, in the beginning and afterwards.
constexpr std::uint64_t early_steps = 150'000;
constexpr std::uint64_t early_steps_per_burst = 40;
constexpr std::uint64_t bursts_per_step = 2;
constexpr double least_step = 1000; // ps that one takes here, not counted: tells what counting will cost
constexpr double important = 0.004; // part of the time of all short bursts, from which on a path is worth it
// Bursts from one place may end at several; tries to count one of them.
constexpr unsigned tries = 3;
constexpr std::uint64_t rarely = 8;        // then again when it has been seen so much more often: a part
constexpr double enough_counts = 3;        // times a path is counted at first, then
constexpr std::uint64_t count_again = 4;   // when it has been seen so many times as often;
constexpr double steady_counts = 2;        // if these
constexpr double steady = 0.02;            // differ by no more than this part:
constexpr std::uint64_t steady_again = 16; // times as often
constexpr unsigned often_in_vain = 2;      // a path may have something else to do once
constexpr double memory = 8;               // bursts, counts: what came before fades
constexpr double many = 256;               // bursts of all paths, likewise
// Beyond this many times the typical time, a burst has done something else besides; but not if it takes little more:
// caches that others have filled meanwhile cost that, too.
constexpr double far_longer = 4;
constexpr double cold = 20 * sim::microsecond;
constexpr double colder_than_usual = 12; // times what cold caches cost on average
// Of a path's time, here, the part that is taken for the host's (interrupts, other virtual machines), which strike at
// every path alike: at least this, some hundred times a second for some 50 us; so many times what they take of other
// paths, if that is more, but never most of it.
constexpr double least_share = 0.03;
constexpr double share_of_others = 4;
constexpr double most_share = 0.3;
// And that of paths that have hardly any time: at least this, or twice the longest that has struck another path, up to
// what a virtual machine is stopped for.
constexpr double hosts_once = 100 * sim::microsecond;
constexpr double once_of_others = 2;
constexpr double most_once = 3 * sim::millisecond;
constexpr double several_paths = 0.5; // counts that differ by more than this part are not of one path
// The typical time, up or down: perhaps another path by now. A steady one more probably finds other caches.
constexpr double moved = 1.4;
constexpr double steady_moved = 3;
constexpr std::uint64_t soon = 8; // times first_seen, until a path is counted again that has become a long one

} // namespace

std::uint64_t PathTimes::key(PathEnd from, PathEnd to)
{
  return (from ^ (to >> 29)) * 0x9e3779b97f4a7c15 ^ to;
}

bool PathTimes::Path::is_steady() const
{
  return counts >= steady_counts && std::sqrt(variance) <= steady * mean;
}

bool PathTimes::Path::has_moved(double since) const
{
  const double much = is_steady() ? steady_moved : moved;
  return typical > since * much || typical < since / much;
}

bool PathTimes::Path::is_countable() const
{
  return in_vain < often_in_vain;
}

double PathTimes::own_part(Path& path, double beyond)
{
  path.besides += beyond;
  path.left_out += beyond;
  const auto of_path = std::ranges::find(longest_beyond_, &path, &Longest::path);
  Longest& record =
      of_path != longest_beyond_.end() ? *of_path : *std::ranges::min_element(longest_beyond_, {}, &Longest::beyond);
  if (beyond > record.beyond)
    record = {beyond, &path};
  if (path.besides <= hosts_once + least_share * path.total)
    return 0;
  double of_others = 0;
  for (const Longest& each : longest_beyond_)
    if (each.path != &path)
      of_others = std::max(of_others, each.beyond);
  const double once = std::clamp(once_of_others * of_others, hosts_once, most_once);
  return path.besides > once + hosts_share(path) * path.total ? std::exchange(path.left_out, 0) : 0;
}

double PathTimes::hosts_share(const Path& but) const
{
  std::vector<std::pair<double, double>> shares; // of each path, and its time
  double total = 0;
  for (const Path* const path : known_) {
    if (path == &but || path->total == 0)
      continue;
    shares.emplace_back(path->besides / path->total, path->total);
    total += path->total;
  }
  std::ranges::sort(shares);
  double median = 0; // by time: the few paths that have work of their own do not tell
  for (double below = 0; const auto& [share, time] : shares) {
    below += time;
    median = share;
    if (below >= total / 2)
      break;
  }
  return std::clamp(share_of_others * median, least_share, most_share);
}

bool PathTimes::affordable(const Due& due) const
{
  return due.is_worth_it ||
         steps_ + due.steps <= std::min(early_steps, bursts_ * early_steps_per_burst) + bursts_ / bursts_per_step;
}

bool PathTimes::wants_count(PathEnd from)
{
  if (due_.empty() || from == 0) [[likely]]
    return false;
  const auto due = due_.find(from);
  if (due == due_.end() || !affordable(due->second))
    return false;
  if (--due->second.tries == 0)
    due_.erase(due);
  return true;
}

Burst PathTimes::charge(PathEnd from, PathEnd to, sim::SimTime measured)
{
  if (from == 0 || to == 0)
    return {measured};
  ++bursts_;
  const std::uint64_t key = PathTimes::key(from, to);
  Path& path = paths_[key];
  if (path.others == nullptr)
    path.others = (from & to & a_look) != 0 ? &between_looks_ : &between_calls_;
  ++path.seen;
  const auto time = static_cast<double>(measured);
  const double before = path.typical;
  path.typical =
      path.seen == 1 ? time : before + (std::clamp(time, before / far_longer, before * far_longer) - before) / memory;
  if (!path.is_countable() || (path.counts == 0 && is_long(path)))
    return {measured};
  path.total += time;
  ++path.timed;
  total_ += time;
  const auto most = static_cast<double>(longest);
  const bool is_long_by_now =
      path.typical > most && path.when_asked < most && path.seen >= path.counted_at + soon * first_seen;
  const bool has_moved =
      path.counts > 0 && ((path.seen >= path.counted_at * 2 && path.has_moved(path.when_asked)) || is_long_by_now);
  if (has_moved) { // what is counted now is to tell more than what was before
    path.when_asked = path.typical;
    path.counts = std::min(path.counts, 1.0);
  }
  if ((path.seen >= path.next_count && path.total >= important * total_) || has_moved) {
    const double steps = path.counts > 0 ? path.steps : like_others(path, path.typical) / least_step;
    const bool is_worth_it = path.counts == 0 && steps * step_cost <= small * path.total;
    due_[from] = {key, tries, static_cast<std::uint64_t>(steps), is_worth_it};
    path.next_count = std::max(path.next_count, path.seen + std::max(first_seen, path.seen / rarely)); // if none is it
  }
  const double beyond = time - path.typical;
  const double besides =
      time > far_longer * path.typical && beyond > std::max(path.others->coldest(), cold) ? beyond : 0;
  if (path.counts == 0) {
    const double added = besides > 0 ? own_part(path, besides) : 0;
    return {static_cast<sim::SimTime>(like_others(path, time - besides) + added), 0, 0,
            static_cast<sim::SimTime>(besides - added)};
  }
  if (is_long(path))
    return {measured};
  path.others->charged += (path.mean - path.others->charged) / many;
  path.others->measured += (std::min(time, far_longer * path.typical) - path.others->measured) / many;
  const double doubt = std::sqrt(path.variance);
  if (doubt > several_paths * path.mean) {
    const double learned =
        std::min(time, far_longer * path.typical) * path.mean * static_cast<double>(path.timed) / path.total;
    return {static_cast<sim::SimTime>(learned), static_cast<sim::SimTime>(learned), static_cast<sim::SimTime>(doubt)};
  }
  const double added = besides > 0 ? own_part(path, besides) : 0;
  return {static_cast<sim::SimTime>(path.mean + added), static_cast<sim::SimTime>(path.mean),
          static_cast<sim::SimTime>(doubt), static_cast<sim::SimTime>(besides - added)};
}

double PathTimes::Others::coldest() const
{
  return colder_than_usual * (measured - charged);
}

double PathTimes::like_others(const Path& path, double measured)
{
  const double part = std::min(measured, std::max(path.others->coldest(), static_cast<double>(longest)));
  const double ratio = path.others->measured > 0 ? std::min(path.others->charged / path.others->measured, 1.0) : 1.0;
  return measured - part * (1 - ratio);
}

// One that has been counted is known to be short, unless its bursts take longer than then.
bool PathTimes::is_long(const Path& path)
{
  if (path.counts == 0)
    return like_others(path, path.typical) > static_cast<double>(longest);
  return path.typical - path.mean > std::max(path.others->coldest(), cold) && path.typical > path.at_count &&
         path.has_moved(path.at_count);
}

Burst PathTimes::charge_counted(PathEnd from, PathEnd to, const Count& count)
{
  steps_ += count.steps;
  if (from == 0 || to == 0)
    return {count.time, count.time};
  Path& path = counted(from, to);
  if (path.counts == 0)
    known_.push_back(&path);
  path.counts = std::min(path.counts + 1, memory);
  const auto time = static_cast<double>(count.time);
  const double off = time - path.mean;
  path.mean += off / path.counts;
  path.variance += (off * (time - path.mean) - path.variance) / path.counts;
  path.steps = static_cast<double>(count.steps);
  path.at_count = path.when_asked = path.typical;
  path.counted_at = path.seen;
  path.next_count = path.is_steady()              ? path.seen * steady_again
                    : path.counts < enough_counts ? path.seen + first_seen
                                                  : path.seen * count_again;
  return {count.time, count.time, static_cast<sim::SimTime>(std::sqrt(path.variance))};
}

void PathTimes::cannot_count(PathEnd from, PathEnd to, std::uint64_t steps)
{
  steps_ += steps;
  if (from != 0 && to != 0)
    ++counted(from, to).in_vain;
}

PathTimes::Path& PathTimes::counted(PathEnd from, PathEnd to)
{
  const std::uint64_t key = PathTimes::key(from, to);
  if (const auto due = due_.find(from); due != due_.end() && due->second.path == key)
    due_.erase(due);
  return paths_[key];
}

} // namespace umwelt::rank_host
