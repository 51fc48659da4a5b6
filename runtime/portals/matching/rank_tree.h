// SPDX-License-Identifier: LGPL-2.1-or-later
// How many items of a list stand before one of them, in O(log n) (a Fenwick tree over append positions).
//
// A NIC walks its match list entry by entry and a model charges time for each; the engine finds the entry by hashing,
// so the number of steps the walk would have taken is counted here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace umwelt::portals
{

class RankTree
{
public:
  // Positions are handed out in order. When full, the owner calls restart() and takes new positions for all items in
  // order.
  [[nodiscard]] bool full() const { return next_ == counts_.size(); }
  void restart(std::size_t items)
  {
    std::size_t capacity = 64;
    while (capacity < 2 * items)
      capacity *= 2;
    counts_.assign(capacity, 0);
    next_ = 0;
  }

  std::uint32_t append()
  {
    add(next_, 1);
    return next_++;
  }
  void remove(std::uint32_t position) { add(position, static_cast<std::uint32_t>(-1)); }

  // Items at positions before `position`.
  [[nodiscard]] std::uint32_t before(std::uint32_t position) const
  {
    std::uint32_t sum = 0;
    for (std::uint32_t i = position; i > 0; i &= i - 1)
      sum += counts_[i - 1];
    return sum;
  }

private:
  void add(std::uint32_t position, std::uint32_t delta)
  {
    for (std::size_t i = position + 1; i <= counts_.size(); i += i & (~i + 1))
      counts_[i - 1] += delta;
  }

  std::vector<std::uint32_t> counts_;
  std::uint32_t next_ = 0;
};

} // namespace umwelt::portals
