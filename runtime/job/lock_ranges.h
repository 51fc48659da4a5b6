// SPDX-License-Identifier: LGPL-2.1-or-later
// Locks on byte ranges of one file, fcntl(2): who has which, as fs/locks.c of Linux keeps them. An owner's own locks
// never stand in its way: a new one replaces what it had there, in part if need be; neighbours of the same mode become
// one.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace umwelt::job
{

// A process, or an open file description of one.
struct LockOwner {
  std::uint32_t rank;
  std::uint64_t description;                          // 0: the process
  auto operator<=>(const LockOwner&) const = default; // NOLINT(modernize-use-nullptr): a false alarm
};

enum class LockMode : std::uint8_t { none, shared, exclusive };

struct HeldLock {
  LockOwner owner;
  std::int64_t first, last; // bytes, both inclusive
  LockMode mode;
  bool operator==(const HeldLock&) const = default;
};

class LockRanges
{
public:
  // What stands in the way of `wanted`, the first of whoever came first; null: nothing.
  [[nodiscard]] const HeldLock* conflict(const HeldLock& wanted) const;
  // All that stands in its way.
  [[nodiscard]] std::vector<LockOwner> conflicts(const HeldLock& wanted) const;
  // The owner has this mode on the range from now on. Nothing stands in its way.
  void change(const HeldLock& to);
  // True: the owner had some.
  bool drop(const LockOwner& owner);
  [[nodiscard]] bool empty() const { return held_.empty(); }
  [[nodiscard]] const std::vector<HeldLock>& held() const { return held_; }

private:
  std::vector<HeldLock> held_; // owner by owner, each in the order of its bytes
};

} // namespace umwelt::job
