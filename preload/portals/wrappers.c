/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Portals 4 functions inside a rank: every row of preload/abi/tables/portals.def becomes a gate call. Those that
 * programs poll with are answered here when nothing can have changed: the gate counts what reaches the rank, and a
 * queue that was empty at the present count still is, as a counter has the value it had. After a few such answers the
 * call crosses, so that the runtime can block the rank (runtime/job/polling.h).
 */
#include "preload/shim.h"

#include <string.h>

#include "preload/abi/burst.h"

/* The generated functions of these cross; the public ones follow below. */
#define PtlHandleIsEqual umw_crossing_PtlHandleIsEqual
#define PtlEQGet umw_crossing_PtlEQGet
#define PtlEQPoll umw_crossing_PtlEQPoll
#define PtlCTGet umw_crossing_PtlCTGet
#define PtlAtomicSync umw_crossing_PtlAtomicSync
#define PtlFini umw_crossing_PtlFini
int umw_crossing_PtlEQGet(ptl_handle_eq_t eq_handle, ptl_event_t* event);
int umw_crossing_PtlEQPoll(const ptl_handle_eq_t* eq_handles, unsigned int size, ptl_time_t timeout, ptl_event_t* event,
                           unsigned int* which);
int umw_crossing_PtlCTGet(ptl_handle_ct_t ct_handle, ptl_ct_event_t* event);
int umw_crossing_PtlAtomicSync(void);
int umw_crossing_PtlHandleIsEqual(ptl_handle_any_t handle1, ptl_handle_any_t handle2);
void umw_crossing_PtlFini(void);

#define UMW_CALL(result_type, name, kind, version, level, note, ...)                                                   \
  UMW_PUBLIC result_type name(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__)))                                        \
  {                                                                                                                    \
    struct umw_args_##name arguments = {0, UMW_LIST(UMW_NAME, __VA_ARGS__)};                                           \
    umw_cross(UMW_OP_##name, &arguments);                                                                              \
    return arguments.result;                                                                                           \
  }
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  UMW_PUBLIC void name(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__)))                                               \
  {                                                                                                                    \
    struct umw_args_##name arguments = {0, UMW_LIST(UMW_NAME, __VA_ARGS__)};                                           \
    umw_cross(UMW_OP_##name, &arguments);                                                                              \
  }
#include "preload/abi/tables/portals.def"

UMW_PUBLIC const char umw_portals_abi[] = "4.3"; /* unless a translation comes before the shim (of_rank.h) */

#undef PtlHandleIsEqual
#undef PtlEQGet
#undef PtlEQPoll
#undef PtlCTGet
#undef PtlAtomicSync
#undef PtlFini

static struct {
  ptl_handle_eq_t queue;
  uint64_t activity; /* both counts of the gate when it was found empty, the first plus 1 */
  uint64_t news;
} empties[UMW_QUEUE_SLOTS];

/* What is known is as old as the last crossing. If the rank has computed since, or a model of a kernel has, that is
 * simulated time in which more may have come. What is measured may be the library's own way through cold memory, 10 to
 * 25 us on some machines (runtime/LIMITATIONS.md). */
static bool answers_quickly(struct umw_gate* gate)
{
  const double longest_burst = 100e6; /* ps */
  const struct umw_clock* clock = &gate->clock;
  if (gate->quick_polls >= gate->most_quick_polls || clock->debt_ps > clock->most_debt_ps ||
      umw_burst_ps(clock) > longest_burst)
    return false;
  ++gate->quick_polls;
  return true;
}

static bool known_empty(ptl_handle_eq_t queue)
{
  const size_t slot = queue % UMW_QUEUE_SLOTS;
  struct umw_gate* gate = umw_gate;
  return empties[slot].queue == queue && empties[slot].activity == gate->activity + 1 &&
         empties[slot].news == gate->queue_news[slot] && answers_quickly(gate);
}

static int remember(ptl_handle_eq_t queue, int result)
{
  const size_t slot = queue % UMW_QUEUE_SLOTS;
  const struct umw_gate* gate = umw_gate;
  const bool empty = result == PTL_EQ_EMPTY || (result == PTL_OK && !gate->more_events);
  empties[slot].queue = queue;
  empties[slot].activity = empty ? gate->activity + 1 : 0;
  empties[slot].news = gate->queue_news[slot];
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

static struct {
  ptl_handle_ct_t counter;
  uint64_t activity; /* count at which it had this value, plus 1 */
  ptl_ct_event_t value;
} counters[16];

UMW_PUBLIC int PtlCTGet(ptl_handle_ct_t ct_handle, ptl_ct_event_t* event)
{
  const size_t slot = ct_handle % (sizeof counters / sizeof *counters);
  struct umw_gate* gate = umw_gate;
  if (event && counters[slot].counter == ct_handle && counters[slot].activity == gate->activity + 1 &&
      answers_quickly(gate)) {
    *event = counters[slot].value;
    return PTL_OK;
  }
  const int result = umw_crossing_PtlCTGet(ct_handle, event);
  counters[slot].counter = ct_handle;
  counters[slot].activity = result == PTL_OK ? gate->activity + 1 : 0;
  if (event && result == PTL_OK)
    counters[slot].value = *event;
  return result;
}

/* PtlAtomicSync: there is nothing to do, atomics act on memory. But programs call it each time they look at memory, as
 * all of shmem_test_*() of Sandia OpenSHMEM do, and such a loop has to be recognised: one that comes back with the same
 * registers and the same stack, again and again, with no other call in between, does nothing but look
 * (runtime/rank_host/slices.h takes loops without calls for the same reason for ones that wait). One whose registers or
 * stack differ may compute; it crosses now and then, so that time goes on. */
enum { REGISTER_BYTES = 7 * 8, STATE_BYTES = 1024, PAGE = 4096 };
enum { LONGEST_PERIOD = 64, PROOF = 3, FIRST_PASSES = 16, MOST_PASSES = 1024 };

static bool initialised; /* PtlAtomicSync has said so */
static struct look {
  const void* where; /* a state that may come back: stack pointer, and what lies there */
  unsigned char state[STATE_BYTES];
  size_t bytes;
  uint64_t crossings; /* of the gate */
  uint64_t changes;   /* of the gate, when it was last in that state */
  uint64_t turns;     /* since the last crossing */
  uint64_t passes;    /* turns before the next one */
  unsigned since;     /* turns since then */
  unsigned limit;     /* of turns in which it is to come back the first time */
  unsigned period;
  unsigned same;           /* times that it has been in that state; 0: it is registers only */
  unsigned forced_wakeups; /* times in a row */
  bool idle;               /* it has done nothing else since umw_look_again() */
} looks[8];                /* threads have different stacks */

static void remember_state(struct look* look, const void* state, size_t bytes)
{
  const size_t readable = PAGE - (uintptr_t)state % PAGE;
  look->where = state;
  look->bytes = bytes < readable ? bytes : readable;
  memcpy(look->state, state, look->bytes);
  look->since = 0;
}

static void forget_state(struct look* look, const void* state)
{
  look->same = 0;
  look->limit = 1;
  look->idle = false;
  remember_state(look, state, REGISTER_BYTES);
}

/* Whether it has come back to the state that is remembered. */
static bool back_again(struct look* look, const void* state)
{
  ++look->turns;
  ++look->since;
  if (look->crossings != umw_gate->crossings) {
    look->crossings = umw_gate->crossings;
    look->turns = 1;
    look->passes = look->forced_wakeups = 0;
    forget_state(look, state);
  } else if (look->where == state && memcmp(look->state, state, look->bytes) == 0) {
    look->period = look->since;
    look->since = 0;
    if (++look->same > 1)
      return true;
    remember_state(look, state, STATE_BYTES);                                /* only now: most calls are no loop's */
  } else if (look->since >= (look->same > 1 ? look->period : look->limit)) { /* Brent's algorithm */
    if (look->same > 1 || look->limit >= LONGEST_PERIOD) {
      forget_state(look, state);
    } else {
      look->limit *= 2;
      remember_state(look, state, look->same > 0 ? STATE_BYTES : REGISTER_BYTES);
    }
  }
  return false;
}

/* state: the registers that calls preserve, the return address, the caller's stack. */
__attribute__((used, visibility("hidden"))) int umw_atomic_sync(const void* state)
{
  struct umw_gate* gate = umw_gate;
  if (!initialised) {
    const int result = umw_crossing_PtlAtomicSync();
    initialised = result == PTL_OK;
    return result;
  }
  struct look* look = &looks[(uintptr_t)state / PAGE % (sizeof looks / sizeof *looks)];
  const bool back = back_again(look, state);
  const uint64_t changes = __atomic_load_n(&gate->changes, __ATOMIC_ACQUIRE);
  const bool unchanged = back && look->changes == changes;
  if (look->since == 0)
    look->changes = changes;
  if (look->turns <= UMW_QUICK_POLLS || look->turns <= look->passes)
    return PTL_OK;
  int result = PTL_OK;
  if (look->same <= 1) {
    gate->clock.debt_ps += (int64_t)look->turns * gate->clock.read_cost_ps;
    result = umw_crossing_PtlAtomicSync();
  } else if (unchanged && look->same > PROOF) {
    look->passes = 0;
    if (!umw_look_again(changes, look->idle)) {
      look->forced_wakeups = 0;
    } else {
      look->passes = FIRST_PASSES << look->forced_wakeups;
      if (look->passes < MOST_PASSES)
        ++look->forced_wakeups;
    }
    look->idle = true;
  } else {
    return PTL_OK;
  }
  look->turns = 0;
  look->crossings = gate->crossings;
  return result;
}

__attribute__((naked)) UMW_PUBLIC int PtlAtomicSync(void)
{
  __asm__("push %r15\n\t.cfi_adjust_cfa_offset 8\n\t"
          "push %r14\n\t.cfi_adjust_cfa_offset 8\n\t"
          "push %r13\n\t.cfi_adjust_cfa_offset 8\n\t"
          "push %r12\n\t.cfi_adjust_cfa_offset 8\n\t"
          "push %rbp\n\t.cfi_adjust_cfa_offset 8\n\t"
          "push %rbx\n\t.cfi_adjust_cfa_offset 8\n\t"
          "mov %rsp, %rdi\n\t" /* what lies there is their state */
          "sub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"
          "call umw_atomic_sync\n\t"
          "add $56, %rsp\n\t.cfi_adjust_cfa_offset -56\n\t"
          "ret");
}

UMW_PUBLIC int PtlHandleIsEqual(ptl_handle_any_t handle1, ptl_handle_any_t handle2)
{
  return handle1 == handle2;
}

UMW_PUBLIC void PtlFini(void)
{
  initialised = false;
  umw_crossing_PtlFini();
}
