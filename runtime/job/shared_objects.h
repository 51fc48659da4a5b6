// SPDX-License-Identifier: LGPL-2.1-or-later
// Locks, semaphores, conditions and barriers that ranks of a node share (PTHREAD_PROCESS_SHARED, sem_init, sem_open):
// who waits for which. Their state is the C library's, in the shared memory itself; conditions and barriers have theirs
// here. An object is where it lies in the file that ranks have mapped, wherever that is. Who waits hears of a release
// when its core can see it (net_models/node).
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>

#include "runtime/base/timeline.h"

namespace umwelt::job
{

class Job;
class Rank;
struct Thread;

class SharedObjects
{
public:
  struct ObjectKey {
    std::uint32_t node;
    std::uint64_t device, inode, offset;
    auto operator<=>(const ObjectKey&) const = default; // NOLINT(modernize-use-nullptr): what the compiler writes
  };

  explicit SharedObjects(Job& job) : job_(job) {}

  // All for the running thread of the rank. Deadlines are times; waits may end early.
  bool wait(Rank& rank, const ObjectKey& object, std::uint64_t seen,
            sim::SimTime deadline); // false: the deadline came first
  void wake(Rank& rank, const ObjectKey& object);

  void enter_condition(Rank& rank, const ObjectKey& condition);
  enum class Ending : std::uint8_t { signalled, deadline, early };
  Ending wait_for_condition(Rank& rank, sim::SimTime deadline);
  void leave_condition(Rank& rank);
  void signal(Rank& rank, const ObjectKey& condition, bool all);

  // True: it was the last of `count`.
  bool meet(Rank& rank, const ObjectKey& barrier, std::uint32_t count);

  // The thread is gone: it waits no more.
  void forget(const Thread& thread);

private:
  struct Waiter final : sim::Event {
    explicit Waiter(Thread& t) : thread(t) {}
    void fire() override;
    Thread& thread;
    bool told = false;  // that it is its turn, which it sees
    bool woken = false; // at this time
  };
  using Queue = std::list<Waiter>; // first in, first out

  Waiter& enter(Rank& rank, const ObjectKey& place);
  void leave(const ObjectKey& place, const Waiter& waiter);
  void tell(Rank& rank, Waiter& waiter);

  Job& job_;
  std::map<ObjectKey, Queue> queues_;
  std::map<const Thread*, ObjectKey> in_condition_;
};

} // namespace umwelt::job
