// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/lock_ranges.h"

#include <algorithm>

namespace umwelt::job
{

namespace
{

bool excludes(const HeldLock& held, const HeldLock& wanted)
{
  return held.owner != wanted.owner && held.first <= wanted.last && wanted.first <= held.last &&
         (held.mode == LockMode::exclusive || wanted.mode == LockMode::exclusive);
}

bool continues(const HeldLock& before, const HeldLock& after)
{
  return before.mode == after.mode && before.last + 1 == after.first; // the greatest offset has nothing after it
}

} // namespace

const HeldLock* LockRanges::conflict(const HeldLock& wanted) const
{
  const auto found =
      std::find_if(held_.begin(), held_.end(), [&wanted](const HeldLock& held) { return excludes(held, wanted); });
  return found == held_.end() ? nullptr : &*found;
}

std::vector<LockOwner> LockRanges::conflicts(const HeldLock& wanted) const
{
  std::vector<LockOwner> owners;
  for (const HeldLock& held : held_)
    if (excludes(held, wanted) && (owners.empty() || owners.back() != held.owner))
      owners.push_back(held.owner);
  return owners;
}

void LockRanges::change(const HeldLock& to)
{
  const auto is_owners = [&to](const HeldLock& held) { return held.owner == to.owner; };
  const auto begin = std::find_if(held_.begin(), held_.end(), is_owners);
  const auto end = std::find_if_not(begin, held_.end(), is_owners);
  std::vector<HeldLock> own;
  const auto add = [&own](const HeldLock& lock) {
    if (!own.empty() && continues(own.back(), lock))
      own.back().last = lock.last;
    else
      own.push_back(lock);
  };
  bool placed = to.mode == LockMode::none;
  const auto place = [&] {
    if (!placed)
      add(to);
    placed = true;
  };
  for (auto lock = begin; lock != end; ++lock) {
    if (lock->first < to.first)
      add({lock->owner, lock->first, std::min(lock->last, to.first - 1), lock->mode});
    if (lock->last < to.first)
      continue;
    place();
    if (lock->last > to.last)
      add({lock->owner, std::max(lock->first, to.last + 1), lock->last, lock->mode});
  }
  place();
  held_.insert(held_.erase(begin, end), own.begin(), own.end());
}

bool LockRanges::drop(const LockOwner& owner)
{
  return std::erase_if(held_, [&owner](const HeldLock& held) { return held.owner == owner; }) > 0;
}

} // namespace umwelt::job
