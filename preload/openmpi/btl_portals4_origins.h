/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Included in front of every source of Open MPI 5's btl portals4, which stays as it is.
 *
 * One-sided communication of Open MPI 5 over BTLs (osc rdma) asks its target by messages, and the target answers to the
 * endpoint that a message came from. The component says that it does not know, and Open MPI aborts. So what it looks up
 * to deliver a message is another table, which adds the endpoint (btl_portals4_origins.c).
 */
#pragma once

#include "opal_config.h"

#include "btl_portals4.h"

#pragma GCC visibility push(hidden)
extern mca_btl_active_message_callback_t umw_receivers[MCA_BTL_TAG_MAX];
#pragma GCC visibility pop

#define mca_btl_base_active_message_trigger umw_receivers
