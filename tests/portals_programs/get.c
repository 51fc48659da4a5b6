/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Gets from all ranks on a logical, non-matching interface, counted by a counting event; the map of ranks comes back as
 * it was set (Portals 4.3, 3.6.6, 3.14 and 3.15.3). */
#include "tests/portals_programs/exposed.h"

enum { length = 1000 };

int main(void)
{
  static int shown[length];
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_NO_MATCHING);
  ptl_process_t own, physical;
  ptl_size_t count;
  CALL(PtlGetId(ni, &own));
  EXPECT(own.rank == (ptl_rank_t)job_rank);
  ptl_process_t* map = calloc((size_t)job_size, sizeof *map);
  CALL(PtlGetMap(ni, (ptl_size_t)job_size, map, &count));
  CALL(PtlGetPhysId(ni, &physical));
  EXPECT(count == (ptl_size_t)job_size);
  EXPECT(map[job_rank].phys.nid == physical.phys.nid && map[job_rank].phys.pid == physical.phys.pid);

  for (int i = 0; i < length; ++i)
    shown[i] = job_rank * length + i;
  const struct exposed target = expose(ni, PTL_PT_ANY, shown, sizeof shown, PTL_LE_OP_GET, PTL_CT_NONE);
  job_barrier();

  int* seen = calloc((size_t)job_size, sizeof shown);
  const ptl_handle_ct_t replies = new_counter(ni);
  const ptl_handle_md_t memory_handle =
      bind_memory(ni, seen, (ptl_size_t)job_size * sizeof shown, PTL_MD_EVENT_CT_REPLY, replies);
  for (int rank = 0; rank < job_size; ++rank)
    CALL(PtlGet(memory_handle, (ptl_size_t)rank * sizeof shown, sizeof shown, rank_id(rank), target.index, 0, 0, NULL));
  wait_for(replies, (ptl_size_t)job_size);
  for (int i = 0; i < job_size * length; ++i)
    EXPECT(seen[i] == i);

  job_barrier();
  withdraw(ni, target);
  CALL(PtlMDRelease(memory_handle));
  CALL(PtlCTFree(replies));
  end_portals(ni);
  free(map);
  free(seen);
  return 0;
}
