// SPDX-License-Identifier: LGPL-2.1-or-later
// The priority or overflow list of a portal table entry: the first entry that matches wins, found without walking the
// list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/portals/matching/entry.h"
#include "runtime/portals/matching/rank_tree.h"

namespace umwelt::portals
{

class MatchList
{
public:
  // matching: entries are match list entries; else the head takes every message.
  explicit MatchList(bool matching) : matching_(matching) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void append(Entry& entry);
  void remove(Entry& entry);

  // The first entry that matches, or null. Adds to `searched` the entries a walk would have compared before it.
  [[nodiscard]] Entry* find(const Probe& probe, std::uint32_t& searched) const;

private:
  struct LinkOf {
    ChainLink<Entry>& operator()(Entry& entry) const { return entry.chain; }
  };
  using Table = BitsHash<Entry, LinkOf>;
  // Entries with further masks share the last table, whose mask ignores everything.
  static constexpr std::size_t max_tables = 8;

  Table& table_for(const Entry& entry);
  void take_position(Entry& entry);

  bool matching_;
  std::size_t size_ = 0;
  Entry* head_ = nullptr;
  Entry* tail_ = nullptr;
  std::uint64_t next_sequence_ = 0;
  std::vector<Table> tables_;
  RankTree ranks_;
};

} // namespace umwelt::portals
