/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI 5's btl portals4; see btl_portals4_origins.h. An endpoint of this component is the address of a
 * process, which stands in the event; so there is one for whoever asks, whether or not this process has ever sent it
 * anything.
 */
#include "btl_portals4_origins.h"

#undef mca_btl_base_active_message_trigger

#include <stdlib.h>

enum { buckets = 256 };

struct origin {
  mca_btl_base_endpoint_t endpoint;
  struct origin* next;
};

static struct origin* origins[buckets];

const ptl_event_t* umw_event_taken; /* set by btl_portals4_refused.c; one thread at a time takes events */

static mca_btl_base_endpoint_t* endpoint_of(ptl_process_t process)
{
  struct origin** bucket = &origins[(process.phys.nid * 31U + process.phys.pid) % buckets];
  for (struct origin* one = *bucket; one; one = one->next)
    if (one->endpoint.ptl_proc.phys.nid == process.phys.nid && one->endpoint.ptl_proc.phys.pid == process.phys.pid)
      return &one->endpoint;
  struct origin* made = calloc(1, sizeof *made);
  if (!made)
    return NULL;
  made->endpoint.ptl_proc = process;
  made->next = *bucket;
  *bucket = made;
  return &made->endpoint;
}

static void deliver(mca_btl_base_module_t* btl, const mca_btl_base_receive_descriptor_t* message)
{
  const mca_btl_active_message_callback_t* receiver = &mca_btl_base_active_message_trigger[message->tag];
  mca_btl_base_receive_descriptor_t complete = *message;
  complete.cbdata = receiver->cbdata;
  if (message->tag < MCA_BTL_TAG_BTL) /* others do not ask */
    complete.endpoint = endpoint_of(umw_event_taken->initiator);
  receiver->cbfunc(btl, &complete);
}

mca_btl_active_message_callback_t umw_receivers[MCA_BTL_TAG_MAX] = {
    [0 ... MCA_BTL_TAG_MAX - 1] = {.cbfunc = deliver},
};
