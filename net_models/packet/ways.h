// SPDX-License-Identifier: LGPL-2.1-or-later
// Ways that are kept: hops one behind the other in large blocks, and a table of their beginnings with one look-up in a
// cache line (std::unordered_map follows three pointers, each a cache miss with thousands of nodes).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "net_models/packet/parts.h"
#include "runtime/base/mix.h"

namespace umwelt::net
{

class PacketWays
{
public:
  // The first hop of the way of `key`, null if there is none. Keys are never 0.
  [[nodiscard]] const PacketHop* find(std::uint64_t key) const
  {
    if (table_.empty())
      return nullptr;
    const Entry& entry = table_[place(key)];
    return entry.key == key ? entry.way : nullptr;
  }
  // Keeps a copy, whose address is stable.
  const PacketHop* keep(std::uint64_t key, const PacketPath& way)
  {
    if (2 * (count_ + 1) > table_.size())
      grow();
    if (left_ < way.size()) {
      left_ = std::max(block, way.size());
      blocks_.push_back(std::make_unique<PacketHop[]>(left_));
      next_ = blocks_.back().get();
    }
    PacketHop* const first = next_;
    next_ = std::copy(way.begin(), way.end(), first);
    left_ -= way.size();
    table_[place(key)] = {key, first};
    ++count_;
    return first;
  }

private:
  static constexpr std::size_t block = 4096; // hops

  struct Entry {
    std::uint64_t key = 0; // 0: empty
    const PacketHop* way = nullptr;
  };
  // Where the key is, or would be.
  [[nodiscard]] std::size_t place(std::uint64_t key) const
  {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = sim::mix(key) & mask;
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
  std::vector<std::unique_ptr<PacketHop[]>> blocks_;
  PacketHop* next_ = nullptr; // in the last block
  std::size_t left_ = 0;      // of it
};

} // namespace umwelt::net
