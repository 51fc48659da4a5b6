/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Gets from all ranks on a logical, non-matching interface, counted by a counting event; the map of ranks comes back as it
 * was set (Portals 4.3, 3.6.6, 3.14 and 3.15.3). */
#include "tests/portals_programs/program.h"

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
  ptl_pt_index_t index;
  CALL(PtlPTAlloc(ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index));
  const ptl_le_t entry = {
      .start = shown, .length = sizeof shown, .ct_handle = PTL_CT_NONE, .uid = PTL_UID_ANY, .options = PTL_LE_OP_GET};
  ptl_handle_le_t entry_handle;
  CALL(PtlLEAppend(ni, index, &entry, PTL_PRIORITY_LIST, NULL, &entry_handle));
  job_barrier();

  int* seen = calloc((size_t)job_size, sizeof shown);
  const ptl_md_t memory = {.start = seen,
                           .length = (ptl_size_t)job_size * sizeof shown,
                           .options = PTL_MD_EVENT_CT_REPLY,
                           .eq_handle = PTL_EQ_NONE,
                           .ct_handle = new_counter(ni)};
  ptl_handle_md_t memory_handle;
  CALL(PtlMDBind(ni, &memory, &memory_handle));
  for (int rank = 0; rank < job_size; ++rank)
    CALL(PtlGet(memory_handle, (ptl_size_t)rank * sizeof shown, sizeof shown, rank_id(rank), index, 0, 0, NULL));
  wait_for(memory.ct_handle, (ptl_size_t)job_size);
  for (int i = 0; i < job_size * length; ++i)
    EXPECT(seen[i] == i);

  job_barrier();
  CALL(PtlLEUnlink(entry_handle));
  CALL(PtlMDRelease(memory_handle));
  CALL(PtlCTFree(memory.ct_handle));
  CALL(PtlPTFree(ni, index));
  end_portals(ni);
  free(map);
  free(seen);
  return 0;
}
