// SPDX-License-Identifier: LGPL-2.1-or-later
// futex(2) among simulated threads: the wait queues that the kernel would keep.
//
// Everything of the C library that waits ends in a futex, and so do libgomp, libstdc++ and others that call the kernel on
// their own. Here such a wait blocks the simulated thread only, and time-outs are in virtual time. Ranks of a process share its
// address space, so an address names a futex for all of them.
#pragma once

#include <cstdint>
#include <ctime>
#include <unordered_map>
#include <vector>

#include "net_models/core/time.h"

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
  struct Waiter {
    Thread* thread;
    std::uint32_t bits;
    std::uint32_t* word;
    bool woken = false;
  };
  using Queue = std::vector<Waiter*>; // first in, first out

  std::int64_t wait(Thread& thread, std::uint32_t* word, std::uint32_t value, std::uint32_t bits,
                    sim::SimTime deadline);
  std::int64_t block(Thread& thread, std::uint32_t* word, std::uint32_t bits, sim::SimTime deadline);
  std::int64_t wake(std::uint32_t* word, std::uint32_t most, std::uint32_t bits);
  std::int64_t requeue(std::uint32_t* from, std::uint32_t* to, std::uint32_t wake_most, std::uint32_t move_most);
  std::int64_t wake_op(std::uint32_t* word, std::uint32_t most, std::uint32_t* second, std::uint32_t second_most,
                       std::uint32_t encoded);
  std::int64_t lock_pi(Thread& thread, std::uint32_t* word, bool wait, sim::SimTime deadline);
  std::int64_t unlock_pi(const Thread& thread, std::uint32_t* word);
  void remove(Waiter& waiter);

  std::unordered_map<std::uint32_t*, Queue> queues_;
};

} // namespace umwelt::job
