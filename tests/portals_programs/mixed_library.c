/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A library that calls Portals, as a component of an MPI does. */
#include <portals4.h>

int in_library(void);
int in_library(void)
{
  return PtlInit();
}
