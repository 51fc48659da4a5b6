// SPDX-License-Identifier: LGPL-2.1-or-later
// The portal table (Portals 4.3, 3.7).
#include <algorithm>

#include "runtime/portals/api/api.h"
#include "runtime/portals/api/waiting.h"

namespace umwelt::portals::api
{

namespace
{

int find(Process& process, ptl_handle_ni_t handle, ptl_pt_index_t index, PortalTableEntry*& pt)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  const Ni* ni = process.ni(handle);
  pt = ni ? ni->pt(index) : nullptr;
  return pt ? PTL_OK : PTL_ARG_INVALID;
}

// Returns when no message is in progress on the entry, or it is gone.
void wait_idle(Process& process, ptl_handle_ni_t handle, ptl_pt_index_t index)
{
  wait_while(process, [&] {
    PortalTableEntry* pt = nullptr;
    return find(process, handle, index, pt) == PTL_OK && pt->in_progress > 0;
  });
}

bool has_entries(const PortalTableEntry& pt)
{
  return !pt.priority.empty() || !pt.overflow.empty();
}

} // namespace

int PtlPTAlloc(Process& process, ptl_handle_ni_t ni_handle, unsigned options, ptl_handle_eq_t eq_handle,
               ptl_pt_index_t pt_index_req, ptl_pt_index_t* pt_index)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  Ni* ni = process.ni(ni_handle);
  if (!ni || !pt_index || (options & ~PTL_PT_ALLOC_OPTIONS_MASK))
    return PTL_ARG_INVALID;
  EventQueue* queue = ni->queues.find(eq_handle);
  if (!queue && eq_handle != PTL_EQ_NONE)
    return PTL_ARG_INVALID;
  if ((options & PTL_PT_FLOWCTRL) && !queue)
    return PTL_PT_EQ_NEEDED;
  std::size_t index = pt_index_req;
  if (pt_index_req == PTL_PT_ANY) {
    index = static_cast<std::size_t>(std::find(ni->table.begin(), ni->table.end(), nullptr) - ni->table.begin());
    if (index == ni->table.size())
      return PTL_PT_FULL;
  } else if (index >= ni->table.size()) {
    return PTL_ARG_INVALID;
  } else if (ni->table[index]) {
    return PTL_PT_IN_USE;
  }
  ni->table[index] = std::make_unique<PortalTableEntry>(ni->is_matching(), options, eq_handle);
  if (options & PTL_PT_ALLOC_DISABLED)
    ni->table[index]->state = PortalTableEntry::State::disabled;
  if (options & PTL_PT_FLOWCTRL)
    ++queue->flow_tables;
  *pt_index = static_cast<ptl_pt_index_t>(index);
  return PTL_OK;
}

int PtlPTFree(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index)
{
  PortalTableEntry* pt = nullptr;
  if (const int result = find(process, ni_handle, pt_index, pt); result != PTL_OK)
    return result;
  if (has_entries(*pt))
    return PTL_PT_IN_USE;
  wait_idle(process, ni_handle, pt_index);
  if (const int result = find(process, ni_handle, pt_index, pt); result != PTL_OK)
    return result;
  if (has_entries(*pt)) // another thread appended meanwhile
    return PTL_PT_IN_USE;
  Ni& ni = *process.ni(ni_handle);
  if (EventQueue* queue = ni.queues.find(pt->eq); queue && pt->flow_control())
    --queue->flow_tables;
  while (UnexpectedHeader* header = pt->unexpected.first()) {
    pt->unexpected.remove(*header);
    --ni.unexpected_headers;
    --header->entry->headers;
    ni.release_if_unused(*header->entry);
    process.fabric().headers().release(*header);
  }
  ni.table[pt_index].reset();
  return PTL_OK;
}

int PtlPTDisable(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index)
{
  PortalTableEntry* pt = nullptr;
  if (const int result = find(process, ni_handle, pt_index, pt); result != PTL_OK)
    return result;
  pt->state = PortalTableEntry::State::disabled;
  wait_idle(process, ni_handle, pt_index);
  return PTL_OK;
}

int PtlPTEnable(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index)
{
  PortalTableEntry* pt = nullptr;
  if (const int result = find(process, ni_handle, pt_index, pt); result != PTL_OK)
    return result;
  // A flow-control event still to come belongs to the past.
  if (pt->state == PortalTableEntry::State::disabling)
    wait_idle(process, ni_handle, pt_index);
  if (const int result = find(process, ni_handle, pt_index, pt); result != PTL_OK)
    return result;
  pt->state = PortalTableEntry::State::enabled;
  return PTL_OK;
}

} // namespace umwelt::portals::api
