/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A Put with acknowledgement round a ring, on a physical, matching interface: every field of the PUT, SEND and ACK
 * events (Portals 4.3, 3.13.1 and 3.15.2). */
#include "tests/portals_programs/program.h"

enum { length = 4096, header = 4711, bits = 0x1234 };

int main(void)
{
  static unsigned char from[length], to[length];
  const ptl_handle_ni_t ni = begin_portals(PTL_NI_MATCHING | PTL_NI_PHYSICAL);
  ptl_process_t* map = job_map(ni);
  for (int a = 0; a < job_size; ++a)
    for (int b = 0; b < a; ++b)
      EXPECT(map[a].phys.nid != map[b].phys.nid || map[a].phys.pid != map[b].phys.pid);
  ptl_process_t own;
  CALL(PtlGetId(ni, &own));
  EXPECT(own.phys.nid == map[job_rank].phys.nid && own.phys.pid == map[job_rank].phys.pid);

  ptl_handle_eq_t queue;
  ptl_pt_index_t index;
  CALL(PtlEQAlloc(ni, 16, &queue));
  CALL(PtlPTAlloc(ni, 0, queue, 4, &index));
  EXPECT(index == 4);
  ptl_me_t entry = {.start = to,
                    .length = length,
                    .ct_handle = PTL_CT_NONE,
                    .uid = PTL_UID_ANY,
                    .options = PTL_ME_OP_PUT | PTL_ME_USE_ONCE,
                    .match_id = map[previous_rank()],
                    .match_bits = bits};
  ptl_handle_me_t entry_handle;
  CALL(PtlMEAppend(ni, index, &entry, PTL_PRIORITY_LIST, to, &entry_handle));
  EXPECT(next_event(queue, PTL_EVENT_LINK).user_ptr == to);
  job_barrier();

  ptl_handle_eq_t sent;
  CALL(PtlEQAlloc(ni, 16, &sent));
  const ptl_md_t memory = {.start = from, .length = length, .eq_handle = sent, .ct_handle = PTL_CT_NONE};
  ptl_handle_md_t memory_handle;
  CALL(PtlMDBind(ni, &memory, &memory_handle));
  for (int i = 0; i < length; ++i)
    from[i] = (unsigned char)(i * 7 + job_rank);
  CALL(PtlPut(memory_handle, 16, length - 16, PTL_ACK_REQ, map[next_rank()], index, bits, 0, from, header));

  ptl_event_t event = next_event(sent, PTL_EVENT_SEND);
  EXPECT(event.user_ptr == from);
  event = next_event(sent, PTL_EVENT_ACK);
  EXPECT(event.user_ptr == from && event.mlength == length - 16 && event.remote_offset == 0);

  event = next_event(queue, PTL_EVENT_PUT);
  EXPECT(event.initiator.phys.nid == map[previous_rank()].phys.nid);
  EXPECT(event.initiator.phys.pid == map[previous_rank()].phys.pid);
  EXPECT(event.match_bits == bits && event.hdr_data == header && event.pt_index == index);
  EXPECT(event.rlength == length - 16 && event.mlength == length - 16 && event.start == to && event.user_ptr == to);
  next_event(queue, PTL_EVENT_AUTO_UNLINK);
  for (int i = 0; i < length - 16; ++i)
    EXPECT(to[i] == (unsigned char)((i + 16) * 7 + previous_rank()));

  CALL(PtlMDRelease(memory_handle));
  CALL(PtlPTFree(ni, index));
  CALL(PtlEQFree(queue));
  CALL(PtlEQFree(sent));
  end_portals(ni);
  free(map);
  return 0;
}
