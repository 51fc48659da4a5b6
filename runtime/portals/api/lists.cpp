// SPDX-License-Identifier: LGPL-2.1-or-later
// List entries and match list entries (Portals 4.3, 3.11 and 3.12).
#include "runtime/portals/fabric/lists.h"
#include "runtime/portals/api/api.h"
#include "runtime/portals/api/waiting.h"

namespace umwelt::portals::api
{

namespace
{

// Entries from this size on span more than any program maps: their memory is checked at each access, as
// PTL_TARGET_BIND_INACCESSIBLE asks for (PTL_NI_SEGV), unless the program vouches for it with PTL_ME_IS_ACCESSIBLE.
constexpr ptl_size_t checked_size = ptl_size_t{1} << 40;

// A list entry is a match list entry that takes everything.
ptl_me_t as_me(const ptl_le_t& le)
{
  ptl_me_t me{};
  me.start = le.start;
  me.length = le.length;
  me.ct_handle = le.ct_handle;
  me.uid = le.uid;
  me.options = le.options;
  me.ignore_bits = ~ptl_match_bits_t{0};
  return me;
}

// Checks what appends and searches have in common. PTL_OK, the interface and the portal table entry, or the code to
// return.
int check(Process& process, ptl_handle_ni_t handle, ptl_pt_index_t index, const ptl_me_t& me, bool matching, Ni*& ni,
          PortalTableEntry*& pt)
{
  ni = process.ni(handle);
  if (!ni || ni->is_matching() != matching)
    return PTL_ARG_INVALID;
  pt = ni->pt(index);
  const unsigned mask = matching ? PTL_ME_APPEND_OPTIONS_MASK : PTL_LE_APPEND_OPTIONS_MASK;
  if (!pt || (me.options & ~mask))
    return PTL_ARG_INVALID;
  if ((me.options & PTL_IOVEC) && me.length > static_cast<ptl_size_t>(ni->limits.max_iovecs))
    return PTL_ARG_INVALID;
  if (me.ct_handle != PTL_CT_NONE && !ni->counters.find(me.ct_handle))
    return PTL_ARG_INVALID;
  return PTL_OK;
}

bool fill(Entry& entry, const Process& process, ptl_pt_index_t index, const ptl_me_t& me, ptl_list_t list,
          void* user_ptr)
{
  if (!entry.region.bind(process.memory(), me.start, me.length, me.options))
    return false;
  if (entry.region.length() >= checked_size && (me.options & PTL_ME_IS_ACCESSIBLE) == 0)
    entry.region.set_checked();
  entry.options = me.options;
  entry.uid = me.uid;
  entry.ct = me.ct_handle;
  entry.user_ptr = user_ptr;
  entry.match_id = me.match_id;
  entry.match_bits = me.match_bits;
  entry.ignore_bits = me.ignore_bits;
  entry.min_free = me.min_free;
  entry.pt_index = index;
  entry.list = list;
  return true;
}

// trigger: PTL_CT_NONE to link now.
int append(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t index, const ptl_me_t& me, bool matching,
           ptl_list_t list, void* user_ptr, ptl_handle_me_t* handle, ptl_handle_ct_t trigger, ptl_size_t threshold)
{
  Ni* ni = nullptr;
  PortalTableEntry* pt = nullptr;
  if (const int result = check(process, ni_handle, index, me, matching, ni, pt); result != PTL_OK)
    return result;
  Counter* counter = trigger == PTL_CT_NONE ? nullptr : ni->counters.find(trigger);
  if (!handle || list > PTL_OVERFLOW_LIST || (trigger != PTL_CT_NONE && !counter))
    return PTL_ARG_INVALID;
  if (ni->entries.live() >= static_cast<std::size_t>(ni->limits.max_entries))
    return PTL_NO_SPACE;
  Entry* entry = ni->entries.create();
  if (!entry)
    return PTL_NO_SPACE;
  int result = PTL_ARG_INVALID;
  const ptl_handle_any_t created = entry->handle;
  if (fill(*entry, process, index, me, list, user_ptr)) {
    if (counter) {
      entry->state = Entry::State::armed;
      TriggeredOp op;
      op.kind = TriggeredOp::Kind::link;
      op.object = created;
      op.threshold = threshold;
      result = process.fabric().triggers().arm(*ni, *counter, op);
    } else {
      result = link(*ni, *pt, *entry);
    }
  }
  if (result != PTL_OK) {
    ni->entries.destroy(*entry);
    return result;
  }
  *handle = created;
  return PTL_OK;
}

int unlink_entry(Process& process, ptl_handle_any_t handle, ObjectType type)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  Entry* entry = Handle::decode(handle).type == type ? process.entry(handle) : nullptr;
  if (!entry)
    return PTL_ARG_INVALID;
  // Unlinked by itself: it exists until its last message is complete, and programs tell by the result whether a message
  // has taken it (Portals 4.3, 3.12).
  if (entry->state == Entry::State::unlinked && entry->in_progress == 0)
    return PTL_ARG_INVALID;
  if (entry->state == Entry::State::unlinked || entry->headers > 0) {
    process.fabric().host().empty_poll(process); // programs repeat the call until it succeeds
    return PTL_IN_USE;
  }
  if (entry->in_progress > 0) {
    // Nothing new may match while the messages in progress complete; then the memory is the program's again.
    if (entry->state == Entry::State::linked)
      process.owner(handle)->pt(entry->pt_index)->list(entry->list).remove(*entry);
    entry->state = Entry::State::spent;
    wait_while(process, [&] {
      const Entry* waiting = process.entry(handle);
      return waiting && waiting->in_progress > 0;
    });
    entry = process.entry(handle);
  }
  if (entry)
    unlink(*process.owner(handle), *entry);
  return PTL_OK;
}

int search_headers(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t index, const ptl_me_t& me, bool matching,
                   ptl_search_op_t operation, void* user_ptr)
{
  Ni* ni = nullptr;
  PortalTableEntry* pt = nullptr;
  if (const int result = check(process, ni_handle, index, me, matching, ni, pt); result != PTL_OK)
    return result;
  if (operation > PTL_SEARCH_DELETE)
    return PTL_ARG_INVALID;
  Entry entry;
  if (!fill(entry, process, index, me, PTL_PRIORITY_LIST, user_ptr))
    return PTL_ARG_INVALID;
  search(*ni, *pt, entry, operation == PTL_SEARCH_DELETE);
  return PTL_OK;
}

int arm_unlink(Process& process, ptl_handle_any_t handle, ObjectType type, ptl_handle_ct_t trigger,
               ptl_size_t threshold)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if (Handle::decode(handle).type != type || !process.entry(handle))
    return PTL_ARG_INVALID;
  Ni& ni = *process.owner(handle);
  Counter* counter = ni.counters.find(trigger);
  if (!counter)
    return PTL_ARG_INVALID;
  TriggeredOp op;
  op.kind = TriggeredOp::Kind::unlink;
  op.object = handle;
  op.threshold = threshold;
  return process.fabric().triggers().arm(ni, *counter, op);
}

} // namespace

int PtlLEAppend(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t* le,
                ptl_list_t ptl_list, void* user_ptr, ptl_handle_le_t* le_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  return le ? append(process, ni_handle, pt_index, as_me(*le), false, ptl_list, user_ptr, le_handle, PTL_CT_NONE, 0)
            : PTL_ARG_INVALID;
}

int PtlMEAppend(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t* me,
                ptl_list_t ptl_list, void* user_ptr, ptl_handle_me_t* me_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  return me ? append(process, ni_handle, pt_index, *me, true, ptl_list, user_ptr, me_handle, PTL_CT_NONE, 0)
            : PTL_ARG_INVALID;
}

int PtlLEUnlink(Process& process, ptl_handle_le_t le_handle)
{
  return unlink_entry(process, le_handle, ObjectType::le);
}

int PtlMEUnlink(Process& process, ptl_handle_me_t me_handle)
{
  return unlink_entry(process, me_handle, ObjectType::me);
}

int PtlLESearch(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t* le,
                ptl_search_op_t ptl_search_op, void* user_ptr)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  return le ? search_headers(process, ni_handle, pt_index, as_me(*le), false, ptl_search_op, user_ptr)
            : PTL_ARG_INVALID;
}

int PtlMESearch(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t* me,
                ptl_search_op_t ptl_search_op, void* user_ptr)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  return me ? search_headers(process, ni_handle, pt_index, *me, true, ptl_search_op, user_ptr) : PTL_ARG_INVALID;
}

int PtlTriggeredLEAppend(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_le_t* le,
                         ptl_list_t ptl_list, void* user_ptr, ptl_handle_le_t* le_handle,
                         ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if (!le || trig_ct_handle == PTL_CT_NONE)
    return PTL_ARG_INVALID;
  return append(process, ni_handle, pt_index, as_me(*le), false, ptl_list, user_ptr, le_handle, trig_ct_handle,
                threshold);
}

int PtlTriggeredMEAppend(Process& process, ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_me_t* me,
                         ptl_list_t ptl_list, void* user_ptr, ptl_handle_me_t* me_handle,
                         ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if (!me || trig_ct_handle == PTL_CT_NONE)
    return PTL_ARG_INVALID;
  return append(process, ni_handle, pt_index, *me, true, ptl_list, user_ptr, me_handle, trig_ct_handle, threshold);
}

int PtlTriggeredLEUnlink(Process& process, ptl_handle_le_t le_handle, ptl_handle_ct_t trig_ct_handle,
                         ptl_size_t threshold)
{
  return arm_unlink(process, le_handle, ObjectType::le, trig_ct_handle, threshold);
}

int PtlTriggeredMEUnlink(Process& process, ptl_handle_me_t me_handle, ptl_handle_ct_t trig_ct_handle,
                         ptl_size_t threshold)
{
  return arm_unlink(process, me_handle, ObjectType::me, trig_ct_handle, threshold);
}

} // namespace umwelt::portals::api
