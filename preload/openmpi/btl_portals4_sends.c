/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's btl portals4: what a sender is told.
 *
 * No event that nobody looks at: a short message tells its sender twice, that it has left (SEND) and that it has
 * arrived (ACK). With btl_portals4_needs_ack, the default, Open MPI takes the first of the two and does nothing. Each
 * event costs NIC and the host some 0.2 us, which is the rate of short messages. The vendor's Open MPI on the BXI
 * cluster sends one in 0.386 us, where Portals programs with both events need 0.524 us for each Put and those with one
 * 0.356: it cannot be told twice.
 *
 * Without needs_ack a message ends when it has left, and Open MPI would not know that the target had no room for it: it
 * would be lost, and the run hang. So it is acknowledged even then, and until that has come its fragment is kept to be
 * sent again (btl_portals4_refused.c), though pml ob1 has been told at SEND that it may go on. Pieces of long messages
 * (non-contiguous data) end when they have arrived: pml ob1 has few of a message under way, and without that they come
 * as fast as the network takes them, to a target that has 1 MiB for all.
 */
#include "opal_config.h"

#include "btl_portals4.h"
#include "btl_portals4_frag.h"

enum { hdr_type_frag = MCA_BTL_TAG_PML + 6 }; /* MCA_PML_OB1_HDR_TYPE_FRAG, which the btl has for a tag */

/* Without needs_ack, of the same memory: whose messages tell that they have left, too, and whose only that they have
 * arrived. */
static ptl_handle_md_t leaving, arriving;
static int have_both;

int __real_PtlMDBind(ptl_handle_ni_t ni, const ptl_md_t* md, ptl_handle_md_t* handle);

int __wrap_PtlMDBind(ptl_handle_ni_t ni, const ptl_md_t* md, ptl_handle_md_t* handle)
{
  ptl_md_t quiet = *md;
  quiet.options |= PTL_MD_EVENT_SEND_DISABLE;
  if (mca_btl_portals4_component.portals_need_ack)
    return __real_PtlMDBind(ni, &quiet, handle);
  const int result = __real_PtlMDBind(ni, md, handle);
  if (result != PTL_OK || md->length == 0 || have_both)
    return result;
  leaving = *handle;
  have_both = __real_PtlMDBind(ni, &quiet, &arriving) == PTL_OK;
  return result;
}

int __real_PtlMDRelease(ptl_handle_md_t handle);

int __wrap_PtlMDRelease(ptl_handle_md_t handle)
{
  if (have_both && PtlHandleIsEqual(handle, leaving)) {
    have_both = 0;
    __real_PtlMDRelease(arriving);
  }
  return __real_PtlMDRelease(handle);
}

int __real_PtlPut(ptl_handle_md_t md, ptl_size_t local, ptl_size_t length, ptl_ack_req_t ack, ptl_process_t target,
                  ptl_pt_index_t index, ptl_match_bits_t bits, ptl_size_t remote, void* user, ptl_hdr_data_t tag);

int __wrap_PtlPut(ptl_handle_md_t md, ptl_size_t local, ptl_size_t length, ptl_ack_req_t ack, ptl_process_t target,
                  ptl_pt_index_t index, ptl_match_bits_t bits, ptl_size_t remote, void* user, ptl_hdr_data_t tag)
{
#if OPAL_MAJOR_VERSION >= 5 /* answers of osc rdma have no callback, and the component says that all have one */
  mca_btl_base_descriptor_t* descriptor = &((mca_btl_portals4_frag_t*)user)->base;
  if (!descriptor->des_cbfunc)
    descriptor->des_flags &= ~(uint32_t)MCA_BTL_DES_SEND_ALWAYS_CALLBACK;
#endif
  if (have_both && PtlHandleIsEqual(md, leaving)) {
    const mca_btl_portals4_frag_t* fragment = user;
    /* Whatever is sent again has been told of, and what is not the btl's may be gone when it has left. */
    if (ack == PTL_ACK_REQ || tag == hdr_type_frag || (fragment->base.des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP) == 0)
      md = arriving;
    ack = PTL_ACK_REQ;
  }
  return __real_PtlPut(md, local, length, ack, target, index, bits, remote, user, tag);
}

int umw_left(const ptl_event_t* event);

/* Whether the event is nothing for the btl, which would give the fragment back. SEND comes before ACK. */
int umw_left(const ptl_event_t* event)
{
  mca_btl_portals4_frag_t* fragment = event->user_ptr;
  if (!have_both || event->type != PTL_EVENT_SEND || !fragment)
    return 0;
  if (fragment->base.des_flags & MCA_BTL_DES_SEND_ALWAYS_CALLBACK) {
    fragment->base.des_flags &= ~MCA_BTL_DES_SEND_ALWAYS_CALLBACK;
    fragment->base.des_cbfunc(&mca_btl_portals4_component.btls[0]->super, fragment->endpoint, &fragment->base,
                              OPAL_SUCCESS);
  }
  return 1;
}
