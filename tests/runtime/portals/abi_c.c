/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/runtime/portals/abi_c.h"

#include "preload/abi/portals4.h"

struct umw_abi_sizes umw_abi_in_c(void)
{
  const struct umw_abi_sizes sizes = {sizeof(ptl_process_t),   sizeof(ptl_iovec_t), sizeof(ptl_ct_event_t),
                                      sizeof(ptl_md_t),        sizeof(ptl_le_t),    sizeof(ptl_me_t),
                                      sizeof(ptl_ni_limits_t), sizeof(ptl_event_t)};
  return sizes;
}
