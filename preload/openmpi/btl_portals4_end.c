/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's btl portals4: the end of MPI.
 *
 * Every look at its queue takes one event, and nobody looks until there is none left: MPI_Finalize closes pml ob1, and
 * btl portals4, closed later, takes the rest and calls functions of ob1, which is not there any more. So the queue is
 * emptied, and what has been sent is acknowledged, while ob1 takes leave of its peers; and messages that come after
 * that, which nobody will receive, are dropped.
 */
#include "opal_config.h"

#include <string.h>

#include "btl_portals4.h"

static mca_btl_base_module_del_procs_fn_t real_del_procs;
static mca_btl_base_module_finalize_fn_t real_finalize;

void umw_give_up_refused(void); /* btl_portals4_refused.c */

static int empty_and_del_procs(mca_btl_base_module_t* btl, size_t count, opal_proc_t** procs,
                               mca_btl_base_endpoint_t** peers)
{
  const mca_btl_portals4_module_t* module = (const mca_btl_portals4_module_t*)btl;
  while (mca_btl_portals4_component_progress() > 0 || module->portals_outstanding_ops > 0)
    umw_give_up_refused();
  return real_del_procs(btl, count, procs, peers);
}

#if OPAL_MAJOR_VERSION >= 5
static void drop(mca_btl_base_module_t* btl, const mca_btl_base_receive_descriptor_t* message)
{
  (void)btl, (void)message;
}
#else
static void drop(mca_btl_base_module_t* btl, mca_btl_base_tag_t tag, mca_btl_base_descriptor_t* message, void* unused)
{
  (void)btl, (void)tag, (void)message, (void)unused;
}
#endif

static int drop_and_finalize(mca_btl_base_module_t* btl)
{
  static mca_btl_active_message_callback_t receivers[MCA_BTL_TAG_MAX];
  _Static_assert(sizeof receivers == sizeof mca_btl_base_active_message_trigger, "as many receivers as tags");
  memcpy(receivers, mca_btl_base_active_message_trigger, sizeof receivers);
  for (size_t tag = 0; tag < MCA_BTL_TAG_MAX; ++tag)
    mca_btl_base_active_message_trigger[tag].cbfunc = drop;
  const int result = real_finalize(btl);
  memcpy(mca_btl_base_active_message_trigger, receivers, sizeof receivers); /* other BTLs come after */
  return result;
}

/* Before Open MPI makes its modules, one for each interface, after this one. */
__attribute__((constructor)) static void replace(void)
{
  mca_btl_base_module_t* btl = &mca_btl_portals4_module.super;
  real_del_procs = btl->btl_del_procs;
  real_finalize = btl->btl_finalize;
  btl->btl_del_procs = empty_and_del_procs;
  btl->btl_finalize = drop_and_finalize;
}
