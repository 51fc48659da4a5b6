/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Calls every function of libportals.so.4 where there is no simulation: each fails, and the reason is said once. */
#include <stdio.h>

#include "preload/abi/portals4.h"
#include "preload/abi/table.h"

#define ZERO(type, argument)                                                                                           \
  (type)                                                                                                               \
  {                                                                                                                    \
    0                                                                                                                  \
  }

int main(void)
{
  int calls = 0;
#define UMW_CALL(result, name, kind, version, level, note, ...)                                                        \
  ++calls;                                                                                                             \
  if (name(UMW_LIST(ZERO, __VA_ARGS__)) != PTL_FAIL) {                                                                 \
    printf("%s: expected PTL_FAIL\n", #name);                                                                          \
    return 1;                                                                                                          \
  }
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  ++calls;                                                                                                             \
  name(UMW_LIST(ZERO, __VA_ARGS__));
#include "preload/abi/tables/portals.def"
  printf("%d\n", calls);
  return 0;
}
