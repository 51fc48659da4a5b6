// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads of ranks (thread.h is one of them): made, joined, bound to cores, ended.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/rank_host/cross.h"

namespace umwelt::job
{

Thread& Job::add_thread(Rank& rank, const std::vector<unsigned>& allowed)
{
  auto thread = std::make_unique<Thread>(rank, rank.threads_made++);
  thread->place.allowed = allowed;
  // The core with the fewest living threads of the rank.
  std::vector<unsigned> users(plan_.platform->node(rank.node).cores);
  for (const auto& other : rank.threads)
    users[other->place.core] += !other->ended();
  thread->place.core = *std::min_element(allowed.begin(), allowed.end(),
                                         [&users](unsigned a, unsigned b) { return users[a] < users[b]; });
  if (workers_) {
    const auto slot = rank.threads.empty() ? std::optional(rank.main_slot) : workers_->take_slot(rank.worker);
    if (!slot)
      throw std::system_error(EAGAIN, std::generic_category(), "slot of a thread");
    thread->channel = std::make_unique<Channel>(*thread, rank.worker, *slot);
  } else {
    thread->here = &own_process_.add_thread(rank.hosted);
  }
  rank.threads.push_back(std::move(thread));
  rank.awake.push_back(rank.threads.back().get());
  return *rank.threads.back();
}

// Of threads that have ended nothing is kept: a rank may make any number of them, one after another.
void Job::clear_away_ended(Rank& rank)
{
  std::erase_if(rank.threads, [this](const auto& thread) {
    if (thread->number == 0 || !thread->ended())
      return false;
    if (thread->here != nullptr)
      own_process_.remove_thread(*thread->here);
    if (thread->channel && thread->channel->closed()) // the worker process has forgotten it by now
      workers_->give_slot(thread->channel->worker(), thread->channel->slot());
    scheduler_.release(*thread->actor);
    return true;
  });
}

int Job::create_thread(Rank& rank, umw_thread_start start, void* argument, std::size_t bytes,
                       std::uint64_t thread_pointer, std::int32_t kernel_id)
{
  const std::vector<unsigned> allowed = rank.running().place.allowed; // inherited, pthread_create(3)
  clear_away_ended(rank);
  const unsigned number = rank.threads_made;
  try {
    Thread& thread = add_thread(rank, allowed);
    thread.tid = UMW_FIRST_THREAD_ID + thread_ids_++;
    thread.blocked = rank.running().blocked; // pthread_create(3)
    const std::string name = fmt::format("{} thread {}", rank.title(), thread.number);
    if (thread.here != nullptr) {
      thread.here->thread_pointer = thread_pointer;
      thread.here->kernel_id = kernel_id;
      thread.actor = thread.here->fiber = &scheduler_.spawn(
          name,
          [this, &thread, start, argument] {
            thread.rank.leave();
            own_process_.live(*thread.here, start, argument);
          },
          std::max(bytes, rank_host::smallest_stack));
    } else { // the worker process is to know the slot
      rank.running().channel->tell_slot(thread.channel->slot());
      thread.actor = &scheduler_.spawn(
          name, [&thread] { thread.channel->live(); }, stand_in_stack);
    }
    thread.id = thread_pointer;
    thread.actor->owner = &thread;
  } catch (const std::exception&) {
    std::erase_if(rank.awake, [number](const Thread* thread) { return thread->number == number; });
    if (const auto& last = rank.threads.back(); last->number == number) {
      if (last->here != nullptr)
        own_process_.remove_thread(*last->here);
      rank.threads.pop_back();
    }
    return -EAGAIN;
  }
  return rank.threads.back()->tid;
}

void Job::end_thread(Rank& rank)
{
  ++rank.gate.wakes;
  rank.notify_all();
  if (const auto& channel = rank.running().channel)
    workers_->give_slot(channel->worker(), channel->slot());
  rank.falls_asleep(rank.running());
  scheduler_.end_current();
}

bool Job::join_thread(Rank& rank, std::uint64_t id, bool wait)
{
  const auto lives = [&rank, id] {
    return std::any_of(rank.threads.begin(), rank.threads.end(),
                       [id](const auto& thread) { return thread->number > 0 && thread->id == id && !thread->ended(); });
  };
  while (lives()) {
    if (!wait)
      return false;
    rank.wait(sim::never);
  }
  return true;
}

int Job::get_affinity(Rank& rank, std::int32_t tid, unsigned char* bits, std::size_t bytes)
{
  const Thread* thread = find_thread(rank, tid);
  if (thread == nullptr)
    return -ESRCH;
  const std::size_t needed = (plan_.platform->node(rank.node).cores + 63) / 64 * 8; // whole words, sched_setaffinity(2)
  if (bytes < needed)
    return -EINVAL;
  std::memset(bits, 0, needed);
  for (const unsigned core : thread->place.allowed)
    bits[core / 8] = static_cast<unsigned char>(bits[core / 8] | 1U << core % 8);
  return static_cast<int>(needed);
}

int Job::set_affinity(Rank& rank, std::int32_t tid, const unsigned char* bits, std::size_t bytes)
{
  Thread* thread = find_thread(rank, tid);
  if (thread == nullptr)
    return -ESRCH;
  std::vector<unsigned> cores;
  for (unsigned core = 0; core < plan_.platform->node(rank.node).cores && core / 8 < bytes; ++core)
    if ((bits[core / 8] >> core % 8 & 1) != 0)
      cores.push_back(core);
  if (cores.empty())
    return -EINVAL;
  thread->place.allowed = std::move(cores);
  if (thread == &rank.running()) // others move with their next burst
    thread->choose_core();
  return 0;
}

Thread* Job::find_thread(Rank& rank, std::int32_t tid)
{
  if (tid == 0)
    return &rank.running();
  for (const auto& thread : rank.threads)
    if (thread->tid == tid && !thread->ended())
      return thread.get();
  return nullptr;
}

} // namespace umwelt::job
