/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What a C compiler makes of portals4.h. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct umw_abi_sizes {
  size_t process, iovec, ct_event, md, le, me, limits, event;
};

struct umw_abi_sizes umw_abi_in_c(void);

#ifdef __cplusplus
}
#endif
