// SPDX-License-Identifier: LGPL-2.1-or-later
// Appending, unlinking and searching: what list entries do with unexpected headers (Portals 4.3, 3.11 and 3.12).
#pragma once

#include "preload/abi/portals4.h"

namespace umwelt::portals
{

struct Entry;
class Ni;
struct PortalTableEntry;
struct UnexpectedHeader;

// Gives `entry`, created in ni.entries, its matching unexpected headers if it is for the priority list, and links it
// unless they used it up. PTL_NO_SPACE if the list is full; the entry then still exists. It may no longer exist after
// PTL_OK.
int link(Ni& ni, PortalTableEntry& pt, Entry& entry);
// The same for an entry whose trigger has come; if it cannot be linked it ceases to exist.
void link_armed(Ni& ni, Entry& entry);

// Takes an entry out of its list. It ceases to exist when nothing refers to it any more.
void unlink(Ni& ni, Entry& entry);

// PtlLESearch and PtlMESearch; `entry` need not be in ni.entries. Counts are visible to the program on return.
void search(Ni& ni, PortalTableEntry& pt, const Entry& entry, bool remove);

// The data of `header`, which has left the list of unexpected headers, is complete: posts the events of its claim.
void announce_claim(Ni& ni, PortalTableEntry& pt, UnexpectedHeader& header);

} // namespace umwelt::portals
