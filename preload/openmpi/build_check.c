// SPDX-License-Identifier: LGPL-2.1-or-later
// A component shares Open MPI's inner structures, and is loaded by whatever libmpi.so.40 the program has or opens later
// (mpi4py with an Open MPI of its own, say). Of another release, or configured otherwise, that corrupts memory: refused
// as the component is loaded, before anything of it is used. Open MPI's classes know how long their objects are.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ompi_config.h"

#include "opal/class/opal_free_list.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/runtime/opal.h"
#include "opal/util/proc.h"

// of a component that fits nothing, for a test
#ifndef UMWELT_CHECK_BEYOND
#define UMWELT_CHECK_BEYOND 0
#endif

#define CLASS(type) #type, &type##_class, sizeof(type) + UMWELT_CHECK_BEYOND

static const struct known {
  const char* name;
  const opal_class_t* class;
  size_t size;
} known[] = {{CLASS(opal_object_t)},    {CLASS(opal_list_t)}, {CLASS(opal_mutex_t)},         {CLASS(opal_free_list_t)},
             {CLASS(opal_convertor_t)}, {CLASS(opal_proc_t)}, {CLASS(opal_free_list_item_t)}};

static void refuse(const char* what)
{
  fprintf(stderr,
          "Umwelt's components of Open MPI: expected the Open MPI " OPAL_IDENT_STRING
          " that they were built with, got another (%s). Next step: umwelt openmpi FILE, with the libmpi.so.40 that "
          "the program opens, builds components for it; "
          "LD_LIBRARY_PATH must lead there as umwelt run starts\n",
          what);
  _exit(126);
}

__attribute__((constructor)) static void check_build(void)
{
  // libopen-pal's own word: in umwelt doctor SimGrid answers MPI_Get_library_version, and a profiler may in a program
  if (strcmp(opal_version_string, OPAL_IDENT_STRING) != 0)
    refuse(opal_version_string);
  char text[128];
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (known[i].class->cls_sizeof != known[i].size) {
      snprintf(text, sizeof text, "its %s has %zu bytes, not %zu", known[i].name, known[i].class->cls_sizeof,
               known[i].size);
      refuse(text);
    }
}
