// SPDX-License-Identifier: LGPL-2.1-or-later
// futex(2) among simulated threads: the wait queues that the kernel would keep.
//
// Everything of the C library that waits ends in a futex, and so do libgomp, libstdc++ and others that call the kernel
// on their own. Here such a wait blocks the simulated thread only, and time-outs are in virtual time. Ranks of a
// process share its address space, so an address names a futex for all of them. No other thread of the rank runs
// meanwhile, so a word in another process need not be changed atomically.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <unordered_map>
#include <vector>

#include "runtime/base/time.h"

namespace umwelt::job
{

struct Thread;

class Futexes
{
public:
  // As the system call: arguments by position, a negative errno on failure.
  std::int64_t call(Thread& thread, std::uint32_t* word, int operation, std::uint32_t value, std::uint64_t fourth,
                    std::uint32_t* second_word, std::uint32_t sixth);
  // The thread is gone: it waits no more.
  void forget(const Thread& thread);

private:
  struct FutexKey {
    unsigned process; // Rank::worker
    std::uint32_t* word;
    bool operator==(const FutexKey&) const = default;
  };
  struct FutexKeyHash {
    std::size_t operator()(const FutexKey& place) const
    {
      return std::hash<std::uint32_t*>()(place.word) ^ (place.process * 0x9e3779b97f4a7c15ULL);
    }
  };
  struct Waiter {
    Thread* thread;
    std::uint32_t bits;
    FutexKey place;
    bool woken = false;
  };
  using Queue = std::vector<Waiter*>; // first in, first out

  std::int64_t wait(Thread& thread, const FutexKey& place, std::uint32_t value, std::uint32_t bits,
                    sim::SimTime deadline);
  std::int64_t block(Thread& thread, const FutexKey& place, std::uint32_t bits, sim::SimTime deadline,
                     bool interruptible);
  std::int64_t wake(const FutexKey& place, std::uint32_t most, std::uint32_t bits);
  std::int64_t requeue(const FutexKey& from, const FutexKey& to, std::uint32_t wake_most, std::uint32_t move_most);
  std::int64_t wake_op(const Thread& thread, const FutexKey& place, std::uint32_t most, const FutexKey& second,
                       std::uint32_t second_most, std::uint32_t encoded);
  std::int64_t lock_pi(Thread& thread, const FutexKey& place, bool wait, sim::SimTime deadline);
  std::int64_t unlock_pi(const Thread& thread, const FutexKey& place);
  void remove(Waiter& waiter);

  std::unordered_map<FutexKey, Queue, FutexKeyHash> queues_;
};

} // namespace umwelt::job
