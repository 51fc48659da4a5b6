/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Portals 4 functions inside a rank: every row of preload/tables/portals.def becomes a gate call. The two that programs
 * poll with are answered here when nothing can have changed: the gate counts what reaches the rank, and a queue that was
 * empty at the present count still is. After a few such answers the call crosses, so that the runtime can block the rank
 * (runtime/job/polling.h).
 */
#include "preload/shim.h"

/* The generated functions of these two cross; the public ones follow below. */
#define PtlEQGet umw_crossing_PtlEQGet
#define PtlEQPoll umw_crossing_PtlEQPoll
int umw_crossing_PtlEQGet(ptl_handle_eq_t eq_handle, ptl_event_t* event);
int umw_crossing_PtlEQPoll(const ptl_handle_eq_t* eq_handles, unsigned int size, ptl_time_t timeout, ptl_event_t* event,
                           unsigned int* which);

#define UMW_CALL(result_type, name, version, level, note, ...)                                                         \
  UMW_PUBLIC result_type name(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__)))                                        \
  {                                                                                                                    \
    struct umw_args_##name arguments = {0, UMW_LIST(UMW_NAME, __VA_ARGS__)};                                           \
    umw_cross(UMW_OP_##name, &arguments);                                                                              \
    return arguments.result;                                                                                           \
  }
#define UMW_CALL_VOID(name, version, level, note, ...)                                                                 \
  UMW_PUBLIC void name(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__)))                                               \
  {                                                                                                                    \
    struct umw_args_##name arguments = {0, UMW_LIST(UMW_NAME, __VA_ARGS__)};                                           \
    umw_cross(UMW_OP_##name, &arguments);                                                                              \
  }
#include "preload/tables/portals.def"
#undef PtlEQGet
#undef PtlEQPoll

static struct {
  ptl_handle_eq_t queue;
  uint64_t activity; /* count at which it was found empty, plus 1 */
} empties[16];

static bool known_empty(ptl_handle_eq_t queue)
{
  const size_t slot = queue % (sizeof empties / sizeof *empties);
  struct umw_gate* gate = umw_gate;
  if (empties[slot].queue != queue || empties[slot].activity != gate->activity + 1 ||
      gate->quick_polls >= UMW_QUICK_POLLS)
    return false;
  ++gate->quick_polls;
  return true;
}

static int remember(ptl_handle_eq_t queue, int result)
{
  const size_t slot = queue % (sizeof empties / sizeof *empties);
  empties[slot].queue = queue;
  empties[slot].activity = result == PTL_EQ_EMPTY ? umw_gate->activity + 1 : 0;
  return result;
}

UMW_PUBLIC int PtlEQGet(ptl_handle_eq_t eq_handle, ptl_event_t* event)
{
  if (known_empty(eq_handle))
    return PTL_EQ_EMPTY;
  return remember(eq_handle, umw_crossing_PtlEQGet(eq_handle, event));
}

UMW_PUBLIC int PtlEQPoll(const ptl_handle_eq_t* eq_handles, unsigned int size, ptl_time_t timeout, ptl_event_t* event,
                         unsigned int* which)
{
  if (size != 1 || timeout != 0 || !eq_handles)
    return umw_crossing_PtlEQPoll(eq_handles, size, timeout, event, which);
  if (known_empty(eq_handles[0]))
    return PTL_EQ_EMPTY;
  return remember(eq_handles[0], umw_crossing_PtlEQPoll(eq_handles, size, timeout, event, which));
}
