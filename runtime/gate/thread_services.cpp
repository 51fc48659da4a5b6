// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads of a rank: their lives, waits and cores. The last four are answered in the process that carries the rank.
#include "runtime/gate/services.h"

#include <cerrno>
#include <cstdint>

#include "runtime/gate/deadline.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

using job::Rank;

int umw_thread_create(Rank& rank, umw_thread_start start, void* argument, std::uint64_t stack_bytes,
                      std::uint64_t thread_pointer, int kernel_tid)
{
  return rank.job.create_thread(rank, start, argument, stack_bytes, thread_pointer, kernel_tid);
}

int umw_thread_end(Rank& rank, int)
{
  rank.job.end_thread(rank);
}

int umw_thread_join(Rank& rank, std::uint64_t thread, int wait)
{
  return rank.job.join_thread(rank, thread, wait != 0) ? 0 : -EBUSY;
}

int umw_thread_wait(Rank& rank, std::uint64_t seen, std::int64_t duration, std::uint64_t place, std::uint64_t self)
{
  if (rank.gate.wakes != seen || rank.signal_due(rank.running())) // while this thread's own burst was being charged
    return 0;
  return rank.wait_at(place, self, deadline(rank, duration)) ? 0 : 1;
}

int umw_thread_wake(Rank& rank, std::uint64_t place, std::uint32_t most)
{
  if (place != 0)
    rank.notify_at(place, most);
  else
    rank.notify_all();
  // Where computing takes no time, a thread that looks in vain and gives up a lock between two looks would always have
  // it again before those it has woken, who may be the ones that get on: MPICH's threads wait so for messages.
  const job::PollState& poll = rank.running().poll;
  if (!rank_host::Cpu::measures(rank.gate.clock) && (poll.empty != 0 || rank.gate.quick_polls != 0) &&
      rank.gate.no_switch == 0)
    rank.job.scheduler().yield();
  return 0;
}

int umw_thread_cancel(Rank& rank, int tid)
{
  job::Thread* thread = rank.job.find_thread(rank, tid);
  if (thread == nullptr)
    return -ESRCH;
  thread->cancelled = true;
  if (thread->sleeps)
    rank.job.scheduler().wake(*thread->actor);
  rank.notify_all();
  return 0;
}

int umw_affinity_get(Rank& rank, int tid, unsigned char* bits, std::uint64_t bytes)
{
  return rank.job.get_affinity(rank, tid, bits, bytes);
}

int umw_affinity_set(Rank& rank, int tid, const unsigned char* bits, std::uint64_t bytes)
{
  return rank.job.set_affinity(rank, tid, bits, bytes);
}

std::int64_t umw_futex(Rank& rank, std::uint32_t* word, int operation, std::uint32_t value, std::uint64_t fourth,
                       std::uint32_t* second_word, std::uint32_t sixth)
{
  return rank.job.futexes().call(rank.running(), word, operation, value, fourth, second_word, sixth);
}

int umw_descriptor_wait(Rank& rank, std::uint64_t seen, std::int64_t duration)
{
  if (rank.gate.wakes != seen || rank.signal_due(rank.running()))
    return 0;
  job::Thread& thread = rank.running();
  const std::uint64_t changed = rank.changed;
  rank.falls_asleep(thread);
  thread.at_descriptors = true;
  const bool woken = rank.wait_in_background(deadline(rank, duration));
  thread.at_descriptors = false;
  rank.wakes_up(thread);
  if (rank.changed != changed)
    thread.poll.empty = 0;
  return woken ? 0 : 1;
}

int umw_burst_paused(Rank&, int)
{
  return -ENOSYS; // rank_host::RankHost::call() has answered
}

int umw_pause_was_long(Rank&, std::uint64_t)
{
  return -ENOSYS; // likewise
}

int umw_scope_file(Rank&, const char*, std::uint64_t, char*)
{
  return -ENOSYS; // answered in its process
}

int umw_original_code(Rank&, int)
{
  return -ENOSYS; // likewise
}

std::uint64_t umw_stack_top(Rank&, int)
{
  return 0; // likewise
}

} // namespace umwelt::gate::services
