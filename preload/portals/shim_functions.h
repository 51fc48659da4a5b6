/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a translation (translation.h) calls: the functions of the shim, which comes behind it in the order in which
 * symbols are looked up. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "preload/abi/gate.h"
#include "preload/abi/portals4.h"
#include "preload/portals/of_rank.h"

#define PUBLIC __attribute__((visibility("default")))

/* What conversions know of the call they belong to. */
struct translated_call {
  enum umw_op function;
  bool physical;       /* the interface is */
  unsigned int number; /* of handles in an array */
  void* allocated;     /* for them */
  int result;          /* of the shim's function */
};

/* Null outside of a rank. */
static struct {
#define UMW_CALL(result_type, name, kind, version, level, note, ...)                                                   \
  result_type (*name)(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__)));
#define UMW_CALL_VOID(name, kind, version, level, note, ...) void (*name)(void);
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
} shim;

static void find_shim(void)
{
  if (!dlsym(RTLD_NEXT, "umw_portals_abi"))
    return;
#define UMW_CALL(result_type, name, kind, version, level, note, ...)                                                   \
  shim.name = (__typeof__(shim.name))dlsym(RTLD_NEXT, #name);
#define UMW_CALL_VOID(name, kind, version, level, note, ...) shim.name = (__typeof__(shim.name))dlsym(RTLD_NEXT, #name);
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
}
