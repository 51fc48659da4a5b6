/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What BXI's library has beyond Portals 4 (preload/abi/tables/portals_bxi.def), but for the twins that do not block.
 * What cannot be done says so, once, and fails.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/abi/portals_bxi/portals4.h"

#define PUBLIC __attribute__((visibility("default")))

#define NAME_ROW(name, four_three, four_two, bxi)                                                                      \
  if ((bxi) != UMW_ABSENT && value == (bxi))                                                                           \
    return #name;

static const char* name_of_result(int value)
{
#define UMW_PTL_RETURN NAME_ROW
#include "preload/abi/portals_constants.def"
  return NULL;
}

static const char* name_of_event(int value)
{
#define UMW_PTL_EVENT NAME_ROW
#include "preload/abi/portals_constants.def"
  return NULL;
}

static const char* name_of_fail_type(int value)
{
#define UMW_PTL_FAIL_TYPE NAME_ROW
#include "preload/abi/portals_constants.def"
  switch (value) { /* these are numbers of both kinds */
  case PTL_FAIL:
  case PTL_ARG_INVALID:
  case PTL_IN_USE:
    return name_of_result(value);
  default:
    return NULL;
  }
}

PUBLIC const char* PtlToStr(int value, enum ptl_str_type type)
{
  const char* name = type == PTL_STR_ERROR       ? name_of_result(value)
                     : type == PTL_STR_EVENT     ? name_of_event(value)
                     : type == PTL_STR_FAIL_TYPE ? name_of_fail_type(value)
                                                 : NULL;
  return name ? name : "Unknown";
}

PUBLIC int PtlFailTypeSize(void)
{
  int types = 0;
  while (name_of_fail_type(types))
    ++types;
  return types;
}

/* A NIC never comes or goes while a rank runs, so nobody has to be called. */
struct ptl_activate_hook {
  char unused;
};

PUBLIC int PtlActivateHookAdd(void (*callback)(void* argument, unsigned int nic, int what),
                              void* argument __attribute__((unused)), ptl_activate_hook_t* hook)
{
  if (!callback || !hook)
    return PTL_ARG_INVALID;
  *hook = malloc(sizeof **hook);
  return *hook ? PTL_OK : PTL_NO_SPACE;
}

PUBLIC int PtlActivateHookRemove(ptl_activate_hook_t hook)
{
  if (!hook)
    return PTL_ARG_INVALID;
  free(hook);
  return PTL_OK;
}

static void refuse(bool* said, const char* function, const char* why, const char* next_step)
{
  if (*said)
    return;
  *said = true;
  fprintf(stderr, "umwelt: %s refused: %s. Next step: %s\n", function, why, next_step);
}

PUBLIC int PtlGetHwid(ptl_handle_ni_t ni_handle __attribute__((unused)), uint64_t* id __attribute__((unused)),
                      uint64_t* version __attribute__((unused)))
{
  static bool said;
  refuse(&said, "PtlGetHwid", "what its numbers say is not public", "PtlGetPhysId tells nodes apart");
  return PTL_FAIL;
}

PUBLIC int PtlEQAllocAsync(ptl_handle_ni_t ni_handle __attribute__((unused)), ptl_size_t count __attribute__((unused)),
                           ptl_handle_eq_t* eq_handle __attribute__((unused)),
                           void (*callback)(void* argument, ptl_handle_eq_t eq_handle) __attribute__((unused)),
                           void* argument __attribute__((unused)), int hint __attribute__((unused)))
{
  static bool said;
  refuse(&said, "PtlEQAllocAsync", "nobody would make the call back", "PtlEQAlloc, and a thread in PtlEQWait");
  return PTL_FAIL;
}

static const char no_descriptors[] = "event queues have no descriptors here";
static const char wait_instead[] = "PtlEQPoll, or a thread in PtlEQWait";

PUBLIC int PtlNFDs(ptl_handle_ni_t ni_handle __attribute__((unused)))
{
  static bool said;
  refuse(&said, "PtlNFDs", no_descriptors, wait_instead);
  return -1;
}

PUBLIC int PtlPollFDs(ptl_handle_ni_t ni_handle __attribute__((unused)),
                      struct pollfd* descriptors __attribute__((unused)), int events __attribute__((unused)))
{
  static bool said;
  refuse(&said, "PtlPollFDs", no_descriptors, wait_instead);
  return -1;
}

PUBLIC int PtlPollEvents(ptl_handle_ni_t ni_handle __attribute__((unused)),
                         struct pollfd* descriptors __attribute__((unused)))
{
  static bool said;
  refuse(&said, "PtlPollEvents", no_descriptors, wait_instead);
  return POLLERR;
}
