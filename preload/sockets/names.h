/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Which addresses a name has, and the name of an address, as /etc/hosts of the nodes says it. */
#pragma once

#include "preload/shim.h"

#pragma GCC visibility push(hidden)
struct umw_host {
  const char* name; /* the one that is its own, where the program asked for another; else as the program gave it */
  bool numeric;     /* the name is an address */
  bool has_v4, has_v6;
  umw_address v4, v6; /* ports are 0 */
  uint32_t scope;     /* of v6, if it is numeric */
};

/* 0, EAI_NONAME: there is none of that name, EAI_ADDRFAMILY: it is an address of another family than `family`
 * (AF_UNSPEC: any).
 * ::ffff:a.b.c.d has both. */
int umw_look_up(const char* name, int family, bool numeric_only, struct umw_host* host);
/* False: it has none. */
bool umw_name_of_address(const umw_address* address, char* name, size_t size);
#pragma GCC visibility pop
