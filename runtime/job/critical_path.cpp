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

constexpr std::size_t kind_questions = observe::path_kinds - 1; // nobody asks for the last
constexpr SimTime longest_look = 10 * sim::microsecond;         // of a loop that waits, in between
constexpr std::size_t most_segments = 1000;
constexpr auto computing = static_cast<std::size_t>(observe::PathKind::computing);
constexpr auto software = static_cast<std::size_t>(observe::PathKind::software);
constexpr auto bandwidth = static_cast<std::size_t>(observe::PathKind::bandwidth);
constexpr auto contention = static_cast<std::size_t>(observe::PathKind::contention);
constexpr auto other_kind = static_cast<std::size_t>(observe::PathKind::other);
constexpr std::size_t rest = 2; // of work
static_assert(computing == 0 && software == 1 && other_kind == kind_questions);

SimTime between(SimTime a, SimTime b, double share)
{
  return a + std::llround(share * static_cast<double>(b - a));
}

} // namespace

CriticalPath::CriticalPath(const std::vector<std::uint32_t>& nodes, Way way)
    : ranks_(nodes.size()), single_ranks_(nodes.size() <= most_single_ranks ? nodes.size() : 0),
      questions_(kind_questions + single_ranks_), marks_(nodes.size() * marks), bases_(nodes.size() * bases),
      saved_(bases_.size() * questions_), arrived_(nodes.size() * questions_), clocks_(questions_),
      later_clocks_(questions_), way_(std::move(way))
{
  nics_.resize(nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end()) + 1);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].node = nodes[i];
    bases_[place(ranks_[i], 0)].stretch = new Stretch(i, stretches_);
  }
}

CriticalPath::Stretch::~Stretch()
{
  --count;
  StretchRef next = std::move(before);
  while (next != nullptr && next->use_count() == 1)
    next = std::exchange(next->before, nullptr);
}

void CriticalPath::keep(Rank& rank)
{
  mark(rank, rank.kept++) = rank.now;
  rank.first = std::max(rank.first, rank.kept - std::min<std::uint64_t>(rank.kept, marks));
}

CriticalPath::Base& CriticalPath::new_base(Rank& rank)
{
  const std::size_t from = place(rank, rank.now.base);
  const Times done = done_by(rank, rank.now);
  SimTime* const saved_before = &saved_[from * questions_];
  const Work& before = bases_[from].worked;
  const SimTime computed = rank.now.worked[computing] - before[computing];
  const SimTime in_software = rank.now.worked[software] - before[software];
  std::size_t to = from;
  if (rank.first < rank.kept && mark(rank, rank.kept - 1).base == rank.now.base) {
    to = place(rank, ++rank.now.base);
    while (rank.first < rank.kept && mark(rank, rank.first).base + bases <= rank.now.base)
      ++rank.first;
    bases_[to].stretch = bases_[from].stretch;
    std::copy_n(saved_before, questions_, &saved_[to * questions_]);
  }
  SimTime* const saved = &saved_[to * questions_];
  saved[computing] += computed;
  saved[software] += in_software;
  if (single_ranks_ > 0)
    saved[kind_questions + index(rank)] += computed;
  Base& base = bases_[to];
  base.worked = rank.now.worked;
  base.done = done;
  return base;
}

CriticalPath::Times CriticalPath::done_by(const Rank& rank, const Mark& mark) const
{
  const Base& base = bases_[place(rank, mark.base)];
  Times done = base.done;
  done[computing] += mark.worked[computing] - base.worked[computing];
  done[software] += mark.worked[software] - base.worked[software];
  done[other_kind] += mark.worked[rest] - base.worked[rest];
  return done;
}

void CriticalPath::clocks_by(const Rank& rank, const Mark& mark, SimTime* clocks) const
{
  const std::size_t at = place(rank, mark.base);
  const SimTime* const saved = &saved_[at * questions_];
  for (std::size_t i = 0; i < questions_; ++i)
    clocks[i] = mark.as_it_is - saved[i];
  const Work& before = bases_[at].worked;
  clocks[computing] -= mark.worked[computing] - before[computing];
  clocks[software] -= mark.worked[software] - before[software];
  if (single_ranks_ > 0)
    clocks[kind_questions + index(rank)] -= mark.worked[computing] - before[computing];
}

CriticalPath::Past CriticalPath::past_at(const Rank& rank, const Mark& mark)
{
  clocks_by(rank, mark, clocks_.data());
  return {mark.as_it_is, done_by(rank, mark), &bases_[place(rank, mark.base)].stretch};
}

CriticalPath::Past CriticalPath::past_of(const Rank& rank, SimTime time)
{
  std::uint64_t next = rank.first; // the first mark that is later
  for (std::uint64_t end = rank.kept; next < end;)
    if (const std::uint64_t middle = (next + end) / 2; mark(rank, middle).at <= time)
      next = middle + 1;
    else
      end = middle;
  if (next == rank.first) // longer ago than is known
    return past_at(rank, rank.first == rank.kept ? rank.now : mark(rank, rank.first));
  const Mark& before = mark(rank, next - 1);
  const Mark& after = next == rank.kept ? rank.now : mark(rank, next);
  const StretchRef& stretch = bases_[place(rank, before.base)].stretch;
  if (bases_[place(rank, after.base)].stretch != stretch || after.at <= before.at || time <= before.at)
    return past_at(rank, before); // between both it waited for what began the other stretch
  const double share = std::min(1.0, static_cast<double>(time - before.at) / static_cast<double>(after.at - before.at));
  if (before.base == after.base) {
    Mark mark{time, between(before.as_it_is, after.as_it_is, share), {}, before.base};
    for (std::size_t i = 0; i < mark.worked.size(); ++i)
      mark.worked[i] = between(before.worked[i], after.worked[i], share);
    return past_at(rank, mark);
  }
  clocks_by(rank, before, clocks_.data());
  clocks_by(rank, after, later_clocks_.data());
  for (std::size_t i = 0; i < questions_; ++i)
    clocks_[i] = between(clocks_[i], later_clocks_[i], share);
  Past past{between(before.as_it_is, after.as_it_is, share), done_by(rank, before), &stretch};
  const Times later = done_by(rank, after);
  for (std::size_t i = 0; i < kinds; ++i)
    past.done[i] = between(past.done[i], later[i], share);
  return past;
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

void CriticalPath::go_on(Rank& rank, std::size_t work, SimTime time, SimTime until)
{
  Mark& now = rank.now;
  if (until <= now.at) // somebody else has told of that time
    return;
  time = std::min(time, until - now.at);
  now.worked[rest] += until - now.at - time; // it slept before
  now.worked[work] += time;
  // The rank's clock of the question "as it is" shows the time, but for a wait that is not over: what nobody has told
  // of counts in every question.
  now.as_it_is = until - rank.idle;
  now.at = until;
  keep(rank);
}

// It did not wait for something that came: time went by.
void CriticalPath::pass_idle(Rank& rank)
{
  if (const SimTime idle = std::exchange(rank.idle, 0); idle > 0) {
    const SimTime now = rank.now.at;
    rank.now.at -= idle;
    go_on(rank, rest, idle, now);
  }
}

void CriticalPath::spent(std::size_t index, observe::RankState state, SimTime from, SimTime until)
{
  if (index >= ranks_.size())
    return; // started by others
  Rank& rank = ranks_[index];
  if (until - from > longest_look)
    pass_idle(rank);
  go_on(rank, state == observe::RankState::compute ? computing : software, until - from, until);
}

const CriticalPath::Alone& CriticalPath::alone(std::uint32_t from, std::uint32_t to)
{
  Pair& pair = pairs_[(from * std::size_t{61} + to) % most_pairs];
  if (pair.alone == nullptr || pair.from != from || pair.to != to)
    pair = {from, to, &way_(from, to)};
  return *pair.alone;
}

void CriticalPath::arrive(Rank& rank, const Rank& sender, std::uint32_t source, SimTime began, std::uint64_t bytes,
                          SimTime trips, SimTime now)
{
  const Alone& alone = this->alone(source, rank.node);
  const SimTime whole = std::max(now, began) - began;
  const Times way = parts(alone, source == rank.node, bytes, whole, trips);
  const Past past = past_of(sender, began);
  Arrival& arrival = rank.arrival;
  SimTime* const arrived = &arrived_[index(rank) * questions_];
  if (!arrival.any) {
    std::fill_n(arrived, questions_, 0);
    arrival.as_it_is = 0;
  }
  arrival.as_it_is = std::max(arrival.as_it_is, past.as_it_is + whole);
  for (std::size_t i = 0; i < questions_; ++i)
    if (i != bandwidth)
      arrived[i] = std::max(arrived[i], clocks_[i] + whole - (i < kind_questions ? way[i] : 0));
  // Who waits for others on links waits for their bytes.
  const SimTime sent = clocks_[bandwidth];
  SimTime clock = sent + whole - way[bandwidth] - way[contention];
  if (source != rank.node) {
    const SimTime gap = alone.from_end_to_end.gap;
    if (trips > 1) // it has asked
      for (SimTime* const busy : {&nics_[rank.node].out, &nics_[source].in})
        *busy = std::max(*busy, sent) + gap;
    const SimTime queued = std::max(nics_[source].out, nics_[rank.node].in) + gap;
    clock = std::max(clock, std::min(queued, sent + whole)); // no longer than it did
    nics_[source].out = nics_[rank.node].in = clock;
  }
  arrived[bandwidth] = std::max(arrived[bandwidth], clock);
  arrival.any = true;
  arrival.of_others = &rank != &sender;
  arrival.at = now;
  arrival.began = began;
  arrival.way = way;
  arrival.sender_done = past.done;
  arrival.sender_stretch = *past.stretch;
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
      go_on(rank, rest, 0, from);
    }
    rank.idle += until - std::min(from, rank.now.at);
    rank.now.at = until;
    if (how != Wait::polls)
      pass_idle(rank);
    return;
  }
  if (rank.idle == 0)
    go_on(rank, rest, 0, from);
  Base& base = new_base(rank);
  if (arrival.of_others) { // the way to here leads over its sender
    begin_stretch(rank, base, until);
  } else { // as much of the wait as the parts say
    SimTime whole = 0;
    for (const SimTime part : arrival.way)
      whole += part;
    const double waited =
        static_cast<double>(rank.idle + until - from) / static_cast<double>(std::max<SimTime>(whole, 1));
    for (std::size_t i = 0; i < kinds; ++i)
      base.done[i] += std::llround(waited * static_cast<double>(arrival.way[i]));
  }
  take(rank, until);
  keep(rank);
}

void CriticalPath::begin_stretch(Rank& rank, Base& base, SimTime now)
{
  const Arrival& arrival = rank.arrival;
  StretchRef stretch(new Stretch(index(rank), stretches_));
  stretch->begin = now;
  if (stretches_ < most_stretches) {
    stretch->before = arrival.sender_stretch;
    stretch->cut = arrival.began;
    stretch->until_cut = arrival.sender_done;
    stretch->way = arrival.way;
  } else {
    known_since_ = now;
    for (const Rank& each : ranks_)
      bases_[place(each, each.now.base)].stretch->before = nullptr;
  }
  base.stretch = std::move(stretch);
  base.done = {};
}

void CriticalPath::take(Rank& rank, SimTime now)
{
  const SimTime own = rank.now.as_it_is;
  const SimTime as_it_is = std::max(own, rank.arrival.as_it_is);
  const SimTime* const arrived = &arrived_[index(rank) * questions_];
  SimTime* const saved = &saved_[place(rank, rank.now.base) * questions_];
  for (std::size_t i = 0; i < questions_; ++i)
    saved[i] = as_it_is - std::max(own - saved[i], arrived[i]);
  rank.arrival.any = false;
  rank.idle = 0;
  rank.now.at = rank.now.as_it_is = now;
}

void CriticalPath::found(std::size_t index)
{
  if (index >= ranks_.size())
    return;
  Rank& rank = ranks_[index];
  if (rank.arrival.any) {
    new_base(rank);
    take(rank, rank.now.at);
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
  const Rank& of = ranks_[last];
  Times done = done_by(of, of.now);
  for (StretchRef at = bases_[place(of, of.now.base)].stretch; at != nullptr; at = at->before) {
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

  Clocks latest(questions_);
  Clocks clocks(questions_);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const SimTime since = ranks_[i].idle + std::max<SimTime>(ends[i] - ranks_[i].now.at, 0);
    clocks_by(ranks_[i], ranks_[i].now, clocks.data());
    for (std::size_t question = 0; question < questions_; ++question)
      latest[question] = std::max(latest[question], clocks[question] + since);
    record.as_it_is = std::max(record.as_it_is, ranks_[i].now.as_it_is + since);
  }
  for (std::size_t i = 0; i < kind_questions; ++i)
    record.if_free.push_back({observe::path_kind_names[i], latest[i]});
  for (std::size_t i = 0; i < single_ranks_; ++i)
    record.if_free.push_back({fmt::format("computing of rank {}", i), latest[kind_questions + i]});
  return record;
}

} // namespace umwelt::job
