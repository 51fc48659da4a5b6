// SPDX-License-Identifier: LGPL-2.1-or-later
// Unexpected headers: what is kept of a message that an entry of the overflow list took, until an entry of the priority
// list or a search claims it (Portals 4.3, 3.11 and 3.12).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/portals/matching/entry.h"

namespace umwelt::portals
{

// The appended entry or search that took a header. The data may still be on its way then; the events follow it.
struct Claim {
  bool taken = false;
  bool announce_unlink = false; // AUTO_UNLINK of the claiming entry follows the overflow event
  unsigned options = 0;
  void* user_ptr = nullptr;
  ptl_handle_ct_t ct = PTL_CT_NONE;
};

struct UnexpectedHeader {
  static constexpr std::size_t max_tables = 4;

  ptl_event_t event{};     // as reported, but for type and user_ptr
  ptl_event_kind_t type{}; // of the overflow event
  Probe probe;
  Entry* entry = nullptr; // of the overflow list, holds the data
  bool complete = false;  // the data has arrived
  Claim claim;

  // For the list.
  UnexpectedHeader* previous = nullptr;
  UnexpectedHeader* next = nullptr;
  std::array<ChainLink<UnexpectedHeader>, max_tables> chains;
};

// In order of arrival. Long lists are searched through tables by ignore mask.
class UnexpectedList
{
public:
  [[nodiscard]] std::size_t size() const { return size_; }
  void append(UnexpectedHeader& header);
  void remove(UnexpectedHeader& header);
  [[nodiscard]] UnexpectedHeader* first() const { return head_; }

  // The oldest header that `entry` takes, or the next one after `after`, which it took; matching false: it takes any.
  [[nodiscard]] UnexpectedHeader* find(const Entry& entry, bool matching, UnexpectedHeader* after = nullptr);

private:
  struct LinkOf {
    std::size_t table;
    ChainLink<UnexpectedHeader>& operator()(UnexpectedHeader& header) const { return header.chains[table]; }
  };
  using Table = BitsHash<UnexpectedHeader, LinkOf>;
  static constexpr std::size_t walk_limit = 16;

  Table* table_for(ptl_match_bits_t ignore);
  void insert(Table& table, UnexpectedHeader& header);

  std::size_t size_ = 0;
  UnexpectedHeader* head_ = nullptr;
  UnexpectedHeader* tail_ = nullptr;
  std::vector<Table> tables_;
};

} // namespace umwelt::portals
