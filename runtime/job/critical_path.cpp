// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/critical_path.h"

#include <algorithm>
#include <utility>

#include <boost/pool/singleton_pool.hpp>
#include <fmt/format.h>

namespace umwelt::job
{

using sim::SimTime;

namespace
{

constexpr std::size_t kind_questions = observe::path_kinds - 1; // nobody asks for the last
constexpr SimTime longest_look = 10 * sim::microsecond;         // of a loop that waits, in between
constexpr std::size_t most_segments = 1000;
constexpr std::size_t least_stretches = 1024; // that are worth a look
constexpr auto computing = static_cast<std::size_t>(observe::PathKind::computing);
constexpr auto software = static_cast<std::size_t>(observe::PathKind::software);
constexpr auto bandwidth = static_cast<std::size_t>(observe::PathKind::bandwidth);
constexpr auto contention = static_cast<std::size_t>(observe::PathKind::contention);
constexpr auto other_kind = static_cast<std::size_t>(observe::PathKind::other);
static_assert(computing == 0 && software == 1 && other_kind == kind_questions);

// One of each for every message. By one thread.
template <class T>
using Blocks =
    boost::singleton_pool<T, sizeof(T), boost::default_user_allocator_new_delete, boost::details::pool::null_mutex>;

// Of what is not negative.
SimTime rounded(double time)
{
  return static_cast<SimTime>(time + 0.5); // NOLINT(bugprone-incorrect-roundings): lround is a call per question
}

} // namespace

CriticalPath::CriticalPath(const std::vector<std::uint32_t>& nodes, Way way)
    : look_after_(least_stretches), ranks_(nodes.size()),
      single_ranks_(nodes.size() <= most_single_ranks ? nodes.size() : 0), questions_(kind_questions + single_ranks_),
      saved_(nodes.size() * questions_), arrived_(nodes.size() * questions_), clocks_(questions_), way_(std::move(way))
{
  settled_.ranks.resize(nodes.size());
  nics_.resize(nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end()) + 1);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].node = nodes[i];
    ranks_[i].stretch = new Stretch(i);
  }
}

CriticalPath::Stretch::~Stretch()
{
  StretchRef next = std::move(before);
  while (next != nullptr && next->use_count() == 1)
    next = std::exchange(next->before, nullptr);
}

void* CriticalPath::Stretch::operator new(std::size_t)
{
  return Blocks<Stretch>::malloc();
}

void CriticalPath::Stretch::operator delete(void* stretch)
{
  Blocks<Stretch>::free(stretch);
}

void* CriticalPath::Departure::operator new(std::size_t)
{
  return Blocks<Departure>::malloc();
}

void CriticalPath::Departure::operator delete(void* departure)
{
  Blocks<Departure>::free(departure);
}

void CriticalPath::clocks_of(const Rank& rank, SimTime* clocks) const
{
  const SimTime* const saved = &saved_[index(rank) * questions_];
  for (std::size_t i = 0; i < questions_; ++i)
    clocks[i] = rank.as_it_is - saved[i];
}

std::unique_ptr<sim::Origin> CriticalPath::departs(std::size_t index, SimTime time)
{
  if (index >= ranks_.size())
    return nullptr; // started by others
  auto departure = std::make_unique<Departure>();
  departure->past = past_of(ranks_[index], nullptr, time);
  departure->clocks.assign(clocks_.begin(), clocks_.end());
  departures_.push_back(*departure);
  return departure;
}

CriticalPath::Past CriticalPath::past_of(const Rank& sender, const sim::Origin* origin, SimTime began)
{
  if (const auto* const departure = static_cast<const Departure*>(origin); departure != nullptr) {
    std::copy(departure->clocks.begin(), departure->clocks.end(), clocks_.begin());
    return departure->past;
  }
  const SimTime untold = began - sender.at;
  clocks_of(sender, clocks_.data());
  for (SimTime& clock : clocks_)
    clock += untold;
  return {began, sender.as_it_is + untold, sender.done, sender.stretch};
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
  take(Kind::bandwidth, rate > 0 ? rounded(static_cast<double>(bytes) / rate * sim::second) : SimTime{0});
  parts[static_cast<std::size_t>(within_node ? Kind::other : Kind::contention)] += whole;
  return parts;
}

void CriticalPath::go_on(Rank& rank, Kind kind, SimTime time, SimTime until)
{
  if (until <= rank.at) // somebody else has told of that time
    return;
  time = std::min(time, until - rank.at);
  rank.done[other_kind] += until - rank.at - time; // it slept before
  rank.done[static_cast<std::size_t>(kind)] += time;
  SimTime* const saved = &saved_[index(rank) * questions_];
  if (kind != Kind::other)
    saved[static_cast<std::size_t>(kind)] += time;
  if (kind == Kind::computing && single_ranks_ > 0)
    saved[kind_questions + index(rank)] += time;
  // The rank's clock of the question "as it is" shows the time, but for a wait that is not over: what nobody has told
  // of counts in every question.
  rank.as_it_is = until - rank.idle;
  rank.at = until;
}

// It did not wait for something that came: time went by.
void CriticalPath::pass_idle(Rank& rank)
{
  if (const SimTime idle = std::exchange(rank.idle, 0); idle > 0) {
    const SimTime now = rank.at;
    rank.at -= idle;
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

const CriticalPath::Alone& CriticalPath::alone(std::uint32_t from, std::uint32_t to)
{
  Pair& pair = pairs_[(from * std::size_t{61} + to) % most_pairs];
  if (pair.alone == nullptr || pair.from != from || pair.to != to)
    pair = {from, to, &way_(from, to)};
  return *pair.alone;
}

void CriticalPath::arrive(Rank& rank, const Rank& sender, std::uint32_t source, const Past& past, std::uint64_t bytes,
                          SimTime trips, SimTime now)
{
  const Alone& alone = this->alone(source, rank.node);
  const SimTime whole = std::max(now, past.at) - past.at;
  const Times way = parts(alone, source == rank.node, bytes, whole, trips);
  Arrival& arrival = rank.arrival;
  SimTime* const arrived = &arrived_[index(rank) * questions_];
  if (!arrival.any) {
    std::fill_n(arrived, questions_, 0);
    arrival.as_it_is = 0;
  }
  arrival.as_it_is = std::max(arrival.as_it_is, past.as_it_is + whole);
  const SimTime bytes_arrived = arrived[bandwidth];
  for (std::size_t i = 0; i < kind_questions; ++i)
    arrived[i] = std::max(arrived[i], clocks_[i] + whole - way[i]);
  for (std::size_t i = kind_questions; i < questions_; ++i)
    arrived[i] = std::max(arrived[i], clocks_[i] + whole);
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
  arrived[bandwidth] = std::max(bytes_arrived, clock);
  arrival.any = true;
  arrival.of_others = &rank != &sender;
  arrival.at = now;
  arrival.began = past.at;
  arrival.way = way;
  arrival.sender_done = past.done;
  arrival.sender_stretch = past.stretch;
}

void CriticalPath::came(std::size_t rank, std::size_t source, const sim::Origin* origin, SimTime began,
                        std::uint64_t bytes, SimTime now)
{
  if (rank >= ranks_.size() || source >= ranks_.size())
    return;
  const Rank& sender = ranks_[source];
  arrive(ranks_[rank], sender, sender.node, past_of(sender, origin, began), bytes, 1, now);
}

void CriticalPath::answered(std::size_t rank, std::size_t other, const sim::Origin* origin, SimTime began,
                            std::uint64_t bytes, SimTime now)
{
  if (rank >= ranks_.size() || other >= ranks_.size())
    return;
  Rank& asker = ranks_[rank];
  arrive(asker, asker, ranks_[other].node, past_of(asker, origin, began), bytes, 2, now);
}

void CriticalPath::waited(std::size_t index, SimTime from, SimTime until, Wait how)
{
  if (index >= ranks_.size())
    return;
  Rank& rank = ranks_[index];
  const Arrival& arrival = rank.arrival;
  if (how == Wait::elapsed || !arrival.any || arrival.at < from) {
    if (how != Wait::polls || rank.idle == 0 || from - rank.at > longest_look) {
      pass_idle(rank);
      go_on(rank, Kind::other, 0, from);
    }
    rank.idle += until - std::min(from, rank.at);
    rank.at = until;
    if (how != Wait::polls)
      pass_idle(rank);
    return;
  }
  if (rank.idle == 0)
    go_on(rank, Kind::other, 0, from);
  if (arrival.of_others) { // the way to here leads over its sender
    begin_stretch(rank, until);
  } else { // as much of the wait as the parts say
    SimTime whole = 0;
    for (const SimTime part : arrival.way)
      whole += part;
    const double waited =
        static_cast<double>(rank.idle + until - from) / static_cast<double>(std::max<SimTime>(whole, 1));
    for (std::size_t i = 0; i < kinds; ++i)
      rank.done[i] += rounded(waited * static_cast<double>(arrival.way[i]));
  }
  take(rank, until);
}

void CriticalPath::begin_stretch(Rank& rank, SimTime now)
{
  if (++begun_ > look_after_)
    settle(now);
  const Arrival& arrival = rank.arrival;
  StretchRef stretch(new Stretch(index(rank)));
  stretch->begin = now;
  stretch->before = arrival.sender_stretch;
  stretch->cut = arrival.began;
  stretch->until_cut = arrival.sender_done;
  stretch->way = arrival.way;
  rank.stretch = std::move(stretch);
  rank.done = {};
}

// --- what is settled ---

void CriticalPath::Sum::add_message(const Stretch& stretch)
{
  if (stretch.before != nullptr)
    segments.push_back({stretch.rank, stretch.cut, stretch.begin, true, stretch.before->rank});
}

void CriticalPath::Sum::add(const Stretch& stretch, SimTime end, const Times& done)
{
  for (std::size_t i = 0; i < kinds.size(); ++i)
    kinds[i] += done[i] + stretch.way[i];
  ranks[stretch.rank] += std::max<SimTime>(end - stretch.begin, 0);
  segments.push_back({stretch.rank, stretch.begin, end, false, stretch.rank});
  add_message(stretch);
}

void CriticalPath::Sum::turn(std::size_t behind)
{
  std::reverse(segments.begin() + static_cast<std::ptrdiff_t>(behind), segments.end());
}

void CriticalPath::Sum::keep_longest(std::size_t most)
{
  if (segments.size() <= most)
    return;
  const auto length = [](const auto& one) { return one.end - one.begin; };
  auto longest = segments;
  const auto next = longest.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(longest.begin(), next, longest.end(),
                   [&](const auto& a, const auto& b) { return length(a) > length(b); });
  left_out += std::erase_if(segments, [&, least = length(*next)](const auto& one) { return length(one) <= least; });
}

CriticalPath::Common CriticalPath::common_stretch()
{
  // One way, from the beginning: places 1, 2, ...
  std::vector<Stretch*> way;
  for (Stretch* at = ranks_.front().stretch.get(); at != nullptr; at = at->before.get())
    way.push_back(at);
  std::reverse(way.begin(), way.end());
  for (std::size_t i = 0; i < way.size(); ++i)
    way[i]->place = static_cast<std::uint32_t>(i + 1);
  // Where others meet it. Their stretches are in that place, too, so that nothing is gone over twice; those that never
  // do so, in none.
  constexpr std::uint32_t nowhere = ~0U;
  std::size_t common = way.size();
  std::vector<Stretch*> branches;
  const auto look = [&](const StretchRef& from) {
    const std::size_t first = branches.size();
    Stretch* at = from.get();
    for (; at != nullptr && at->place == 0; at = at->before.get())
      branches.push_back(at);
    const std::uint32_t place = at == nullptr ? nowhere : at->place;
    if (from != nullptr)
      common = std::min<std::size_t>(common, place == nowhere ? 0 : place);
    for (std::size_t i = first; i < branches.size(); ++i)
      branches[i]->place = place;
  };
  for (const Rank& rank : ranks_) {
    look(rank.stretch);
    look(rank.arrival.sender_stretch);
  }
  for (const Departure& departure : departures_)
    look(departure.past.stretch);
  for (Stretch* const each : way)
    each->place = 0;
  for (Stretch* const each : branches)
    each->place = 0;
  return {common == 0 ? nullptr : way[common - 1], way.size() + branches.size()};
}

void CriticalPath::settle(SimTime now)
{
  auto [common, stretches] = common_stretch();
  if (common != nullptr && common->before != nullptr) {
    const std::size_t settled = settled_.segments.size();
    settled_.add_message(*common);
    SimTime end = common->cut;
    const Times* done = &common->until_cut;
    for (const Stretch* at = common->before.get(); at != nullptr; at = at->before.get()) {
      settled_.add(*at, end, *done);
      end = at->cut;
      done = &at->until_cut;
      --stretches;
    }
    settled_.turn(settled);
    settled_.keep_longest(4 * most_segments);
    common->before = nullptr;
  }
  if (stretches > most_stretches) {
    known_since_ = now;
    for (const Rank& rank : ranks_)
      rank.stretch->before = nullptr;
  }
  begun_ = 0;
  look_after_ = std::clamp(stretches, least_stretches, most_stretches / 8);
}

void CriticalPath::take(Rank& rank, SimTime now)
{
  const SimTime own = rank.as_it_is;
  const SimTime as_it_is = std::max(own, rank.arrival.as_it_is);
  const SimTime* const arrived = &arrived_[index(rank) * questions_];
  SimTime* const saved = &saved_[index(rank) * questions_];
  for (std::size_t i = 0; i < questions_; ++i)
    saved[i] = as_it_is - std::max(own - saved[i], arrived[i]);
  rank.arrival.any = false;
  rank.arrival.sender_stretch = nullptr;
  rank.idle = 0;
  rank.at = rank.as_it_is = now;
}

void CriticalPath::found(std::size_t index)
{
  if (index >= ranks_.size())
    return;
  Rank& rank = ranks_[index];
  if (rank.arrival.any)
    take(rank, rank.at);
  else
    pass_idle(rank);
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

  Sum sum = settled_;
  SimTime end = ends[last];
  const Rank& of = ranks_[last];
  Times done = of.done;
  for (const Stretch* at = of.stretch.get(); at != nullptr; at = at->before.get()) {
    sum.add(*at, end, done);
    end = at->cut;
    done = at->until_cut;
  }
  sum.turn(settled_.segments.size());
  sum.keep_longest(most_segments);
  record.kinds = sum.kinds;
  record.ranks = std::move(sum.ranks);
  record.segments = std::move(sum.segments);
  record.left_out = sum.left_out;
  SimTime known = 0;
  for (const SimTime kind : record.kinds)
    known += kind;
  record.kinds[static_cast<std::size_t>(Kind::other)] += std::max<SimTime>(record.length - known, 0);

  Clocks latest(questions_);
  Clocks clocks(questions_);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const SimTime since = ranks_[i].idle + std::max<SimTime>(ends[i] - ranks_[i].at, 0);
    clocks_of(ranks_[i], clocks.data());
    for (std::size_t question = 0; question < questions_; ++question)
      latest[question] = std::max(latest[question], clocks[question] + since);
    record.as_it_is = std::max(record.as_it_is, ranks_[i].as_it_is + since);
  }
  for (std::size_t i = 0; i < kind_questions; ++i)
    record.if_free.push_back({observe::path_kind_names[i], latest[i]});
  for (std::size_t i = 0; i < single_ranks_; ++i)
    record.if_free.push_back({fmt::format("computing of rank {}", i), latest[kind_questions + i]});
  return record;
}

} // namespace umwelt::job
