// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/collectives.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/exit_codes.h"
#include "runtime/bootstrap/namespaces.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/job/thread.h"
#include "runtime/mpi/functions.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

namespace
{

constexpr unsigned member_bits = 20; // of a collective's number
constexpr std::int64_t one_above = std::int64_t{1} << member_bits;

// What the MPI library of the rank may not have seen yet: it has grown.
std::uint64_t news_of(const Rank& rank)
{
  std::uint64_t news = rank.gate.descriptor_news;
  for (const std::uint64_t of_queue : rank.gate.queue_news)
    news += of_queue;
  return news;
}

bool library_has_news(const Rank& rank)
{
  return rank.portals->has_event() || rank.running().descriptors_seen != rank.gate.descriptor_news;
}

} // namespace

Collectives::Collectives(Job& job, const mpi::CollectiveModels& models, const mpi::PairTimes& pair)
    : job_(job), models_(models), pair_(pair)
{
}

Collectives::~Collectives() = default;

// --- communicators ---------------------------------------------------------------------------------------------------

int Collectives::join(const Rank& rank, std::span<const std::int32_t> members, std::uint32_t ordinal)
{
  const bootstrap::Namespace* const space = rank.facts->space;
  for (const std::int32_t member : members)
    if (member < 0 || static_cast<std::size_t>(member) >= space->size)
      return -EINVAL;
  const auto [entry, made] =
      numbers_.try_emplace({space, ordinal, {members.begin(), members.end()}}, static_cast<int>(communicators_.size()));
  if (made) {
    Communicator& communicator = *communicators_.emplace_back(std::make_unique<Communicator>());
    communicator.job = space;
    communicator.ordinal = ordinal;
    communicator.members.assign(members.begin(), members.end());
    communicator.turns.resize(members.size());
  }
  return entry->second;
}

int Collectives::leave(int number)
{
  if (number < 0 || static_cast<std::size_t>(number) >= communicators_.size() || !communicators_[number])
    return -EINVAL;
  ++communicators_[number]->left;
  forget_if_unused(*communicators_[number]);
  return 0;
}

void Collectives::forget_if_unused(const Communicator& communicator)
{
  if (communicator.left < communicator.members.size() || !communicator.open.empty())
    return;
  const auto entry = numbers_.find({communicator.job, communicator.ordinal, communicator.members});
  communicators_[entry->second].reset();
  numbers_.erase(entry);
}

// --- members come ----------------------------------------------------------------------------------------------------

std::int64_t Collectives::begin(Rank& rank, const umw_collective& call)
{
  rank.set_last_call(mpi::function_name(call.called).data());
  Communicator& communicator = *communicators_.at(call.communicator);
  const auto member = static_cast<std::uint32_t>(call.member);
  Collective& collective = next_collective(communicator, member);
  if (collective.first != nullptr)
    check_fit(rank, collective, call);
  else
    collective.times.begin(mpi::shape_of(call.function), collective.size,
                           static_cast<std::uint32_t>(std::max(call.root, 0)));
  take_place(rank, collective, call);
  const std::vector<mpi::CollectiveTimes::Due> due =
      collective.times.arrive(member, job_.scheduler().now(), [&] { return duration(rank, collective, call); });
  transfer(rank, collective, member);
  set_times(collective, due);
  if (has(call, UMW_COLLECTIVE_BLOCKS))
    return wait(rank, number_of(collective, member), true);
  if (collective.reducer == member)
    return number_of(collective, member) * UMW_COLLECTIVE_STATES + UMW_COLLECTIVE_REDUCE;
  return number_of(collective, member) * UMW_COLLECTIVE_STATES + UMW_COLLECTIVE_PENDING;
}

Collectives::Collective& Collectives::next_collective(Communicator& communicator, std::uint32_t member)
{
  const std::uint64_t turn = communicator.turns[member]++ - communicator.first_turn;
  if (turn < communicator.open.size())
    return *communicator.open[turn];
  if (idle_.empty()) {
    Collective& made = *pool_.emplace_back(std::make_unique<Collective>());
    made.slot = static_cast<std::uint32_t>(pool_.size() - 1);
    idle_.push_back(&made);
  }
  Collective& collective = *idle_.back();
  idle_.pop_back();
  collective.communicator = &communicator;
  collective.size = static_cast<std::uint32_t>(communicator.members.size());
  collective.parts.resize(collective.size);
  communicator.open.push_back(&collective);
  return collective;
}

void Collectives::take_place(Rank& rank, Collective& collective, const umw_collective& call)
{
  Part& part = collective.parts[static_cast<std::uint32_t>(call.member)];
  part.rank = &rank;
  part.call = call;
  part.looked = 0;
  part.served = part.due = part.over = false;
  if (collective.first == nullptr)
    collective.first = &part;
  const portals::Memory& memory = rank.portals->memory();
  bool readable = true;
  if (has(call, UMW_COLLECTIVE_SENDS))
    readable = part.send.set(memory, call.send, collective.size, sends_single(call.function));
  if (has(call, UMW_COLLECTIVE_RECEIVES))
    readable = part.receive.set(memory, call.receive, collective.size, receives_single(call.function)) && readable;
  check_memory(rank, readable);
  const auto bytes = static_cast<double>(call.bytes);
  collective.bytes += bytes;
  collective.most_bytes = std::max(collective.most_bytes, bytes);
  ++totals_.at(call.function).calls;
}

// --- times -----------------------------------------------------------------------------------------------------------

SimTime Collectives::duration(Rank& rank, const Collective& collective, const umw_collective& call)
{
  const auto function = static_cast<umw_collective_function>(call.function);
  const double bytes = mpi::bytes_of_model(function, collective.size, collective.bytes, collective.most_bytes);
  const double seconds = models_.of(function).seconds(function, collective.size, bytes, pair_);
  if (!std::isfinite(seconds) || seconds < 0)
    job_.end_for(rank, exit_code::usage, "what --collectives says is no time",
                 fmt::format("--collectives: {} on {} members with bytes = {}: expected a time of at least 0, got {} s "
                             "from '{}'. Next step: keep it from there with max(0s, ...) or CONDITION ? A : B",
                             mpi::collective_name(function), collective.size, bytes, seconds,
                             models_.of(function).text()));
  return sim::from_seconds(seconds);
}

void Collectives::set_times(Collective& collective, const std::vector<mpi::CollectiveTimes::Due>& due)
{
  const SimTime now = job_.scheduler().now();
  for (std::size_t i = 0; i < due.size();) {
    const SimTime time = due[i].time;
    if (time <= now) {
      collective.parts[due[i].member].due = true;
      finish_if_over(collective, due[i++].member);
      continue;
    }
    auto event = std::find_if(due_.begin(), due_.end(), [](const Due& each) { return !each.pending(); });
    if (event == due_.end()) {
      due_.emplace_back(*this);
      event = due_.end() - 1;
    }
    event->collective = &collective;
    event->members.clear();
    for (; i < due.size() && due[i].time == time; ++i)
      event->members.push_back(due[i].member);
    job_.scheduler().timeline().schedule(*event, time);
  }
}

void Collectives::come_due(Due& due)
{
  Collective& collective = *due.collective;
  for (const std::uint32_t member : due.members) {
    collective.parts[member].due = true;
    finish_if_over(collective, member);
  }
}

void Collectives::serve(Collective& collective, std::uint32_t member)
{
  collective.parts[member].served = true;
  finish_if_over(collective, member);
}

void Collectives::finish_if_over(Collective& collective, std::uint32_t member)
{
  Part& part = collective.parts[member];
  if (!part.due || !part.served || part.over)
    return;
  part.over = true;
  totals_.at(part.call.function).time += job_.scheduler().now() - collective.times.came_at(member);
  job_.polling().progress();
  tell(part);
}

// The rank finds out, however it waits.
void Collectives::tell(Part& part)
{
  Rank& rank = *part.rank;
  if (rank.phase == Rank::Phase::ended)
    return;
  ++rank.gate.collective_news;
  if (part.waits != nullptr) {
    job_.scheduler().wake(*part.waits->actor);
    return;
  }
  rank.memory_changed();
  Polling::changed(rank);
  rank.notify_network();
}

// --- waiting ---------------------------------------------------------------------------------------------------------

std::int64_t Collectives::wait(Rank& rank, std::int64_t number, bool blocks)
{
  Collective& collective = of_number(number);
  const auto member = static_cast<std::uint32_t>(number % one_above);
  Part& part = collective.parts[member];
  const auto answer = [number](umw_collective_state state) { return number * UMW_COLLECTIVE_STATES + state; };
  if (blocks)
    rank.set_last_call(mpi::function_name(part.call.called).data());
  for (;;) {
    if (collective.reducer == member)
      return answer(UMW_COLLECTIVE_REDUCE);
    if (part.over)
      break;
    if (!blocks)
      return answer(UMW_COLLECTIVE_PENDING);
    if (!rank.memory_peers.empty())
      return answer(UMW_COLLECTIVE_POLL);
    if (const std::uint64_t news = news_of(rank); part.looked != news + 1 && library_has_news(rank)) {
      part.looked = news + 1;
      return answer(UMW_COLLECTIVE_LOOK);
    }
    part.waits = &rank.running();
    rank.wait(sim::never, Rank::For::network);
    part.waits = nullptr;
    rank.act_on_signals();
  }
  job_.polling().productive(rank);
  if (++collective.gone == collective.size)
    retire(collective);
  return answer(UMW_COLLECTIVE_OVER);
}

void Collectives::retire(Collective& collective)
{
  for (Part& part : collective.parts) {
    part.send.clear();
    part.receive.clear();
  }
  Communicator& communicator = *collective.communicator;
  while (!communicator.open.empty() && communicator.open.front()->gone == communicator.open.front()->size) {
    Collective& over = *communicator.open.front();
    over.first = nullptr;
    over.gone = 0;
    over.bytes = over.most_bytes = 0;
    over.reducer.reset();
    over.next = 0;
    over.begun = false;
    communicator.open.pop_front();
    ++communicator.first_turn;
    idle_.push_back(&over);
  }
  forget_if_unused(communicator);
}

Collectives::Collective& Collectives::of_number(std::int64_t number) const
{
  return *pool_.at(static_cast<std::size_t>(number / one_above));
}

std::int64_t Collectives::number_of(const Collective& collective, std::uint32_t member)
{
  return static_cast<std::int64_t>(collective.slot) * one_above + member;
}

// --- what does not fit -----------------------------------------------------------------------------------------------

void Collectives::check_fit(Rank& rank, const Collective& collective, const umw_collective& call)
{
  const umw_collective& first = collective.first->call;
  if (first.function != call.function || first.root != call.root)
    misfit(rank, collective, call, "the same function and root of both");
  if (has(call, UMW_COLLECTIVE_REDUCES) && first.send.bytes != call.send.bytes)
    misfit(rank, collective, call, "vectors of the same size of both");
}

void Collectives::misfit(Rank& rank, const Collective& collective, const umw_collective& call,
                         std::string_view expected)
{
  const Part& first = *collective.first;
  const auto describe = [](const umw_collective& one) {
    std::string text(mpi::function_name(one.called));
    if (one.root >= 0)
      text += fmt::format(" with root {}", one.root);
    if (has(one, UMW_COLLECTIVE_REDUCES))
      text += fmt::format(" of {} B", one.send.bytes);
    return text;
  };
  job_.end_for(
      rank, exit_code::deadlock, "collectives of a communicator do not fit together",
      fmt::format("{} calls {} on a communicator of {} ranks (as member {}), {} has called {} there (as member {}): "
                  "collective {} of that communicator. Expected {}. Next step: look where the ways of the two part",
                  rank.title(), describe(call), collective.size, call.member, first.rank->title(), describe(first.call),
                  first.call.member, collective.communicator->turns[static_cast<std::uint32_t>(call.member)],
                  expected));
}

void Collectives::too_long(Rank& rank, const Collective& collective, std::uint32_t from, std::uint32_t to,
                           std::uint64_t sent, std::uint64_t room)
{
  const Part& sender = collective.parts[from];
  const Part& receiver = collective.parts[to];
  job_.end_for(rank, exit_code::deadlock, "collectives of a communicator do not fit together",
               fmt::format("{}: {} sends {} B to {}, which has room for {} B. Expected counts and types that fit. Next "
                           "step: look at the arguments of these two",
                           mpi::function_name(sender.call.called), sender.rank->title(), sent, receiver.rank->title(),
                           room));
}

void Collectives::check_memory(Rank& rank, bool accessible)
{
  if (!accessible)
    job_.end_for(rank, exit_code::signalled + SIGSEGV, "a collective with memory that is not there",
                 fmt::format("{} in {}: expected buffers of all members that can be read and written, got: memory of "
                             "one of them is not accessible. Next step: check the buffers passed to that call",
                             rank.title(), rank.last_call()));
}

std::vector<observe::CollectiveRecord> Collectives::records() const
{
  std::vector<observe::CollectiveRecord> records;
  for (std::size_t i = 0; i < totals_.size(); ++i)
    if (const Totals& totals = totals_.at(i); totals.calls > 0)
      records.push_back({std::string(mpi::collective_name(static_cast<std::uint32_t>(i))),
                         models_.of(static_cast<umw_collective_function>(i)).text(), totals.calls, totals.time});
  return records;
}

} // namespace umwelt::job
