// SPDX-License-Identifier: LGPL-2.1-or-later
// Locks of files between ranks: fcntl(2) with F_SETLK and F_OFD_SETLK, lockf(3), flock(2). The kernel cannot keep them,
// since ranks of a process are one owner to it, and a wait in it would stop all of them. A file is a file of this
// machine, so locks hold between nodes for what nodes share, and not for what each has of its own (/dev/shm). Programs
// outside of the simulation do not see them.
//
// A wait takes simulated time. Those who wait get the lock in the order in which they came, as soon as nothing stands
// in their way; whoever asks when nothing does gets it at once, as with Linux. They hear of it when their core can see
// what the other has done (net_models/node).
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <optional>

#include "runtime/base/timeline.h"
#include "runtime/job/lock_ranges.h"

namespace umwelt::job
{

class Job;
class Rank;
struct Thread;

class FileLocks
{
public:
  struct File {
    std::uint64_t device, inode;
    bool as_a_whole;                               // flock(2), which the others do not see
    auto operator<=>(const File&) const = default; // NOLINT(modernize-use-nullptr): a false alarm
  };
  // Of the running thread of the rank; `description`: 0, or one of the rank's numbers for its open file descriptions.
  struct Request {
    File file;
    std::uint64_t description;
    LockMode mode; // none: the range is unlocked
    std::int64_t first, last;
  };

  explicit FileLocks(Job& job) : job_(job) {}

  // 0, -EAGAIN: others are in the way, and it does not wait; -EINTR: a signal is due; -EDEADLK: they wait, directly or
  // not, for this very process (processes only, fcntl(2)).
  int lock(Rank& rank, const Request& request, bool waits);
  // What is in the way.
  [[nodiscard]] std::optional<HeldLock> test(const Rank& rank, const Request& request) const;
  // The rank has closed a descriptor of the file: its process has no lock on it any more.
  void closed(Rank& rank, std::uint64_t device, std::uint64_t inode);
  // No descriptor leads to that open file description any more.
  void closed(Rank& rank, std::uint64_t description);
  // The rank has ended.
  void forget(Rank& rank);

private:
  struct Waiter final : sim::Event {
    Waiter(Thread& t, const HeldLock& l) : thread(t), wanted(l) {}
    void fire() override;
    Thread& thread;
    const HeldLock wanted;
    bool granted = false;
    bool woken = false; // it sees that
  };
  struct Locked {
    LockRanges ranges;
    std::list<Waiter> waiting; // first come, first served
  };

  int wait(Rank& rank, const File& file, const HeldLock& wanted);
  // Others may go on after what the running thread of `rank` has done.
  void serve(Rank& rank, Locked& locked);
  void tidy(const File& file);
  [[nodiscard]] bool would_wait_for_itself(const Locked& locked, const HeldLock& wanted) const;

  Job& job_;
  std::map<File, Locked> files_;
};

} // namespace umwelt::job
