// SPDX-License-Identifier: LGPL-2.1-or-later
// A network interface of a process with all its objects (Portals 4.3, 3.6).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "runtime/portals/fabric/ni_ref.h"
#include "runtime/portals/matching/entry.h"
#include "runtime/portals/objects/counter.h"
#include "runtime/portals/objects/event_queue.h"
#include "runtime/portals/objects/memory_descriptor.h"
#include "runtime/portals/objects/portal_table.h"
#include "runtime/portals/objects/slab.h"

namespace umwelt::portals
{

class Fabric;
class Process;
struct Message;

class Ni
{
public:
  // Matching or not, logical or physical: a process has at most one of each.
  static constexpr unsigned kinds = 4;
  static constexpr unsigned non_matching = 1;
  static constexpr unsigned physical = 2;

  Ni(Process& process, unsigned kind, std::uint32_t generation, const ptl_ni_limits_t& limits);
  ~Ni();
  Ni(const Ni&) = delete;
  Ni& operator=(const Ni&) = delete;

  Process& process;
  const unsigned kind;
  const ptl_handle_ni_t handle;
  const ptl_ni_limits_t limits;
  const NiRef ref;
  unsigned references = 1; // PtlNIInit minus PtlNIFini

  [[nodiscard]] bool is_matching() const { return (kind & non_matching) == 0; }
  [[nodiscard]] bool is_logical() const { return (kind & physical) == 0; }

  std::array<ptl_sr_value_t, PTL_SR_LAST> status{};
  std::vector<ptl_process_t> map; // logical interfaces: rank to node and pid
  ptl_rank_t rank = PTL_RANK_ANY;
  [[nodiscard]] ptl_process_t id() const;

  Slab<EventQueue> queues;
  Slab<Counter> counters;
  Slab<MemoryDescriptor> descriptors;
  Slab<Entry> entries;
  std::vector<std::unique_ptr<PortalTableEntry>> table;
  int unexpected_headers = 0;
  int triggered_ops = 0;

  // Messages that touch memory of this interface, matched and not complete, in the order in which they matched. Without
  // those of unordered descriptors.
  Message* first_matched = nullptr;
  Message* last_matched = nullptr;

  // Null for an index out of range or not allocated.
  [[nodiscard]] PortalTableEntry* pt(ptl_pt_index_t index) const
  {
    return index < table.size() ? table[index].get() : nullptr;
  }

  // What the NIC does: both take effect now and become visible to the program later. Handles of objects that are gone,
  // or NONE, are ignored: PtlEQFree and PtlCTFree succeed with traffic in flight.
  void post(ptl_handle_eq_t queue, const ptl_event_t& event, std::uint64_t unread = 0);
  // A success of `amount` (1, or bytes), or one failure (Portals 4.3, 3.14: failures count events).
  void count(ptl_handle_ct_t counter, ptl_ni_fail_t fail, ptl_size_t amount);
  // The change to `counter` is written to host memory, and what waits for its new value fires.
  void changed(Counter& counter, const CounterChange& change);

  // LINK, AUTO_UNLINK and AUTO_FREE, and a SEARCH that found nothing.
  void post_entry_event(ptl_handle_eq_t queue, ptl_event_kind_t type, ptl_pt_index_t index, void* user_ptr,
                        ptl_ni_fail_t fail = PTL_NI_OK);
  // Destroys an unlinked entry to which nothing refers any more; AUTO_FREE if due.
  void release_if_unused(Entry& entry);

private:
  Fabric& fabric_;
};

} // namespace umwelt::portals
