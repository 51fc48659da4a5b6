/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What the simulated job does not offer. Without pmix.h: arguments do not matter here. */
#include "preload/shim.h"

enum { not_supported = -47 }; /* PMIX_ERR_NOT_SUPPORTED; checked against pmix_common.h in pmix.c */

#define UMW_LOCAL(name, version, level, note)
#define UMW_REFUSED(name)                                                                                              \
  UMW_PUBLIC int name(void);                                                                                           \
  UMW_PUBLIC int name(void)                                                                                            \
  {                                                                                                                    \
    return not_supported;                                                                                              \
  }
#include "preload/abi/tables/pmix.def"
