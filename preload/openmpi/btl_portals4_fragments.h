/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Included in front of every source of Open MPI's btl portals4, which stays as it is.
 *
 * A Get that finds no fragment left (btl_portals4_free_list_max_num) is to fail, and pml ob1 then tries it again later.
 * Open MPI's macro writes to the fragment before anybody looks whether there is one.
 */
#pragma once

#include "opal_config.h"

#include "btl_portals4.h"
#include "btl_portals4_frag.h"

static inline mca_btl_portals4_frag_t* umw_fragment_of_get(mca_btl_portals4_module_t* btl)
{
  mca_btl_portals4_frag_t* fragment = (mca_btl_portals4_frag_t*)opal_free_list_get(&btl->portals_frag_user);
  if (fragment)
    fragment->base.des_cbfunc = NULL;
  return fragment;
}

#undef OPAL_BTL_PORTALS4_FRAG_ALLOC_USER
#define OPAL_BTL_PORTALS4_FRAG_ALLOC_USER(btl, frag) (frag = umw_fragment_of_get((mca_btl_portals4_module_t*)(btl)))
