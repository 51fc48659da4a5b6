// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/fabric/ni.h"

#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::portals
{

Ni::Ni(Process& owner, unsigned ni_kind, std::uint32_t generation, const ptl_ni_limits_t& granted)
    : process(owner), kind(ni_kind), handle(Handle{ObjectType::ni, ni_kind, generation, 0}.encode()), limits(granted),
      ref(owner.fabric().add_interface(*this)), queues(ObjectType::eq, ni_kind, generation),
      counters(ObjectType::ct, ni_kind, generation), descriptors(ObjectType::md, ni_kind, generation),
      entries((ni_kind & non_matching) ? ObjectType::le : ObjectType::me, ni_kind, generation),
      table(static_cast<std::size_t>(granted.max_pt_index) + 1), fabric_(owner.fabric())
{
}

Ni::~Ni()
{
  fabric_.remove_interface(ref);
  counters.for_each([&](Counter& counter) { fabric_.triggers().cancel(*this, counter); });
  for (auto& pt : table) {
    if (!pt)
      continue;
    for (UnexpectedHeader* header = pt->unexpected.first(); header;) {
      UnexpectedHeader* next = header->next;
      if (header->complete) // else its message still refers to it (Fabric::release)
        fabric_.headers().release(*header);
      header = next;
    }
  }
}

ptl_process_t Ni::id() const
{
  ptl_process_t id{};
  if (is_logical())
    id.rank = rank;
  else
    id.phys = {process.nid(), process.pid()};
  return id;
}

void Ni::post(ptl_handle_eq_t queue, const ptl_event_t& event, std::uint64_t unread)
{
  EventQueue* target = queues.find(queue);
  if (!target)
    return;
  target->post(event, unread);
  fabric_.write_event(*this, queue);
}

void Ni::count(ptl_handle_ct_t counter, ptl_ni_fail_t fail, ptl_size_t amount)
{
  Counter* target = counters.find(counter);
  if (!target)
    return;
  changed(*target, target->nic_add(fail == PTL_NI_OK ? ptl_ct_event_t{amount, 0} : ptl_ct_event_t{0, 1}));
}

void Ni::changed(Counter& counter, const CounterChange& change)
{
  fabric_.write_counter(*this, counter.handle, change);
  fabric_.triggers().changed(*this, counter);
}

void Ni::post_entry_event(ptl_handle_eq_t queue, ptl_event_kind_t type, ptl_pt_index_t index, void* user_ptr,
                          ptl_ni_fail_t fail)
{
  ptl_event_t event{};
  event.type = type;
  event.pt_index = index;
  event.user_ptr = user_ptr;
  event.ni_fail_type = fail;
  post(queue, event);
}

void Ni::release_if_unused(Entry& entry)
{
  if (entry.state != Entry::State::unlinked || entry.in_progress > 0 || entry.headers > 0)
    return;
  if (entry.announce_free) {
    const PortalTableEntry* owner = pt(entry.pt_index);
    post_entry_event(owner ? owner->eq : PTL_EQ_NONE, PTL_EVENT_AUTO_FREE, entry.pt_index, entry.user_ptr);
  }
  entries.destroy(entry);
}

} // namespace umwelt::portals
