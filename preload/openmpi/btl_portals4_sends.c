/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's btl portals4: no event that nobody looks at.
 *
 * A short message tells its sender twice: that it has left (SEND) and that it has arrived (ACK). With
 * btl_portals4_needs_ack, the default, Open MPI takes the first of the two and does nothing. Each event costs NIC and
 * the host some 0.2 us, which is the rate of short messages. The vendor's Open MPI on the BXI cluster sends one in
 * 0.386 us, where Portals programs with both events need 0.524 us for each Put and those with one 0.356: it cannot be
 * told twice.
 */
#include "opal_config.h"

#include "btl_portals4.h"

int __real_PtlMDBind(ptl_handle_ni_t ni, const ptl_md_t* md, ptl_handle_md_t* handle);

int __wrap_PtlMDBind(ptl_handle_ni_t ni, const ptl_md_t* md, ptl_handle_md_t* handle)
{
  ptl_md_t quiet = *md;
  if (mca_btl_portals4_component.portals_need_ack)
    quiet.options |= PTL_MD_EVENT_SEND_DISABLE;
  return __real_PtlMDBind(ni, &quiet, handle);
}
