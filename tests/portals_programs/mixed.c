/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Calls Portals, and lets a library do so in another ABI (mixed_library.c): one that it is linked against (LINKED), or
 * one that it opens. */
#include <dlfcn.h>
#include <stdio.h>

#include <portals4.h>

#ifdef LINKED
int in_library(void);
#endif

int main(int argc, char** argv)
{
  if (PtlInit() != PTL_OK)
    return 1;
#ifdef LINKED
  return in_library();
#endif
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW))
    fprintf(stderr, "%s\n", dlerror());
  return 2; /* the second library has come unnoticed */
}
