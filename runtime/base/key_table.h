// SPDX-License-Identifier: LGPL-2.1-or-later
// Pointers by a number, with one look-up in a cache line (std::unordered_map follows three pointers, each a cache miss
// with thousands of nodes). Nothing is taken out of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/base/mix.h"

namespace umwelt::sim
{

template <typename T> class KeyTable
{
public:
  // Null if there is none. Keys are never 0. Several threads may look at once.
  [[nodiscard]] T* find(std::uint64_t key) const
  {
    if (table_.empty())
      return nullptr;
    const Entry& entry = table_[place(key)];
    return entry.key == key ? entry.value : nullptr;
  }
  void keep(std::uint64_t key, T* value)
  {
    if (2 * (count_ + 1) > table_.size())
      grow();
    table_[place(key)] = {key, value};
    ++count_;
  }

private:
  struct Entry {
    std::uint64_t key = 0; // 0: empty
    T* value = nullptr;
  };
  // Where the key is, or would be.
  [[nodiscard]] std::size_t place(std::uint64_t key) const
  {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = mix(key) & mask;
    while (table_[at].key != key && table_[at].key != 0)
      at = (at + 1) & mask;
    return at;
  }
  void grow()
  {
    constexpr std::size_t least = 64;
    std::vector<Entry> before(std::max(least, 2 * table_.size()));
    before.swap(table_);
    for (const Entry& entry : before)
      if (entry.key != 0)
        table_[place(entry.key)] = entry;
  }

  std::vector<Entry> table_; // a power of two, at most half full
  std::size_t count_ = 0;
};

} // namespace umwelt::sim
