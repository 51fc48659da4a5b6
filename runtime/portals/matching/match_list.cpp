// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/matching/match_list.h"

namespace umwelt::portals
{

MatchList::Table& MatchList::table_for(const Entry& entry)
{
  constexpr ptl_match_bits_t everything = ~ptl_match_bits_t{0};
  for (Table& table : tables_)
    if (table.ignore() == entry.ignore_bits)
      return table;
  if (tables_.size() < max_tables - 1)
    return tables_.emplace_back(entry.ignore_bits, LinkOf{});
  for (Table& table : tables_)
    if (table.ignore() == everything)
      return table;
  return tables_.emplace_back(everything, LinkOf{});
}

void MatchList::take_position(Entry& entry)
{
  if (ranks_.full()) {
    ranks_.restart(size_ + 1);
    for (Entry* other = head_; other; other = other->next)
      if (other != &entry)
        other->position = ranks_.append();
  }
  entry.position = ranks_.append();
}

void MatchList::append(Entry& entry)
{
  entry.sequence = next_sequence_++;
  entry.previous = tail_;
  entry.next = nullptr;
  (tail_ ? tail_->next : head_) = &entry;
  tail_ = &entry;
  if (matching_) {
    take_position(entry);
    Table& table = table_for(entry);
    if (table.full()) {
      table.grow();
      for (Entry* other = head_; other != &entry; other = other->next)
        if (&table_for(*other) == &table)
          table.append(*other, other->match_bits);
    }
    table.append(entry, entry.match_bits);
  }
  ++size_;
}

void MatchList::remove(Entry& entry)
{
  (entry.previous ? entry.previous->next : head_) = entry.next;
  (entry.next ? entry.next->previous : tail_) = entry.previous;
  if (matching_) {
    ranks_.remove(entry.position);
    table_for(entry).remove(entry, entry.match_bits);
  }
  --size_;
}

Entry* MatchList::find(const Probe& probe, std::uint32_t& searched) const
{
  if (!matching_ || size_ == 0)
    return head_;
  Entry* best = nullptr;
  for (const Table& table : tables_) {
    if (table.size() == 0)
      continue;
    for (Entry* entry = table.first(probe.match_bits); entry; entry = table.next(*entry)) {
      if (best && entry->sequence > best->sequence)
        break;
      if (entry->matches(probe)) {
        best = entry;
        break;
      }
    }
  }
  if (best != head_)
    searched += best ? ranks_.before(best->position) : static_cast<std::uint32_t>(size_);
  return best;
}

} // namespace umwelt::portals
