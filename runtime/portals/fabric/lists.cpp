// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/fabric/lists.h"

#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::portals
{

namespace
{

// `last`: the claiming entry unlinks with this header.
Claim claim_of(const Entry& entry, bool last)
{
  return {true, last && (entry.options & PTL_ME_EVENT_UNLINK_DISABLE) == 0, entry.options, entry.user_ptr, entry.ct};
}

void take(Ni& ni, PortalTableEntry& pt, UnexpectedHeader& header, const Claim& by)
{
  pt.unexpected.remove(header);
  --ni.unexpected_headers;
  header.claim = by;
  if (header.complete)
    announce_claim(ni, pt, header);
}

ptl_size_t counted(unsigned options, const ptl_event_t& event)
{
  return (options & PTL_ME_EVENT_CT_BYTES) ? event.mlength : 1;
}

} // namespace

void announce_claim(Ni& ni, PortalTableEntry& pt, UnexpectedHeader& header)
{
  const Claim& by = header.claim;
  const ptl_pt_index_t index = header.event.pt_index;
  if ((by.options & PTL_ME_EVENT_OVER_DISABLE) == 0) {
    ptl_event_t event = header.event;
    event.type = header.type;
    event.user_ptr = by.user_ptr;
    ni.post(pt.eq, event, header.type == PTL_EVENT_GET_OVERFLOW ? 0 : event.mlength);
  }
  if (by.options & PTL_ME_EVENT_CT_OVERFLOW)
    ni.count(by.ct, header.event.ni_fail_type, counted(by.options, header.event));
  Entry& holder = *header.entry;
  --holder.headers;
  ni.release_if_unused(holder); // AUTO_FREE comes before AUTO_UNLINK of the claiming entry
  if (by.announce_unlink)
    ni.post_entry_event(pt.eq, PTL_EVENT_AUTO_UNLINK, index, by.user_ptr);
  ni.process.fabric().headers().release(header);
}

int link(Ni& ni, PortalTableEntry& pt, Entry& entry)
{
  MatchList& list = pt.list(entry.list);
  if (list.size() >= static_cast<std::size_t>(ni.limits.max_list_size))
    return PTL_NO_SPACE; // as the reference implementation; the specification has PTL_LIST_TOO_LONG
  const bool advances = entry.manage_local() && (entry.options & PTL_ME_LOCAL_INC_UH_RLENGTH);
  if (entry.list == PTL_PRIORITY_LIST) {
    while (UnexpectedHeader* header = pt.unexpected.find(entry, ni.is_matching())) {
      if (entry.options & PTL_ME_USE_ONCE) {
        take(ni, pt, *header, claim_of(entry, true));
        ni.entries.destroy(entry);
        return PTL_OK;
      }
      if (advances)
        entry.offset += header->event.rlength;
      const bool used_up = advances && entry.below_min_free();
      take(ni, pt, *header, claim_of(entry, used_up));
      if (used_up) {
        // The handle stays valid for one PtlMEUnlink: programs unlink what they appended (reference test
        // test_manage_local_and_inc_uh_rlength).
        entry.state = Entry::State::spent;
        return PTL_OK;
      }
    }
  }
  list.append(entry);
  entry.state = Entry::State::linked;
  if ((entry.options & PTL_ME_EVENT_LINK_DISABLE) == 0)
    ni.post_entry_event(pt.eq, PTL_EVENT_LINK, entry.pt_index, entry.user_ptr);
  return PTL_OK;
}

void link_armed(Ni& ni, Entry& entry)
{
  PortalTableEntry* pt = ni.pt(entry.pt_index);
  if (!pt || link(ni, *pt, entry) != PTL_OK)
    ni.entries.destroy(entry);
}

void unlink(Ni& ni, Entry& entry)
{
  if (entry.state == Entry::State::linked)
    ni.pt(entry.pt_index)->list(entry.list).remove(entry);
  entry.state = Entry::State::unlinked;
  ni.release_if_unused(entry);
}

void search(Ni& ni, PortalTableEntry& pt, const Entry& entry, bool remove)
{
  const bool once = (entry.options & PTL_ME_USE_ONCE) != 0;
  const bool counts = (entry.options & PTL_ME_EVENT_CT_OVERFLOW) != 0;
  const bool events = (entry.options & (remove ? PTL_ME_EVENT_OVER_DISABLE : PTL_ME_EVENT_COMM_DISABLE)) == 0;
  ptl_ct_event_t found{};
  bool any = false;
  UnexpectedHeader* header = nullptr;
  while ((header = pt.unexpected.find(entry, ni.is_matching(), remove ? nullptr : header))) {
    any = true;
    found.success += counted(entry.options, header->event);
    if (remove) {
      Claim by = claim_of(entry, false);
      by.options &= ~static_cast<unsigned>(PTL_ME_EVENT_CT_OVERFLOW); // counted below, at once
      take(ni, pt, *header, by);
    } else if (events) {
      ptl_event_t event = header->event;
      event.type = PTL_EVENT_SEARCH;
      event.user_ptr = entry.user_ptr;
      ni.post(pt.eq, event);
    }
    if (once)
      break;
  }
  if (!any && events)
    ni.post_entry_event(pt.eq, PTL_EVENT_SEARCH, entry.pt_index, entry.user_ptr, PTL_NI_NO_MATCH);
  // One failure marks the end of the search, unless a use-once search found what it looked for (4.3, counting
  // searches).
  found.failure = any && once ? 0 : 1;
  if (!counts)
    return;
  if (Counter* counter = ni.counters.find(entry.ct)) {
    counter->host_add(found);
    ni.process.fabric().triggers().changed(ni, *counter);
    ni.process.fabric().host().changed(ni.process);
  }
}

} // namespace umwelt::portals
