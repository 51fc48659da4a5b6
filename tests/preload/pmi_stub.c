/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What programs that use PMI or PMIx are linked to where no resource manager is installed: every call of the tables,
 * and none that does anything. A program that reaches one of them has not met the shim. */
#include <stdio.h>
#include <stdlib.h>

#define UMW_LOCAL(name, version, level, note)                                                                          \
  int name(void);                                                                                                      \
  int name(void)                                                                                                       \
  {                                                                                                                    \
    fprintf(stderr, "%s of the stub library\n", #name);                                                                \
    exit(97);                                                                                                          \
  }
#define UMW_REFUSED(name) UMW_LOCAL(name, , , )
#ifdef STUB_OF_PMIX
#include "preload/abi/tables/pmix.def"
#else
#include "preload/abi/tables/pmi.def"
#endif
