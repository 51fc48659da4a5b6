// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/file_locks.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

namespace
{

constexpr SimTime attempt = sim::microsecond; // where computing takes no time, so does a system call that fails

HeldLock wanted_by(const Rank& rank, const FileLocks::Request& request)
{
  return {{static_cast<std::uint32_t>(rank.index), request.description}, request.first, request.last, request.mode};
}

} // namespace

void FileLocks::Waiter::fire()
{
  woken = true;
  thread.rank.job.polling().progress();
  thread.rank.job.scheduler().wake(*thread.actor);
}

int FileLocks::lock(Rank& rank, const Request& request, bool waits)
{
  const HeldLock wanted = wanted_by(rank, request);
  Locked& locked = files_[request.file];
  // flock(2): a lock is not converted, the old one goes first.
  if (request.file.as_a_whole && locked.ranges.drop(wanted.owner))
    serve(rank, locked);
  int result = 0;
  if (request.mode != LockMode::none && locked.ranges.conflict(wanted) != nullptr) {
    if (!waits) {
      result = -EAGAIN;
      if (!rank_host::Cpu::measures(rank.gate.clock)) // it may try again and again
        job_.scheduler().sleep(attempt);
    } else if (request.description == 0 && would_wait_for_itself(locked, wanted)) {
      result = -EDEADLK;
    } else {
      result = wait(rank, request.file, wanted);
    }
  } else {
    locked.ranges.change(wanted);
    serve(rank, locked);
    job_.polling().progress();
  }
  tidy(request.file);
  return result;
}

int FileLocks::wait(Rank& rank, const File& file, const HeldLock& wanted)
{
  std::list<Waiter>& waiting = files_.at(file).waiting;
  const auto self = waiting.emplace(waiting.end(), rank.running(), wanted);
  while (!self->woken) {
    if (!self->granted && rank.signal_due(self->thread))
      break;
    rank.wait(sim::never, Rank::For::itself);
  }
  const bool woken = self->woken;
  waiting.erase(self);
  return woken ? 0 : -EINTR;
}

void FileLocks::serve(Rank& rank, Locked& locked)
{
  for (auto next = locked.waiting.begin(); next != locked.waiting.end();) {
    if (next->granted || locked.ranges.conflict(next->wanted) != nullptr) {
      ++next;
      continue;
    }
    next->granted = true;
    locked.ranges.change(next->wanted);
    job_.scheduler().timeline().schedule_in(
        *next, job_.shared_memory().of(rank.node).seen_after(rank.running().place.core, next->thread.place.core));
    next = locked.waiting.begin(); // it may have given up an exclusive one for a shared one
  }
}

void FileLocks::tidy(const File& file)
{
  const auto entry = files_.find(file);
  if (entry != files_.end() && entry->second.ranges.empty() && entry->second.waiting.empty())
    files_.erase(entry);
}

bool FileLocks::would_wait_for_itself(const Locked& locked, const HeldLock& wanted) const
{
  std::vector<LockOwner> ahead = locked.ranges.conflicts(wanted);
  std::set<LockOwner> seen;
  while (!ahead.empty()) {
    const LockOwner owner = ahead.back();
    ahead.pop_back();
    if (owner == wanted.owner)
      return true;
    if (owner.description != 0 || !seen.insert(owner).second)
      continue;
    for (const auto& [file, other] : files_)
      for (const Waiter& waiter : other.waiting)
        if (waiter.wanted.owner == owner && !waiter.granted) {
          const std::vector<LockOwner> further = other.ranges.conflicts(waiter.wanted);
          ahead.insert(ahead.end(), further.begin(), further.end());
        }
  }
  return false;
}

std::optional<HeldLock> FileLocks::test(const Rank& rank, const Request& request) const
{
  const auto entry = files_.find(request.file);
  const HeldLock* found = entry == files_.end() ? nullptr : entry->second.ranges.conflict(wanted_by(rank, request));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

void FileLocks::closed(Rank& rank, std::uint64_t device, std::uint64_t inode)
{
  const File file{device, inode, false};
  const auto entry = files_.find(file);
  if (entry == files_.end())
    return;
  if (entry->second.ranges.drop({static_cast<std::uint32_t>(rank.index), 0}))
    serve(rank, entry->second);
  tidy(file);
}

void FileLocks::closed(Rank& rank, std::uint64_t description)
{
  for (auto entry = files_.begin(); entry != files_.end();) {
    const auto current = entry++;
    if (current->second.ranges.drop({static_cast<std::uint32_t>(rank.index), description}))
      serve(rank, current->second);
    tidy(current->first);
  }
}

void FileLocks::forget(Rank& rank)
{
  const auto index = static_cast<std::uint32_t>(rank.index);
  for (auto entry = files_.begin(); entry != files_.end();) {
    const auto current = entry++;
    Locked& locked = current->second;
    for (Waiter& waiter : locked.waiting)
      if (waiter.wanted.owner.rank == index && waiter.pending())
        job_.scheduler().timeline().cancel(waiter);
    locked.waiting.remove_if([index](const Waiter& waiter) { return waiter.wanted.owner.rank == index; });
    std::vector<LockOwner> owners;
    for (const HeldLock& held : locked.ranges.held())
      if (held.owner.rank == index)
        owners.push_back(held.owner);
    for (const LockOwner& owner : owners)
      locked.ranges.drop(owner);
    serve(rank, locked);
    tidy(current->first);
  }
}

} // namespace umwelt::job
