/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libportals.so.4: what programs and MPI libraries are linked against. Under Umwelt none of this code runs, because the
 * shim comes first in the search order; anywhere else there is no NIC behind it, and it says so.
 */
#include "preload/portals/of_rank.h"

#include "preload/abi/portals4.h"
#include "preload/abi/table.h"

#define PUBLIC __attribute__((visibility("default")))

static const char library[] = "libportals.so.4";

__attribute__((constructor)) static void begin(void)
{
  check_abi_of_rank(library, "4.3");
}

static void explain(const char* function)
{
  explain_outside(library, function);
}

#define UMW_CALL(result_type, name, kind, version, level, note, ...)                                                   \
  PUBLIC result_type name(__VA_OPT__(UMW_LIST(UMW_UNUSED, __VA_ARGS__)))                                               \
  {                                                                                                                    \
    explain(#name);                                                                                                    \
    return PTL_FAIL;                                                                                                   \
  }
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  PUBLIC void name(__VA_OPT__(UMW_LIST(UMW_UNUSED, __VA_ARGS__)))                                                      \
  {                                                                                                                    \
    explain(#name);                                                                                                    \
  }
#define UMW_UNUSED(type, argument) type argument __attribute__((unused))
#include "preload/abi/tables/portals.def"
