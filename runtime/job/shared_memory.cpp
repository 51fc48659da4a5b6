// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/shared_memory.h"

#include <algorithm>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

using net::SimTime;

// A copy that takes longer than its thread could simply let pass.
class SharedMemory::UnderWay final : public net::Copy
{
public:
  UnderWay(SharedMemory& memory, net::Copies& copies, engine::Scheduler& scheduler)
      : memory_(memory), copies_(copies), scheduler_(scheduler), actor_(*scheduler.current())
  {
    memory_.copies_.push_back(this);
  }
  ~UnderWay() override { std::erase(memory_.copies_, this); }

  void run(std::uint64_t bytes)
  {
    copies_.begin(*this, bytes);
    while (!done_)
      scheduler_.block();
  }
  void copied() override
  {
    done_ = true;
    scheduler_.wake(actor_);
  }
  [[nodiscard]] bool is_of(const engine::Actor& actor) const { return &actor_ == &actor; }
  void abandon() { copies_.forget(*this); }

private:
  SharedMemory& memory_;
  net::Copies& copies_;
  engine::Scheduler& scheduler_;
  engine::Actor& actor_;
  bool done_ = false;
};

SharedMemory::~SharedMemory() = default;

net::NodeMemory& SharedMemory::of(std::uint32_t node)
{
  auto& memory = nodes_[node];
  if (!memory)
    memory = std::make_unique<net::NodeMemory>(job_.scheduler().timeline(), parameters_,
                                               job_.plan().platform->node(node).cores);
  return *memory;
}

void SharedMemory::mapped(Rank& rank, const File& file, bool more)
{
  auto& files = files_[rank.node];
  std::vector<Using>& users = files[file];
  const auto own = std::find_if(users.begin(), users.end(), [&rank](const Using& use) { return use.rank == &rank; });
  if (more && own == users.end())
    users.push_back({&rank, 1});
  else if (more)
    ++own->mappings;
  else if (own != users.end() && --own->mappings == 0)
    users.erase(own);
  else
    return;
  if (users.empty())
    files.erase(file);
  find_peers(rank.node);
}

void SharedMemory::forget(Rank& rank)
{
  for (auto& [file, users] : files_[rank.node])
    std::erase_if(users, [&rank](const Using& use) { return use.rank == &rank; });
  std::erase_if(files_[rank.node], [](const auto& entry) { return entry.second.empty(); });
  find_peers(rank.node);
}

void SharedMemory::forget(const engine::Actor& actor)
{
  std::erase_if(copies_, [&actor](UnderWay* copy) {
    if (!copy->is_of(actor))
      return false;
    copy->abandon();
    return true;
  });
}

void SharedMemory::find_peers(std::uint32_t node)
{
  for (const auto& rank : job_.ranks())
    if (rank->node == node)
      rank->memory_peers.clear();
  for (const auto& [file, users] : files_[node])
    for (const Using& one : users)
      for (const Using& other : users)
        if (one.rank != other.rank && std::find(one.rank->memory_peers.begin(), one.rank->memory_peers.end(),
                                                other.rank) == one.rank->memory_peers.end())
          one.rank->memory_peers.push_back(other.rank);
  for (const auto& rank : job_.ranks()) // the order of waking must not depend on numbers of files
    if (rank->node == node) {
      std::sort(rank->memory_peers.begin(), rank->memory_peers.end(),
                [](const Rank* a, const Rank* b) { return a->index < b->index; });
      rank->gate.shares_memory = !rank->memory_peers.empty();
    }
}

void SharedMemory::copy(Rank& rank, std::uint64_t bytes, SimTime start, bool writes)
{
  engine::Scheduler& scheduler = job_.scheduler();
  Thread& thread = rank.running();
  const SimTime begin = scheduler.now();
  net::Copies& copies = of(rank.node).copies_of(thread.place.core);
  rank.allow_switch();
  if (job_.energy() != nullptr)
    Energy::begins(thread, begin, false);
  if (!copies.idle() || !scheduler.pass(start + copies.alone(bytes))) {
    scheduler.sleep(start);
    UnderWay(*this, copies, scheduler).run(bytes);
  }
  const SimTime taken = scheduler.now() - begin;
  rank.gate.clock.cpu_ps += taken;
  rank.statistics.communication += taken;
  if (Energy* const energy = job_.energy(); energy != nullptr)
    energy->ends(rank, thread, observe::RankState::communication, begin, scheduler.now());
  if (thread.number == 0 && taken > 0)
    rank.tell_trace(observe::RankState::communication, begin, scheduler.now());
  rank.timers.cpu_passed();
  if (!writes)
    return;
  tell_peers(rank, 0, true);
  // What it writes before its next call is there when others look, unless they run at the same time.
  thread.poll.told = job_.workers() == nullptr || !job_.cpu().measured();
}

void SharedMemory::may_have_written(Rank& rank, SimTime ahead)
{
  if (!std::exchange(rank.running().poll.told, false))
    tell_peers(rank, ahead, false);
}

void SharedMemory::tell_peers(Rank& rank, SimTime ahead, bool written)
{
  const net::NodeMemory& memory = of(rank.node);
  const unsigned core = rank.running().place.core;
  const SimTime now = job_.scheduler().now();
  for (Rank* peer : rank.memory_peers) {
    if (peer->phase == Rank::Phase::ended)
      continue;
    ++peer->gate.changes;
    peer->gate.line_ps = memory.line(core, peer->main().place.core); // of what it copies next
    peer->came(static_cast<std::size_t>(rank.index), nullptr, now + ahead, 0);
    peer->call_in();
    for (const auto& thread : peer->threads)
      thread->look_again_at(now + ahead + memory.seen_after(core, thread->place.core), written);
  }
}

} // namespace umwelt::job
