// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/critical_path.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace umwelt::job
{

using sim::SimTime;

namespace
{

constexpr std::size_t as_it_is = observe::path_kinds;   // questions: one for each kind, this, one for each rank
constexpr SimTime longest_look = 10 * sim::microsecond; // of a loop that waits, in between
constexpr std::size_t most_segments = 1000;
constexpr auto bandwidth = static_cast<std::size_t>(observe::PathKind::bandwidth);
constexpr auto contention = static_cast<std::size_t>(observe::PathKind::contention);

} // namespace

CriticalPath::CriticalPath(std::vector<std::uint32_t> nodes, Way way)
    : ranks_(nodes.size()), way_(std::move(way)), single_ranks_(nodes.size() <= most_single_ranks ? nodes.size() : 0)
{
  nics_.resize(nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end()) + 1);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].node = nodes[i];
    ranks_[i].now.clocks.assign(as_it_is + 1 + single_ranks_, 0);
    ranks_[i].now.stretch = new_stretch(i);
  }
}

CriticalPath::Stretch::~Stretch()
{
  if (count)
    --*count;
  std::shared_ptr<Stretch> next = std::move(before);
  while (next != nullptr && next.use_count() == 1)
    next = std::exchange(next->before, nullptr);
}

std::shared_ptr<CriticalPath::Stretch> CriticalPath::new_stretch(std::size_t rank)
{
  auto stretch = std::make_shared<Stretch>();
  stretch->rank = rank;
  stretch->count = stretches_;
  ++*stretches_;
  return stretch;
}

void CriticalPath::keep(Rank& rank)
{
  rank.past.push_back(rank.now);
  if (rank.past.size() > marks)
    rank.past.pop_front();
}

CriticalPath::Mark CriticalPath::mark_at(const Rank& rank, SimTime time) const
{
  const auto next = std::upper_bound(rank.past.begin(), rank.past.end(), time,
                                     [](SimTime t, const Mark& mark) { return t < mark.at; });
  if (next == rank.past.begin()) // longer ago than is known
    return rank.past.empty() ? rank.now : rank.past.front();
  const Mark& before = *std::prev(next);
  const Mark& after = next == rank.past.end() ? rank.now : *next;
  Mark mark = before;
  if (after.stretch != before.stretch || after.at <= before.at || time <= before.at)
    return mark; // between both it waited for what began the other stretch
  const double share = std::min(1.0, static_cast<double>(time - before.at) / static_cast<double>(after.at - before.at));
  const auto between = [share](SimTime a, SimTime b) { return a + std::llround(share * static_cast<double>(b - a)); };
  mark.at = time;
  for (std::size_t i = 0; i < mark.clocks.size(); ++i)
    mark.clocks[i] = between(before.clocks[i], after.clocks[i]);
  for (std::size_t i = 0; i < kinds; ++i)
    mark.done[i] = between(before.done[i], after.done[i]);
  return mark;
}

CriticalPath::Times CriticalPath::parts(const Alone& alone, bool within_node, std::uint64_t bytes, SimTime whole,
                                        SimTime trips)
{
  Times parts{};
  const auto take = [&whole, &parts](Kind kind, SimTime most) {
    const SimTime taken = std::clamp<SimTime>(most, 0, whole);
    parts[static_cast<std::size_t>(kind)] = taken;
    whole -= taken;
  };
  const double rate = alone.from_end_to_end.bandwidth;
  take(Kind::latency, trips * alone.links);
  take(Kind::nic, trips * (alone.from_end_to_end.latency - alone.links));
  take(Kind::bandwidth, rate > 0 ? std::llround(static_cast<double>(bytes) / rate * sim::second) : SimTime{0});
  parts[static_cast<std::size_t>(within_node ? Kind::other : Kind::contention)] += whole;
  return parts;
}

// What of a way takes time in a question. Who waits for others on links waits for their bytes.
SimTime CriticalPath::left(std::size_t question, const Times& way) const
{
  SimTime sum = 0;
  for (std::size_t i = 0; i < kinds; ++i)
    if (i != question && (question != bandwidth || i != contention))
      sum += way[i];
  return sum;
}

// The rank's clock of the question "as it is" shows the time, but for a wait that is not over: what nobody has told of
// counts in every question.
void CriticalPath::set_to(Rank& rank, SimTime now)
{
  const SimTime by = now - rank.idle - rank.now.clocks[as_it_is];
  for (SimTime& clock : rank.now.clocks)
    clock += by;
  rank.now.at = now;
}

void CriticalPath::go_on(Rank& rank, Kind kind, SimTime time, SimTime until)
{
  if (until <= rank.now.at) // somebody else has told of that time
    return;
  time = std::min(time, until - rank.now.at);
  rank.now.done[static_cast<std::size_t>(Kind::other)] += until - rank.now.at - time; // it slept before
  rank.now.done[static_cast<std::size_t>(kind)] += time;
  set_to(rank, until);
  rank.now.clocks[static_cast<std::size_t>(kind)] -= time;
  if (kind == Kind::computing && single_ranks_ > 0)
    rank.now.clocks[as_it_is + 1 + static_cast<std::size_t>(&rank - ranks_.data())] -= time;
  keep(rank);
}

// It did not wait for something that came: time went by.
void CriticalPath::pass_idle(Rank& rank)
{
  if (const SimTime idle = std::exchange(rank.idle, 0); idle > 0) {
    const SimTime now = rank.now.at;
    rank.now.at -= idle;
    go_on(rank, Kind::other, idle, now);
  }
}

void CriticalPath::spent(std::size_t index, observe::RankState state, SimTime from, SimTime until)
{
  if (index >= ranks_.size())
    return; // started by others
  Rank& rank = ranks_[index];
  if (until - from > longest_look)
    pass_idle(rank);
  go_on(rank, state == observe::RankState::compute ? Kind::computing : Kind::software, until - from, until);
}

void CriticalPath::arrive(Rank& rank, const Rank& sender, std::uint32_t source, SimTime began, std::uint64_t bytes,
                          SimTime trips, SimTime now)
{
  const Alone alone = way_(source, rank.node);
  const Times way = parts(alone, source == rank.node, bytes, std::max(now, began) - began, trips);
  Arrival& arrival = rank.arrival;
  Mark mark = mark_at(sender, began);
  if (!arrival.any)
    arrival.clocks.assign(mark.clocks.size(), 0);
  for (std::size_t i = 0; i < mark.clocks.size(); ++i) {
    SimTime clock = mark.clocks[i] + left(i, way);
    if (i == bandwidth && source != rank.node) {
      const SimTime gap = alone.from_end_to_end.gap;
      if (trips > 1) // it has asked
        for (SimTime* const busy : {&nics_[rank.node].out, &nics_[source].in})
          *busy = std::max(*busy, mark.clocks[i]) + gap;
      const SimTime queued = std::max(nics_[source].out, nics_[rank.node].in) + gap;
      clock = std::max(clock, std::min(queued, mark.clocks[i] + left(as_it_is, way))); // no longer than it did
      nics_[source].out = nics_[rank.node].in = clock;
    }
    arrival.clocks[i] = std::max(arrival.clocks[i], clock);
  }
  arrival.any = true;
  arrival.of_others = &rank != &sender;
  arrival.at = now;
  arrival.sender = std::move(mark);
  arrival.began = began;
  arrival.way = way;
}

void CriticalPath::came(std::size_t rank, std::size_t source, SimTime began, std::uint64_t bytes, SimTime now)
{
  if (rank >= ranks_.size() || source >= ranks_.size())
    return;
  const Rank& sender = ranks_[source];
  arrive(ranks_[rank], sender, sender.node, began, bytes, 1, now);
}

void CriticalPath::answered(std::size_t rank, std::size_t other, SimTime began, std::uint64_t bytes, SimTime now)
{
  if (rank >= ranks_.size() || other >= ranks_.size())
    return;
  Rank& asker = ranks_[rank];
  arrive(asker, asker, ranks_[other].node, began, bytes, 2, now);
}

void CriticalPath::waited(std::size_t index, SimTime from, SimTime until, Wait how)
{
  if (index >= ranks_.size())
    return;
  Rank& rank = ranks_[index];
  const Arrival& arrival = rank.arrival;
  if (how == Wait::elapsed || !arrival.any || arrival.at < from) {
    if (how != Wait::polls || rank.idle == 0 || from - rank.now.at > longest_look) {
      pass_idle(rank);
      go_on(rank, Kind::other, 0, from);
    }
    rank.idle += until - std::min(from, rank.now.at);
    rank.now.at = until;
    if (how != Wait::polls)
      pass_idle(rank);
    return;
  }
  if (rank.idle == 0)
    go_on(rank, Kind::other, 0, from);
  if (arrival.of_others) { // the way to here leads over its sender
    std::shared_ptr<Stretch> stretch = new_stretch(index);
    stretch->begin = until;
    if (*stretches_ < most_stretches) {
      stretch->before = arrival.sender.stretch;
      stretch->cut = arrival.began;
      stretch->until_cut = arrival.sender.done;
      stretch->way = arrival.way;
    } else {
      known_since_ = until;
      for (Rank& each : ranks_)
        each.now.stretch->before = nullptr;
    }
    rank.now.stretch = std::move(stretch);
    rank.now.done = {};
  } else { // as much of the wait as the parts say
    const auto whole = static_cast<double>(std::max<SimTime>(left(as_it_is, arrival.way), 1));
    const double waited = static_cast<double>(rank.idle + until - from) / whole;
    for (std::size_t i = 0; i < kinds; ++i)
      rank.now.done[i] += std::llround(waited * static_cast<double>(arrival.way[i]));
  }
  rank.idle = 0;
  take(rank);
  set_to(rank, until);
  keep(rank);
}

void CriticalPath::take(Rank& rank)
{
  for (std::size_t i = 0; i < rank.now.clocks.size(); ++i)
    rank.now.clocks[i] = std::max(rank.now.clocks[i], rank.arrival.clocks[i]);
  rank.arrival.any = false;
}

void CriticalPath::found(std::size_t index)
{
  if (index >= ranks_.size())
    return;
  Rank& rank = ranks_[index];
  if (rank.arrival.any) {
    const SimTime now = rank.now.at;
    rank.idle = 0;
    take(rank);
    set_to(rank, now);
  } else {
    pass_idle(rank);
  }
}

void CriticalPath::acted(std::size_t index)
{
  if (index < ranks_.size() && ranks_[index].idle > 0)
    found(index);
}

observe::CriticalPathRecord CriticalPath::record(const std::vector<SimTime>& ends) const
{
  observe::CriticalPathRecord record;
  if (ranks_.empty())
    return record;
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranks_.size(); ++i)
    if (ends[i] > ends[last])
      last = i;
  record.length = ends[last];
  record.known_since = known_since_;
  record.ranks.assign(ranks_.size(), 0);

  SimTime end = ends[last];
  Times done = ranks_[last].now.done;
  for (std::shared_ptr<Stretch> at = ranks_[last].now.stretch; at != nullptr; at = at->before) {
    for (std::size_t i = 0; i < kinds; ++i)
      record.kinds[i] += done[i] + at->way[i];
    record.ranks[at->rank] += std::max<SimTime>(end - at->begin, 0);
    record.segments.push_back({at->rank, at->begin, end, false, at->rank});
    if (at->before != nullptr)
      record.segments.push_back({at->rank, at->cut, at->begin, true, at->before->rank});
    end = at->cut;
    done = at->until_cut;
  }
  SimTime known = 0;
  for (const SimTime kind : record.kinds)
    known += kind;
  record.kinds[static_cast<std::size_t>(Kind::other)] += std::max<SimTime>(record.length - known, 0);
  std::reverse(record.segments.begin(), record.segments.end());
  if (record.segments.size() > most_segments) { // the longest, in time
    auto longest = record.segments;
    std::nth_element(longest.begin(), longest.begin() + most_segments, longest.end(),
                     [](const auto& a, const auto& b) { return a.end - a.begin > b.end - b.begin; });
    const SimTime least = longest[most_segments].end - longest[most_segments].begin;
    record.left_out = std::erase_if(record.segments, [least](const auto& one) { return one.end - one.begin <= least; });
  }

  const auto latest = [this, &ends](std::size_t question) {
    SimTime time = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      time = std::max(time, ranks_[i].now.clocks[question] + ranks_[i].idle +
                                std::max<SimTime>(ends[i] - ranks_[i].now.at, 0));
    return time;
  };
  record.as_it_is = latest(as_it_is);
  for (const Kind kind : {Kind::computing, Kind::software, Kind::nic, Kind::latency, Kind::bandwidth, Kind::contention})
    record.if_free.push_back(
        {observe::path_kind_names[static_cast<std::size_t>(kind)], latest(static_cast<std::size_t>(kind))});
  for (std::size_t i = 0; i < single_ranks_; ++i)
    record.if_free.push_back({fmt::format("computing of rank {}", i), latest(as_it_is + 1 + i)});
  return record;
}

} // namespace umwelt::job
