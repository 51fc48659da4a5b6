// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/live.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "runtime/diagnose/symbols.h"
#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/mpi/functions.h"
#include "runtime/mpi/waits.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

namespace
{

constexpr std::uint64_t most_counts = 1 << 20; // of a rank; more are none
constexpr std::uint64_t most_labels = 1 << 16;

// A rank in a worker process may be in the middle of changing it.
std::string mpi_call(const Thread& thread)
{
  for (const umw_mpi_call& one : thread.rank.gate.mpi_calls) {
    umw_mpi_call call = one;
    if (call.function == UMW_MPI_NONE || call.function >= UMW_MPI_FUNCTIONS || call.tid != thread.tid)
      continue;
    if (call.began_by >= UMW_MPI_FUNCTIONS)
      call.began_by = UMW_MPI_NONE;
    *std::prev(std::end(call.communicator)) = '\0';
    return mpi::describe(call);
  }
  return {};
}

} // namespace

observe::RankNow Live::of_rank(const Rank& rank) const
{
  if (rank.phase == Rank::Phase::ended)
    return {"ended", "", rank.finished};
  const Thread& thread = rank.main();
  const std::string call = mpi_call(thread);
  if (rank.phase == Rank::Phase::loading)
    return {"loading", call, 0};
  const bool computes = thread.actor->state() != engine::Actor::State::blocked ||
                        (thread.channel && thread.channel->computing()) || thread.doing == observe::RankState::compute;
  if (computes)
    return {"computing", call, job_.now()};
  const SimTime since = std::min(thread.waits_since(), job_.now());
  if (thread.doing == observe::RankState::communication)
    return {"communicating", call, since};
  return {thread.sleeps ? "sleeping" : "waiting", call.empty() ? thread.last_call : call, since};
}

observe::Now Live::now(double wall_seconds) const
{
  observe::Now now;
  now.state = job_.stands_at().empty() ? "running" : "held";
  now.note = job_.stands_at();
  now.wall_seconds = wall_seconds;
  now.simulated = job_.now();
  now.events = job_.events();
  for (const auto& rank : job_.ranks())
    now.ranks.push_back(of_rank(*rank));
  return now;
}

observe::JobRecord Live::record(double wall_seconds)
{
  observe::JobRecord record = job_.record({0, "running"}, wall_seconds);
  for (std::size_t i = 0; i < record.mpi_calls.size(); ++i)
    if (const Rank& rank = *job_.ranks()[i]; rank.phase != Rank::Phase::ended && rank.gate.mpi_counts != nullptr)
      record.mpi_calls[i] = calls_of(rank);
  return record;
}

// In another process symbols are looked up there, when the rank ends.
const std::string& Live::place_of(std::uint64_t address)
{
  std::string& place = places_[address];
  if (place.empty())
    place = diagnose::describe(diagnose::symbol_at(address - 1), 1);
  return place;
}

// The rank's memory may change meanwhile, if another process carries it: what makes no sense is left out.
mpi::Totals Live::calls_of(const Rank& rank)
{
  static const std::string elsewhere = "known when the rank has ended";
  const portals::Memory& memory = rank.portals->memory();
  umw_mpi_counts table{};
  if (!memory.read(&table, rank.gate.mpi_counts, sizeof table, true) || table.capacity > most_counts ||
      table.timed_capacity > most_counts)
    return {};
  std::vector<umw_mpi_count> counts(table.capacity);
  std::vector<umw_mpi_timed_count> timed(table.timed_capacity);
  if (!memory.read(counts.data(), table.counts, counts.size() * sizeof counts.front(), true) ||
      !memory.read(timed.data(), table.timed, timed.size() * sizeof timed.front(), true))
    return {};
  mpi::Totals totals;
  const auto add = [&](const umw_mpi_count& entry, const mpi::Count& count) {
    const std::uint32_t function = UMW_MPI_FUNCTION_OF(entry.what);
    const std::uint64_t detail = UMW_MPI_DETAIL_OF(entry.what);
    const std::uint32_t kind = UMW_MPI_KIND_OF(entry.what);
    const bool known = function > UMW_MPI_NONE && function < UMW_MPI_FUNCTIONS;
    if (kind == UMW_MPI_COUNT_SITE && known)
      totals.sites[{function, memory.local() ? place_of(detail) : elsewhere}] += count;
    else if (kind == UMW_MPI_COUNT_SIZE && known && detail < observe::SizeHistogram::classes)
      totals.sizes[{function, static_cast<std::uint32_t>(detail)}] += count;
    else if (kind == UMW_MPI_COUNT_PEER && (detail < job_.ranks().size() || detail == UMW_MPI_PEER_ELSEWHERE))
      totals.peers[static_cast<std::uint32_t>(detail)] += count;
    else if (kind == UMW_MPI_COUNT_COMMUNICATOR && known && detail < most_labels) {
      std::array<char, UMW_MPI_LABEL> label{};
      if (memory.read(label.data(), &table.labels[detail], label.size() - 1, true))
        totals.communicators[{label.data(), function}] += count;
    }
  };
  for (const umw_mpi_count& entry : counts)
    add(entry, {entry.calls, entry.bytes});
  for (const umw_mpi_timed_count& entry : timed)
    add(entry.count, {entry.count.calls, entry.count.bytes, entry.time_ps, entry.waited_ps, entry.late_ps});
  return totals;
}

} // namespace umwelt::job
