// SPDX-License-Identifier: LGPL-2.1-or-later
// What goes from one member of a modelled collective to another, and vectors that are combined.
#include <algorithm>
#include <cstring>

#include "runtime/job/collectives.h"
#include "runtime/job/rank.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

namespace
{

// Vectors up to this size are gathered in one place, from where they are handed out with one copy.
constexpr std::uint64_t short_vector = 4096;

} // namespace

// The same piece for everybody.
bool Collectives::sends_single(std::uint32_t function)
{
  switch (function) {
  case UMW_COLLECTIVE_Scatter:
  case UMW_COLLECTIVE_Scatterv:
  case UMW_COLLECTIVE_Alltoall:
  case UMW_COLLECTIVE_Alltoallv:
  case UMW_COLLECTIVE_Alltoallw:
    return false;
  default:
    return true;
  }
}

bool Collectives::receives_single(std::uint32_t function)
{
  switch (function) {
  case UMW_COLLECTIVE_Allgather:
  case UMW_COLLECTIVE_Allgatherv:
  case UMW_COLLECTIVE_Alltoall:
  case UMW_COLLECTIVE_Alltoallv:
  case UMW_COLLECTIVE_Alltoallw:
  case UMW_COLLECTIVE_Gather:
  case UMW_COLLECTIVE_Gatherv:
    return false;
  default:
    return true;
  }
}

void Collectives::transfer(Rank& rank, Collective& collective, std::uint32_t member)
{
  Part& part = collective.parts[member];
  if (has(part.call, UMW_COLLECTIVE_REDUCES)) {
    add_vector(rank, collective, member);
    return;
  }
  switch (mpi::shape_of(part.call.function)) {
  case mpi::CollectiveShape::from_root:
    transfer_from_root(rank, collective, member);
    return;
  case mpi::CollectiveShape::to_root:
    transfer_to_root(rank, collective, member);
    return;
  default:
    if (has(part.call, UMW_COLLECTIVE_OVERWRITES))
      keep(rank, part);
    if (collective.times.complete())
      transfer_all(rank, collective);
  }
}

void Collectives::transfer_from_root(Rank& rank, Collective& collective, std::uint32_t member)
{
  const auto root = static_cast<std::uint32_t>(collective.first->call.root);
  if (member != root) {
    if (!collective.times.has_come(root))
      return;
    move(rank, collective, root, member);
    serve(collective, member);
    return;
  }
  for (std::uint32_t i = 0; i < collective.size; ++i)
    if (collective.times.has_come(i))
      move(rank, collective, root, i);
  if (!collective.times.complete())
    keep(rank, collective.parts[root]); // it goes on
  for (std::uint32_t i = 0; i < collective.size; ++i)
    if (collective.times.has_come(i))
      serve(collective, i);
}

void Collectives::transfer_to_root(Rank& rank, Collective& collective, std::uint32_t member)
{
  const auto root = static_cast<std::uint32_t>(collective.first->call.root);
  if (member == root) {
    for (std::uint32_t i = 0; i < collective.size; ++i)
      if (collective.times.has_come(i))
        move(rank, collective, i, root);
  } else {
    if (collective.times.has_come(root))
      move(rank, collective, member, root);
    else
      keep(rank, collective.parts[member]); // it goes on
    serve(collective, member);
  }
  if (collective.times.complete())
    serve(collective, root);
}

void Collectives::transfer_all(Rank& rank, Collective& collective)
{
  for (std::uint32_t to = 0; to < collective.size; ++to)
    if (has(collective.parts[to].call, UMW_COLLECTIVE_RECEIVES))
      for (std::uint32_t from = 0; from < collective.size; ++from)
        move(rank, collective, from, to);
  for (std::uint32_t i = 0; i < collective.size; ++i)
    serve(collective, i);
}

void Collectives::move(Rank& rank, Collective& collective, std::uint32_t from, std::uint32_t to)
{
  const Part& sender = collective.parts[from];
  const Part& receiver = collective.parts[to];
  if (!has(sender.call, UMW_COLLECTIVE_SENDS) || !has(receiver.call, UMW_COLLECTIVE_RECEIVES))
    return;
  const std::uint32_t source = sends_single(sender.call.function) ? 0 : to;
  const std::uint32_t target = receives_single(sender.call.function) ? 0 : from;
  const std::uint64_t bytes = sender.send.bytes(source);
  if (bytes > receiver.receive.bytes(target))
    too_long(rank, collective, from, to, bytes, receiver.receive.bytes(target));
  const std::uintptr_t address = sender.send.address(source);
  const std::uintptr_t place = receiver.receive.address(target);
  if (from == to && address == place)
    return;
  check_memory(rank, copy_memory(sender.send.memory(), address, receiver.receive.memory(), place, bytes));
}

void Collectives::keep(Rank& rank, Part& part)
{
  if (has(part.call, UMW_COLLECTIVE_SENDS))
    check_memory(rank, part.send.keep());
}

// --- reductions ------------------------------------------------------------------------------------------------------

void Collectives::add_vector(Rank& rank, Collective& collective, std::uint32_t member)
{
  Part& part = collective.parts[member];
  const std::uint64_t bytes = part.call.send.bytes;
  const mpi::CollectiveShape shape = mpi::shape_of(part.call.function);
  if (bytes <= short_vector) {
    collective.vectors.resize(bytes * collective.size);
    check_memory(rank,
                 copy_memory(part.send.memory(), part.send.address(0), runtime_memory(),
                             reinterpret_cast<std::uintptr_t>(collective.vectors.data()) + bytes * member, bytes));
  } else if (shape == mpi::CollectiveShape::prefix ||
             (shape == mpi::CollectiveShape::to_root && !collective.times.complete())) {
    keep(rank, part); // it may go on before it is combined, or what it receives may take its place
  }
  if (shape == mpi::CollectiveShape::to_root && part.call.root != part.call.member)
    serve(collective, member);
  if (shape == mpi::CollectiveShape::prefix)
    add_to_scan(rank, collective, member);
  else if (collective.times.complete())
    combine_all(rank, collective, member);
}

// Without anything to combine, what there is is the result.
void Collectives::combine_all(Rank& rank, Collective& collective, std::uint32_t member)
{
  if (collective.size > 1 && collective.first->call.send.bytes > 0) {
    collective.reducer = member;
    collective.handed_out = 0;
    return;
  }
  std::vector<std::byte> only(collective.first->call.send.bytes);
  hand_out(rank, collective, 0, only.data());
  give_result(rank, collective, runtime_memory(), reinterpret_cast<std::uintptr_t>(only.data()));
}

void Collectives::add_to_scan(Rank& rank, Collective& collective, std::uint32_t member)
{
  const bool excludes = collective.first->call.function == UMW_COLLECTIVE_Exscan;
  const bool combines = collective.first->call.send.bytes > 0;
  if (member == 0) {
    collective.combined.resize(collective.first->call.send.bytes);
    hand_out(rank, collective, 0, collective.combined.data());
    give_prefix(rank, collective, 0, !excludes);
    collective.next = 1;
    if (excludes && collective.size > 1 && collective.times.has_come(1))
      give_prefix(rank, collective, 1, true);
  } else if (excludes && collective.next == member) {
    give_prefix(rank, collective, member, true);
  }
  if (!combines) {
    for (std::uint32_t i = 1; i < collective.size; ++i)
      if (collective.times.has_come(i) && !collective.parts[i].served)
        serve(collective, i);
    return;
  }
  if (!collective.reducer && scan_goes_on(collective))
    collective.reducer = member;
}

// Nobody wants what the last member of an exclusive scan brings.
std::uint32_t Collectives::vectors_wanted(const Collective& collective)
{
  return collective.size - (collective.first->call.function == UMW_COLLECTIVE_Exscan ? 1 : 0);
}

// There is a vector that what has been combined can be combined with, and somebody wants the result.
bool Collectives::scan_goes_on(const Collective& collective)
{
  return collective.next > 0 && collective.next < vectors_wanted(collective) &&
         collective.times.has_come(collective.next);
}

void Collectives::give_prefix(Rank& rank, Collective& collective, std::uint32_t member, bool defined)
{
  Part& part = collective.parts[member];
  if (defined && has(part.call, UMW_COLLECTIVE_RECEIVES))
    check_memory(rank, copy_memory(runtime_memory(), reinterpret_cast<std::uintptr_t>(collective.combined.data()),
                                   part.receive.memory(), part.receive.address(0), part.receive.bytes(0)));
  serve(collective, member);
}

void Collectives::hand_out(Rank& rank, const Collective& collective, std::uint32_t member, std::byte* buffer)
{
  const Part& part = collective.parts[member];
  const std::uint64_t bytes = part.call.send.bytes;
  if (bytes <= short_vector && bytes > 0)
    std::memcpy(buffer, collective.vectors.data() + bytes * member, bytes);
  else
    check_memory(rank, copy_memory(part.send.memory(), part.send.address(0), runtime_memory(),
                                   reinterpret_cast<std::uintptr_t>(buffer), bytes));
}

std::int64_t Collectives::vectors(Rank& rank, std::int64_t number, void* buffer, std::uint64_t capacity)
{
  Collective& collective = of_number(number);
  const std::uint64_t bytes = collective.first->call.send.bytes;
  const portals::Memory& memory = rank.portals->memory();
  const auto place = reinterpret_cast<std::uintptr_t>(buffer);
  const bool scans = mpi::shape_of(collective.first->call.function) == mpi::CollectiveShape::prefix;
  std::uint64_t given = 0;
  if (scans && !collective.begun) {
    collective.begun = true;
    check_memory(rank, copy_memory(runtime_memory(), reinterpret_cast<std::uintptr_t>(collective.combined.data()),
                                   memory, place, bytes));
    collective.handed_out = collective.next;
    given = 1;
  }
  const std::uint32_t end = vectors_wanted(collective);
  std::uint32_t& next = collective.handed_out;
  const auto more = [&] {
    return (given + 1) * bytes <= capacity && next < end && (!scans || collective.times.has_come(next));
  };
  if (bytes <= short_vector && more()) { // those that follow each other
    const std::uint32_t first = next;
    const std::uint64_t before = given;
    for (; more(); ++next)
      ++given;
    const auto source = reinterpret_cast<std::uintptr_t>(collective.vectors.data()) + first * bytes;
    check_memory(rank, copy_memory(runtime_memory(), source, memory, place + before * bytes, (given - before) * bytes));
  } else {
    for (; more(); ++next, ++given) {
      const CollectiveSide& side = collective.parts[next].send;
      check_memory(rank, copy_memory(side.memory(), side.address(0), memory, place + given * bytes, bytes));
    }
  }
  if (given == 0 && scans) { // whoever comes next goes on
    collective.reducer.reset();
    collective.begun = false;
  }
  return static_cast<std::int64_t>(given);
}

int Collectives::reduced(Rank& rank, std::int64_t number, const void* vector)
{
  Collective& collective = of_number(number);
  const portals::Memory& memory = rank.portals->memory();
  const auto place = reinterpret_cast<std::uintptr_t>(vector);
  const umw_collective& call = collective.first->call;
  if (mpi::shape_of(call.function) != mpi::CollectiveShape::prefix) {
    collective.reducer.reset();
    give_result(rank, collective, memory, place);
    return 0;
  }
  check_memory(rank, copy_memory(memory, place, runtime_memory(),
                                 reinterpret_cast<std::uintptr_t>(collective.combined.data()), call.send.bytes));
  const std::uint32_t done = collective.next++;
  if (call.function == UMW_COLLECTIVE_Scan)
    give_prefix(rank, collective, done, true);
  else if (collective.times.has_come(done + 1))
    give_prefix(rank, collective, done + 1, true);
  return 0;
}

void Collectives::give_result(Rank& rank, Collective& collective, const portals::Memory& memory, std::uintptr_t vector)
{
  for (const Part& part : collective.parts)
    if (has(part.call, UMW_COLLECTIVE_RECEIVES))
      check_memory(rank, copy_memory(memory, vector + part.call.result, part.receive.memory(), part.receive.address(0),
                                     part.receive.bytes(0)));
  for (std::uint32_t i = 0; i < collective.size; ++i)
    if (!collective.parts[i].served)
      serve(collective, i);
}

} // namespace umwelt::job
