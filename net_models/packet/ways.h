// SPDX-License-Identifier: LGPL-2.1-or-later
// Ways that are kept: hops one behind the other in large blocks, and a table of their beginnings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "net_models/packet/parts.h"
#include "runtime/base/key_table.h"

namespace umwelt::net
{

class PacketWays
{
public:
  // The first hop of the way of `key`, null if there is none. Keys are never 0.
  [[nodiscard]] const PacketHop* find(std::uint64_t key) const { return table_.find(key); }
  // Keeps a copy, whose address is stable.
  const PacketHop* keep(std::uint64_t key, const PacketPath& way)
  {
    if (left_ < way.size()) {
      left_ = std::max(block, way.size());
      blocks_.push_back(std::make_unique<PacketHop[]>(left_));
      next_ = blocks_.back().get();
    }
    PacketHop* const first = next_;
    next_ = std::copy(way.begin(), way.end(), first);
    left_ -= way.size();
    table_.keep(key, first);
    return first;
  }

private:
  static constexpr std::size_t block = 4096; // hops

  sim::KeyTable<const PacketHop> table_;
  std::vector<std::unique_ptr<PacketHop[]>> blocks_;
  PacketHop* next_ = nullptr; // in the last block
  std::size_t left_ = 0;      // of it
};

} // namespace umwelt::net
