// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/futexes.h"

#include <algorithm>
#include <cerrno>

#include <linux/futex.h>

#include "preload/abi/time_units.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

namespace
{

// Time on the simulation's clock of an absolute time that the rank gives.
SimTime absolute_time(const Rank& rank, const timespec& t, bool realtime)
{
  const umw_clock& clock = rank.gate.clock;
  const std::int64_t origin = realtime ? clock.realtime_origin_ns : clock.uptime_origin_ns;
  const timespec begin{origin / 1'000'000'000, origin % 1'000'000'000};
  return umw_time_after(0, umw_ps_between(&begin, &t));
}

// A word in the memory of a rank. False: there is no such memory.
bool load(const Thread& thread, const std::uint32_t* word, std::uint32_t& value)
{
  if (thread.here == nullptr)
    return thread.rank.portals->memory().read(&value, word, sizeof value);
  value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  return true;
}

bool store(const Thread& thread, std::uint32_t* word, std::uint32_t value)
{
  if (thread.here == nullptr)
    return thread.rank.portals->memory().write(word, &value, sizeof value);
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  return true;
}

} // namespace

std::int64_t Futexes::call(Thread& thread, std::uint32_t* word, int operation, std::uint32_t value,
                           std::uint64_t fourth, std::uint32_t* second_word, std::uint32_t sixth)
{
  if (reinterpret_cast<std::uintptr_t>(word) % 4 != 0)
    return -EINVAL;
  const int command = operation & FUTEX_CMD_MASK;
  SimTime deadline = sim::never;
  if (fourth != 0 && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
                      command == FUTEX_LOCK_PI2)) {
    timespec timeout{};
    if (!thread.rank.portals->memory().read(&timeout, reinterpret_cast<const void*>(fourth), sizeof timeout))
      return -EFAULT;
    if (!umw_is_time(&timeout))
      return -EINVAL;
    const SimTime now = thread.rank.job.scheduler().now();
    const bool realtime = command == FUTEX_LOCK_PI || (operation & FUTEX_CLOCK_REALTIME) != 0;
    deadline = command == FUTEX_WAIT ? umw_time_after(now, umw_ps_of_timespec(&timeout))
                                     : absolute_time(thread.rank, timeout, realtime);
  }
  const FutexKey place{thread.rank.worker, word};
  const FutexKey second{thread.rank.worker, second_word};
  switch (command) {
  case FUTEX_WAIT:
    return wait(thread, place, value, FUTEX_BITSET_MATCH_ANY, deadline);
  case FUTEX_WAIT_BITSET:
    return wait(thread, place, value, sixth, deadline);
  case FUTEX_WAKE:
    return wake(place, value, FUTEX_BITSET_MATCH_ANY);
  case FUTEX_WAKE_BITSET:
    return wake(place, value, sixth);
  case FUTEX_CMP_REQUEUE: {
    std::uint32_t current = 0;
    if (!load(thread, word, current))
      return -EFAULT;
    if (current != sixth)
      return -EAGAIN;
    [[fallthrough]];
  }
  case FUTEX_REQUEUE:
    return requeue(place, second, value, static_cast<std::uint32_t>(fourth));
  case FUTEX_WAKE_OP:
    return wake_op(thread, place, value, second, static_cast<std::uint32_t>(fourth), sixth);
  case FUTEX_LOCK_PI:
  case FUTEX_LOCK_PI2:
    return lock_pi(thread, place, true, deadline);
  case FUTEX_TRYLOCK_PI:
    return lock_pi(thread, place, false, deadline);
  case FUTEX_UNLOCK_PI:
    return unlock_pi(thread, place);
  default:
    return -ENOSYS;
  }
}

std::int64_t Futexes::wait(Thread& thread, const FutexKey& place, std::uint32_t value, std::uint32_t bits,
                           SimTime deadline)
{
  if (bits == 0)
    return -EINVAL;
  std::uint32_t current = 0;
  if (!load(thread, place.word, current))
    return -EFAULT;
  if (current != value)
    return -EAGAIN;
  return block(thread, place, bits, deadline, true);
}

std::int64_t Futexes::block(Thread& thread, const FutexKey& place, std::uint32_t bits, SimTime deadline,
                            bool interruptible)
{
  Waiter self{&thread, bits, place};
  queues_[place].push_back(&self);
  while (!self.woken) {
    if (interruptible && thread.rank.signal_due(thread)) {
      remove(self);
      return -EINTR;
    }
    if (!thread.rank.wait(deadline, Rank::For::itself) && !self.woken) {
      remove(self);
      return -ETIMEDOUT;
    }
  }
  return 0;
}

void Futexes::remove(Waiter& waiter)
{
  const auto queue = queues_.find(waiter.place);
  if (queue == queues_.end())
    return;
  std::erase(queue->second, &waiter);
  if (queue->second.empty())
    queues_.erase(queue);
}

std::int64_t Futexes::wake(const FutexKey& place, std::uint32_t most, std::uint32_t bits)
{
  if (bits == 0)
    return -EINVAL;
  const auto queue = queues_.find(place);
  if (queue == queues_.end())
    return 0;
  std::uint32_t woken = 0;
  std::erase_if(queue->second, [&](Waiter* waiter) {
    if (woken >= most || (waiter->bits & bits) == 0)
      return false;
    ++woken;
    waiter->woken = true;
    waiter->thread->rank.job.polling().progress();
    waiter->thread->rank.job.scheduler().wake(*waiter->thread->actor);
    return true;
  });
  if (queue->second.empty())
    queues_.erase(queue);
  return woken;
}

std::int64_t Futexes::requeue(const FutexKey& from, const FutexKey& to, std::uint32_t wake_most,
                              std::uint32_t move_most)
{
  const std::int64_t woken = wake(from, wake_most, FUTEX_BITSET_MATCH_ANY);
  const auto source = queues_.find(from);
  if (source == queues_.end() || from == to)
    return woken;
  const std::size_t moved = std::min<std::size_t>(move_most, source->second.size());
  const auto end = source->second.begin() + static_cast<std::ptrdiff_t>(moved);
  const Queue moving(source->second.begin(), end);
  source->second.erase(source->second.begin(), end);
  if (source->second.empty())
    queues_.erase(source);
  for (Waiter* waiter : moving) {
    waiter->place = to;
    queues_[to].push_back(waiter);
  }
  return woken + static_cast<std::int64_t>(moved);
}

// futex(2), FUTEX_WAKE_OP: one word is changed and compared, then both are woken.
std::int64_t Futexes::wake_op(const Thread& thread, const FutexKey& place, std::uint32_t most, const FutexKey& second,
                              std::uint32_t second_most, std::uint32_t encoded)
{
  const auto sign_extended = [](std::uint32_t twelve_bits) {
    return static_cast<std::int32_t>(twelve_bits << 20) >> 20;
  };
  const std::uint32_t operation = encoded >> 28 & 7;
  const std::uint32_t comparison = encoded >> 24 & 15;
  auto operand = static_cast<std::uint32_t>(sign_extended(encoded >> 12 & 0xfff));
  const std::int32_t compared = sign_extended(encoded & 0xfff);
  if ((encoded >> 28 & FUTEX_OP_OPARG_SHIFT) != 0)
    operand = 1U << (operand & 31);
  std::uint32_t old = 0;
  if (!load(thread, second.word, old))
    return -EFAULT;
  std::uint32_t changed = 0;
  switch (operation) {
  case FUTEX_OP_SET:
    changed = operand;
    break;
  case FUTEX_OP_ADD:
    changed = old + operand;
    break;
  case FUTEX_OP_OR:
    changed = old | operand;
    break;
  case FUTEX_OP_ANDN:
    changed = old & ~operand;
    break;
  case FUTEX_OP_XOR:
    changed = old ^ operand;
    break;
  default:
    return -ENOSYS;
  }
  if (!store(thread, second.word, changed))
    return -EFAULT;
  const auto value = static_cast<std::int32_t>(old);
  bool holds = false;
  switch (comparison) {
  case FUTEX_OP_CMP_EQ:
    holds = value == compared;
    break;
  case FUTEX_OP_CMP_NE:
    holds = value != compared;
    break;
  case FUTEX_OP_CMP_LT:
    holds = value < compared;
    break;
  case FUTEX_OP_CMP_LE:
    holds = value <= compared;
    break;
  case FUTEX_OP_CMP_GT:
    holds = value > compared;
    break;
  case FUTEX_OP_CMP_GE:
    holds = value >= compared;
    break;
  default:
    return -ENOSYS;
  }
  return wake(place, most, FUTEX_BITSET_MATCH_ANY) + (holds ? wake(second, second_most, FUTEX_BITSET_MATCH_ANY) : 0);
}

// Priorities are not simulated, so a priority-inheritance lock is a lock whose word names the owner.
std::int64_t Futexes::lock_pi(Thread& thread, const FutexKey& place, bool may_wait, SimTime deadline)
{
  const std::uint32_t self = thread.kernel_id;
  std::uint32_t current = 0;
  if (!load(thread, place.word, current))
    return -EFAULT;
  if ((current & FUTEX_TID_MASK) == 0) {
    const std::uint32_t waiters = queues_.contains(place) ? FUTEX_WAITERS : 0U;
    return store(thread, place.word, self | (current & FUTEX_OWNER_DIED) | waiters) ? 0 : -EFAULT;
  }
  if ((current & FUTEX_TID_MASK) == self)
    return -EDEADLK;
  if (!may_wait)
    return -EAGAIN;
  if (!store(thread, place.word, current | FUTEX_WAITERS))
    return -EFAULT;
  return block(thread, place, FUTEX_BITSET_MATCH_ANY, deadline, false); // unlock_pi hands it over
}

std::int64_t Futexes::unlock_pi(const Thread& thread, const FutexKey& place)
{
  std::uint32_t current = 0;
  if (!load(thread, place.word, current))
    return -EFAULT;
  if ((current & FUTEX_TID_MASK) != thread.kernel_id)
    return -EPERM;
  const auto queue = queues_.find(place);
  if (queue == queues_.end())
    return store(thread, place.word, 0) ? 0 : -EFAULT;
  const std::uint32_t next = queue->second.front()->thread->kernel_id;
  if (!store(thread, place.word, next | (queue->second.size() > 1 ? FUTEX_WAITERS : 0U)))
    return -EFAULT;
  wake(place, 1, FUTEX_BITSET_MATCH_ANY);
  return 0;
}

void Futexes::forget(const Thread& thread)
{
  for (auto queue = queues_.begin(); queue != queues_.end();) {
    std::erase_if(queue->second, [&thread](const Waiter* waiter) { return waiter->thread == &thread; });
    queue = queue->second.empty() ? queues_.erase(queue) : std::next(queue);
  }
}

} // namespace umwelt::job
