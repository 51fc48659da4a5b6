/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Memory in pieces on both sides: a Put gathers from an IOVEC and scatters into another, at offsets that split pieces
 * (Portals 4.3, 3.10.2 and 3.11.1). */
#include "tests/portals_programs/exposed.h"

enum { pieces = 8, piece = 100, offset = 130, length = 500, remote_offset = 250 };

int main(void)
{
  static unsigned char from[2 * pieces * piece], to[2 * pieces * piece];
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_MATCHING);
  /* every second stretch of `from`; every second one of `to`, from the last to the first */
  ptl_iovec_t gather[pieces], scatter[pieces];
  for (int i = 0; i < pieces; ++i) {
    gather[i] = (ptl_iovec_t){from + 2 * i * piece, piece};
    scatter[i] = (ptl_iovec_t){to + 2 * (pieces - 1 - i) * piece, piece};
  }
  for (size_t i = 0; i < sizeof from; ++i)
    from[i] = (unsigned char)(i % 251 + (size_t)job_rank);

  const ptl_handle_ct_t arrivals = new_counter(ni);
  const struct exposed target = expose_matching(
      ni, 0, scatter, pieces, PTL_ME_OP_PUT | PTL_IOVEC | PTL_ME_EVENT_CT_COMM | PTL_ME_EVENT_CT_BYTES, arrivals);
  const ptl_handle_md_t memory_handle = bind_memory(ni, gather, pieces, PTL_IOVEC, PTL_CT_NONE);
  job_barrier();

  CALL(PtlPut(memory_handle, offset, length, PTL_NO_ACK_REQ, rank_id(next_rank()), target.index, 0, remote_offset, NULL,
              0));
  wait_for(arrivals, length);
  for (int i = 0; i < pieces * piece; ++i) {
    const int at = 2 * (pieces - 1 - i / piece) * piece + i % piece; /* byte i of the entry */
    const int sent = i - remote_offset + offset;                     /* and of the descriptor */
    const int origin = 2 * (sent / piece) * piece + sent % piece;
    if (i >= remote_offset && i < remote_offset + length)
      EXPECT(to[at] == (unsigned char)(origin % 251 + previous_rank()));
    else
      EXPECT(to[at] == 0);
    EXPECT(to[at + piece] == 0);
  }

  job_barrier();
  CALL(PtlMDRelease(memory_handle));
  withdraw_matching(ni, target);
  CALL(PtlCTFree(arrivals));
  end_portals(ni);
  return 0;
}
