// SPDX-License-Identifier: LGPL-2.1-or-later
// An allocated entry of the portal table (Portals 4.3, 3.7).
#pragma once

#include <cstdint>

#include "runtime/portals/matching/match_list.h"
#include "runtime/portals/matching/unexpected.h"

namespace umwelt::portals
{

struct PortalTableEntry {
  enum class State : std::uint8_t {
    enabled,
    disabling, // flow control: PT_DISABLED follows when the messages in progress are complete
    disabled
  };

  PortalTableEntry(bool matching, unsigned pt_options, ptl_handle_eq_t queue)
      : options(pt_options), eq(queue), priority(matching), overflow(matching)
  {
  }

  unsigned options;
  ptl_handle_eq_t eq;
  State state = State::enabled;
  bool announce_disabled = false;
  std::uint32_t in_progress = 0; // messages matched and not complete
  MatchList priority;
  MatchList overflow;
  UnexpectedList unexpected;

  [[nodiscard]] bool flow_control() const { return (options & PTL_PT_FLOWCTRL) != 0; }
  [[nodiscard]] MatchList& list(ptl_list_t which) { return which == PTL_PRIORITY_LIST ? priority : overflow; }
};

} // namespace umwelt::portals
