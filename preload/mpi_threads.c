/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Open MPI's btl portals4 withdraws when a program wants
 * MPI_THREAD_MULTIPLE, and pml ob1 is then left without a network; pml cm over mtl portals4 serves any number of threads.
 * Which one is wanted is known only when MPI_Init_thread is called, and that is when the choice is changed: if it was
 * Umwelt's (runtime/cli/openmpi.cpp), not if it was the user's.
 */
#include "preload/shim.h"

#include <stdlib.h>
#include <string.h>

char* umw_thread_multiple_settings;

static void choose(int required)
{
  const int multiple = 3; /* MPI_THREAD_MULTIPLE of Open MPI's mpi.h */
  if (!umw_gate || required != multiple || !umw_thread_multiple_settings)
    return;
  char* rest = umw_thread_multiple_settings;
  umw_thread_multiple_settings = NULL;
  for (char* setting; (setting = strsep(&rest, ";"));) {
    char* value = strchr(setting, '=');
    if (!value)
      continue;
    *value++ = '\0';
    if (*value)
      setenv(setting, value, 1);
    else
      unsetenv(setting);
  }
  umw_warn("MPI_THREAD_MULTIPLE: pml cm over mtl portals4 instead of ob1, whose btl portals4 serves one thread only");
}

static void* real_function(const char* name)
{
  void* function = umw_symbol_of("libmpi.so", name);
  if (!function) {
    umw_warn("MPI_Init_thread is called, but no libmpi is loaded");
    abort();
  }
  return function;
}

typedef int init_thread(int* argc, char*** argv, int required, int* provided);
init_thread MPI_Init_thread, PMPI_Init_thread;

UMW_PUBLIC int MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
  choose(required);
  return ((init_thread*)real_function("MPI_Init_thread"))(argc, argv, required, provided);
}

/* What the Fortran and C++ bindings call. */
UMW_PUBLIC int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
  choose(required);
  return ((init_thread*)real_function("PMPI_Init_thread"))(argc, argv, required, provided);
}
