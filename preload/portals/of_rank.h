/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What every libportals of Umwelt does when it is loaded: makes sure that it speaks the ABI in which the rank's Portals
 * functions are called. The first library that has umw_portals_abi says which that is: a translation's, or the shim. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REFUSED = 126 }; /* runtime/base/exit_codes.h */

static inline void check_abi_of_rank(const char* library, const char* abi)
{
  const char* of_rank = dlsym(RTLD_DEFAULT, "umw_portals_abi");
  if (!of_rank || strcmp(of_rank, abi) == 0)
    return;
  fprintf(stderr,
          "umwelt: %s: expected a library for the Portals ABI of this rank (%s), got one for %s: something that the "
          "program has opened is linked against it. Next step: umwelt run --portals-abi %s, if all that calls Portals "
          "was built for that one; programs that mix ABIs cannot be run\n",
          library, of_rank, abi, abi);
  _exit(REFUSED);
}

static inline void explain_outside(const char* library, const char* function)
{
  static int said;
  if (!said++)
    fprintf(stderr,
            "%s (Umwelt): %s called outside a simulation, where there is no Portals network.\n"
            "Next step: start the program with `umwelt run -np N PROGRAM`.\n",
            library, function);
}
