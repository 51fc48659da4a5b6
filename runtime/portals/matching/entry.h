// SPDX-License-Identifier: LGPL-2.1-or-later
// A list entry or match list entry: memory of this process that others may use.
#pragma once

#include <cstdint>

#include "runtime/portals/data/memory.h"
#include "runtime/portals/matching/bits_hash.h"

namespace umwelt::portals
{

// What an arriving message is matched by.
struct Probe {
  bool logical = true;
  ptl_process_t initiator{};
  ptl_match_bits_t match_bits = 0;
  ptl_size_t length = 0;
  ptl_size_t offset = 0; // as the initiator requests it
};

struct Entry {
  enum class State : std::uint8_t {
    armed,    // waits for its trigger
    linked,   // in a list
    unlinked, // automatically; events or headers still refer to it
    spent     // never linked because unexpected headers used it up; the owner may still unlink it
  };

  ptl_handle_any_t handle = PTL_INVALID_HANDLE;
  Region region;
  unsigned options = 0;
  ptl_uid_t uid = PTL_UID_ANY;
  ptl_handle_ct_t ct = PTL_CT_NONE;
  void* user_ptr = nullptr;
  ptl_process_t match_id{};
  ptl_match_bits_t match_bits = 0;
  ptl_match_bits_t ignore_bits = ~ptl_match_bits_t{0};
  ptl_size_t min_free = 0;
  ptl_pt_index_t pt_index = 0;
  ptl_list_t list = PTL_PRIORITY_LIST;

  State state = State::linked;
  bool announce_unlink = false;  // AUTO_UNLINK is due when the messages in progress are complete
  bool unlink_reserved = false;  // with a place in the event queue
  bool announce_free = false;    // AUTO_FREE is due when nothing refers to it any more
  ptl_size_t offset = 0;         // with MANAGE_LOCAL
  std::uint32_t in_progress = 0; // messages matched and not complete
  std::uint32_t headers = 0;     // unexpected headers whose data is here

  // For the match list.
  Entry* previous = nullptr;
  Entry* next = nullptr;
  ChainLink<Entry> chain;
  std::uint64_t sequence = 0;
  std::uint32_t position = 0;

  [[nodiscard]] bool manage_local() const { return (options & PTL_ME_MANAGE_LOCAL) != 0; }
  [[nodiscard]] ptl_size_t free_space() const { return offset < region.length() ? region.length() - offset : 0; }
  // The locally managed space is used up (Portals 4.3, 3.12 min_free; 0 disables).
  [[nodiscard]] bool below_min_free() const { return manage_local() && min_free > 0 && free_space() < min_free; }

  // Matching rules of Portals 4.3, 3.12: initiator, bits under the ignore mask, and room if NO_TRUNCATE.
  [[nodiscard]] bool matches(const Probe& probe) const
  {
    if (((probe.match_bits ^ match_bits) & ~ignore_bits) != 0)
      return false;
    if (probe.logical) {
      if (match_id.rank != PTL_RANK_ANY && match_id.rank != probe.initiator.rank)
        return false;
    } else if ((match_id.phys.nid != PTL_NID_ANY && match_id.phys.nid != probe.initiator.phys.nid) ||
               (match_id.phys.pid != PTL_PID_ANY && match_id.phys.pid != probe.initiator.phys.pid)) {
      return false;
    }
    if ((options & PTL_ME_NO_TRUNCATE) == 0)
      return true;
    const ptl_size_t at = manage_local() ? offset : probe.offset;
    return at <= region.length() && probe.length <= region.length() - at;
  }
};

} // namespace umwelt::portals
