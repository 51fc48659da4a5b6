// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/matching/unexpected.h"

namespace umwelt::portals
{

void UnexpectedList::insert(Table& table, UnexpectedHeader& header)
{
  if (table.full()) {
    table.grow();
    for (UnexpectedHeader* other = head_; other && other != &header; other = other->next)
      table.append(*other, other->probe.match_bits);
  }
  table.append(header, header.probe.match_bits);
}

void UnexpectedList::append(UnexpectedHeader& header)
{
  header.previous = tail_;
  header.next = nullptr;
  (tail_ ? tail_->next : head_) = &header;
  tail_ = &header;
  for (Table& table : tables_)
    insert(table, header);
  ++size_;
}

void UnexpectedList::remove(UnexpectedHeader& header)
{
  (header.previous ? header.previous->next : head_) = header.next;
  (header.next ? header.next->previous : tail_) = header.previous;
  for (Table& table : tables_)
    table.remove(header, header.probe.match_bits);
  --size_;
}

UnexpectedList::Table* UnexpectedList::table_for(ptl_match_bits_t ignore)
{
  for (Table& table : tables_)
    if (table.ignore() == ignore)
      return &table;
  if (size_ <= walk_limit || tables_.size() == UnexpectedHeader::max_tables)
    return nullptr;
  Table& table = tables_.emplace_back(ignore, LinkOf{tables_.size()});
  for (UnexpectedHeader* header = head_; header; header = header->next) {
    if (table.full()) {
      table.grow();
      for (UnexpectedHeader* other = head_; other != header; other = other->next)
        table.append(*other, other->probe.match_bits);
    }
    table.append(*header, header->probe.match_bits);
  }
  return &table;
}

UnexpectedHeader* UnexpectedList::find(const Entry& entry, bool matching, UnexpectedHeader* after)
{
  if (!matching)
    return after ? after->next : head_;
  if (Table* table = table_for(entry.ignore_bits)) {
    UnexpectedHeader* header = after ? table->next(*after) : table->first(entry.match_bits);
    while (header && !entry.matches(header->probe))
      header = table->next(*header);
    return header;
  }
  UnexpectedHeader* header = after ? after->next : head_;
  while (header && !entry.matches(header->probe))
    header = header->next;
  return header;
}

} // namespace umwelt::portals
