/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nonblocking and persistent collectives whose time is a model's. A nonblocking one has a generalized request of the
 * MPI library, which is completed here, in calls that wait for requests or test them, once the runtime says that it is
 * over: so the library knows all requests of the program, and what it does with them is its own. The request of a
 * persistent one is what the library has made; where the program waits for it, the generalized request of its last
 * start stands in for it. */
#include "preload/mpi/collectives.h"

#include <string.h>

#include "preload/abi/pause.h"

struct operation {
  struct umw_mpi_collective collective;
  int64_t number; /* to the runtime */
  uintptr_t request;
  bool kept; /* what is received has copies of its own of arrays and types */
  bool busy; /* a thread is about to complete it, or waits for it */
  struct operation* next;
};
/* In the order in which they were started. */
static struct operation* pending;

struct persistent {
  uint64_t handle;
  uintptr_t request; /* of the last start; that of nobody: it is not active */
  struct umw_mpi_collective collective;
  struct persistent* next;
};
static struct persistent* persistents;

static uint64_t news; /* of the gate, when pending ones were last asked about */

static struct {
  int (*grequest_start)(void*, void*, void*, void*, void*);
  int (*grequest_complete)(uintptr_t);
  int (*set_elements)(void*, uintptr_t, int);
  int (*set_cancelled)(void*, int);
  int (*request_free)(void*);
  int (*start)(void*);
  int (*testany)(int, void*, int*, int*, void*);
  int (*testsome)(int, void*, int*, int*, void*);
} mpi;

void umw_mpi_begin_requests(const void* caller)
{
#define FIND(member, name) *(void**)&mpi.member = umw_mpi_next("PMPI_" name, caller)
  FIND(grequest_start, "Grequest_start");
  FIND(grequest_complete, "Grequest_complete");
  FIND(set_elements, "Status_set_elements");
  FIND(set_cancelled, "Status_set_cancelled");
  FIND(request_free, "Request_free");
  FIND(start, "Start");
  FIND(testany, "Testany");
  FIND(testsome, "Testsome");
#undef FIND
}

/* MPI_Finalize is next: what nobody has waited for is not completed any more. */
void umw_mpi_end_requests(void)
{
  pending = NULL;
  persistents = NULL;
}

static int query(void* state, void* status)
{
  (void)state;
  const int result = mpi.set_elements(status, umw_mpi_byte_type(), 0);
  return result ? result : mpi.set_cancelled(status, 0);
}

static int nothing_to_free(void* state)
{
  (void)state;
  return 0;
}

static int never_cancelled(void* state, int complete)
{
  (void)state;
  (void)complete;
  return 0;
}

static size_t handle_size(void)
{
  return umw_mpi_is_mpich() ? sizeof(uint32_t) : sizeof(uintptr_t);
}

static void put_handle(uintptr_t place, uintptr_t handle)
{
  memcpy((void*)place, &handle, handle_size());
}

/* --- operations --- */

/* The rank comes to it now. */
static struct operation* begin(const struct umw_mpi_collective* collective)
{
  struct operation* operation = umw_mpi_take(sizeof *operation);
  if (!operation)
    return NULL;
  *operation = (struct operation){.collective = *collective};
  const int64_t state = umw_mpi_come(&operation->collective, false);
  operation->number = state / UMW_COLLECTIVE_STATES;
  if (state % UMW_COLLECTIVE_STATES == UMW_COLLECTIVE_REDUCE)
    umw_mpi_combine(operation->number, &operation->collective.reduction, operation->collective.comm,
                    umw_mpi_scans(&operation->collective));
  mpi.grequest_start((void*)query, (void*)nothing_to_free, (void*)never_cancelled, NULL, &operation->request);
  struct operation** last = &pending;
  while (*last)
    last = &(*last)->next;
  *last = operation;
  return operation;
}

/* It is over, and what has come is in its place. */
static void complete(struct operation* operation)
{
  struct operation** place = &pending;
  while (*place != operation)
    place = &(*place)->next;
  *place = operation->next;
  const uintptr_t request = operation->request;
  umw_mpi_end_side(&operation->collective.send, false);
  umw_mpi_end_side(&operation->collective.receive, operation->kept);
  umw_mpi_give_back(operation);
  mpi.grequest_complete(request);
}

/* Those that are over. */
static void complete_due(void)
{
  if (!pending || __atomic_load_n(&umw_mpi_gate->collective_news, __ATOMIC_RELAXED) == news)
    return;
  news = umw_mpi_gate->collective_news;
  umw_begin_pause(umw_mpi_gate);
  for (struct operation *operation = pending, *next; operation; operation = next) {
    next = operation->next;
    if (operation->busy)
      continue;
    operation->busy = true;
    struct umw_args_umw_collective_wait arguments = {0, operation->number, 0};
    umw_mpi_gate->cross(umw_mpi_gate, UMW_OP_umw_collective_wait, &arguments);
    operation->busy = false;
    next = operation->next;
    if (arguments.result % UMW_COLLECTIVE_STATES != UMW_COLLECTIVE_OVER)
      continue;
    umw_mpi_accept(&operation->collective.receive, operation->collective.comm);
    complete(operation);
  }
  umw_end_pause(umw_mpi_gate);
}

static struct operation* operation_of(uint64_t request)
{
  struct operation* operation = pending;
  while (operation && umw_mpi_handle(operation->request) != request)
    operation = operation->next;
  return operation;
}

/* Where another thread waits for it already, the library waits for that. */
static void wait_for(struct operation* operation)
{
  if (operation->busy)
    return;
  operation->busy = true;
  umw_begin_pause(umw_mpi_gate);
  umw_mpi_finish(&operation->collective, operation->number * UMW_COLLECTIVE_STATES + UMW_COLLECTIVE_PENDING);
  complete(operation);
  umw_end_pause(umw_mpi_gate);
}

bool umw_mpi_start_request(struct umw_mpi_collective* collective, uintptr_t place)
{
  struct operation* operation = begin(collective);
  if (!operation)
    return false;
  if (operation->collective.receive.packed)
    operation->kept = umw_mpi_keep_side(&operation->collective.receive);
  put_handle(place, operation->request);
  return true;
}

/* --- persistent ones --- */

void umw_mpi_note_persistent(struct umw_mpi_collective* collective, uintptr_t place)
{
  struct persistent* made = umw_mpi_take(sizeof *made);
  if (!made)
    return;
  *made = (struct persistent){umw_mpi_handle_at(place), umw_mpi_null_request(), *collective, persistents};
  if (!umw_mpi_keep_side(&made->collective.send) || !umw_mpi_keep_side(&made->collective.receive))
    __builtin_trap();
  if (made->collective.call.how & UMW_COLLECTIVE_REDUCES)
    made->collective.reduction.type = made->collective.send.type; /* which is kept */
  persistents = made;
}

static struct persistent* persistent_of(uint64_t handle)
{
  struct persistent* one = persistents;
  while (one && one->handle != handle)
    one = one->next;
  return one;
}

static bool start_persistent(uintptr_t place)
{
  struct persistent* one = persistent_of(umw_mpi_handle_at(place));
  if (!one)
    return false;
  umw_begin_pause(umw_mpi_gate);
  const struct operation* operation = begin(&one->collective);
  umw_end_pause(umw_mpi_gate);
  if (!operation)
    __builtin_trap();
  one->request = operation->request;
  return true;
}

static void free_persistent(uintptr_t place)
{
  struct persistent** one = &persistents;
  const uint64_t handle = umw_mpi_handle_at(place);
  while (*one && (*one)->handle != handle)
    one = &(*one)->next;
  struct persistent* freed = *one;
  if (!freed)
    return;
  *one = freed->next;
  const struct operation* active = operation_of(umw_mpi_handle(freed->request));
  if (umw_mpi_handle(freed->request) != umw_mpi_null_request())
    mpi.request_free(&freed->request); /* when it is over */
  if (active)                          /* it still needs what was kept for it */
    return;
  umw_mpi_end_side(&freed->collective.send, true);
  umw_mpi_end_side(&freed->collective.receive, true);
  umw_mpi_give_back(freed);
}

/* --- calls about requests --- */

/* Requests as the library is to see them. */
struct list {
  uintptr_t program; /* the program's, and */
  uintptr_t library; /* those in place of them; the same, if none is persistent */
  uint32_t count;
};

static uintptr_t at(uintptr_t array, uint32_t index)
{
  return array + index * handle_size();
}

static struct list list_of(uintptr_t requests, uint32_t count)
{
  struct list list = {requests, requests, count};
  for (uint32_t i = 0; persistents && i < count; ++i) {
    const struct persistent* one = persistent_of(umw_mpi_handle_at(at(requests, i)));
    if (!one)
      continue;
    if (list.library == requests) {
      list.library = (uintptr_t)umw_mpi_take(count * handle_size());
      if (!list.library)
        __builtin_trap();
      memcpy((void*)list.library, (const void*)requests, count * handle_size());
    }
    put_handle(at(list.library, i), one->request);
  }
  return list;
}

/* What the library has made of them. */
static void end_list(const struct list* list)
{
  if (list->library == list->program)
    return;
  for (uint32_t i = 0; i < list->count; ++i) {
    struct persistent* one = persistent_of(umw_mpi_handle_at(at(list->program, i)));
    if (one)
      one->request = umw_mpi_handle_at(at(list->library, i));
    else
      put_handle(at(list->program, i), umw_mpi_handle_at(at(list->library, i)));
  }
  umw_mpi_give_back((void*)list->library);
}

static bool has_pending(const struct list* list)
{
  for (uint32_t i = 0; pending && i < list->count; ++i)
    if (operation_of(umw_mpi_handle_at(at(list->library, i))))
      return true;
  return false;
}

static void wait_for_all(const struct list* list)
{
  for (uint32_t i = 0; pending && i < list->count; ++i) {
    struct operation* operation = operation_of(umw_mpi_handle_at(at(list->library, i)));
    if (operation)
      wait_for(operation);
  }
}

/* The library waits for what is its own, so it is asked again and again. */
static int wait_for_any(const struct list* list, const uintptr_t* words)
{
  for (int done = 0;;) {
    complete_due();
    const int result = mpi.testany((int)list->count, (void*)list->library, (int*)words[3], &done, (void*)words[4]);
    if (result != 0 || done)
      return result;
  }
}

static int wait_for_some(const struct list* list, const uintptr_t* words)
{
  for (;;) {
    complete_due();
    const int result =
        mpi.testsome((int)list->count, (void*)list->library, (int*)words[3], (int*)words[4], (void*)words[5]);
    if (result != 0 || *(const int*)words[3] != 0)
      return result;
  }
}

static uintptr_t call(void* real, const uintptr_t* words, unsigned count)
{
  uintptr_t w[5] = {0};
  for (unsigned i = 0; i < count; ++i)
    w[i] = words[i + 1];
  uintptr_t (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
  *(void**)&function = real;
  return function(w[0], w[1], w[2], w[3], w[4]);
}

static uintptr_t complete_list(const struct umw_mpi_row* row, const uintptr_t* words, void* real)
{
  struct list list = list_of(words[row->requests], row->many ? (uint32_t)words[row->many] : 1);
  uintptr_t changed[6];
  static const uint8_t counts[UMW_MPI_FUNCTIONS] = {
      [UMW_MPI_Wait] = 2,    [UMW_MPI_Test] = 3,    [UMW_MPI_Waitall] = 3,  [UMW_MPI_Testall] = 4,
      [UMW_MPI_Waitany] = 4, [UMW_MPI_Testany] = 5, [UMW_MPI_Waitsome] = 5, [UMW_MPI_Testsome] = 5};
  const unsigned count = counts[row->function];
  memcpy(changed, words, (count + 1) * sizeof *words);
  changed[row->requests] = list.library;
  uintptr_t result;
  switch (row->function) {
  case UMW_MPI_Wait:
  case UMW_MPI_Waitall:
    wait_for_all(&list);
    result = call(real, changed, count);
    break;
  case UMW_MPI_Waitany:
    result = has_pending(&list) ? (uintptr_t)wait_for_any(&list, words) : call(real, changed, count);
    break;
  case UMW_MPI_Waitsome:
    result = has_pending(&list) ? (uintptr_t)wait_for_some(&list, words) : call(real, changed, count);
    break;
  default:
    complete_due();
    result = call(real, changed, count);
    break;
  }
  end_list(&list);
  return result;
}

static uintptr_t start_list(uintptr_t requests, uint32_t count)
{
  uintptr_t result = 0;
  for (uint32_t i = 0; i < count && result == 0; ++i)
    if (!start_persistent(at(requests, i)))
      result = (uintptr_t)mpi.start((void*)at(requests, i));
  return result;
}

bool umw_mpi_about_requests(const struct umw_mpi_frame* frame, const uintptr_t* words, void* real, uintptr_t* result)
{
  const struct umw_mpi_row* row = frame->row;
  if (!row || !umw_mpi_open || (!pending && !persistents))
    return false;
  switch (row->function) {
  case UMW_MPI_Wait:
  case UMW_MPI_Waitall:
  case UMW_MPI_Waitany:
  case UMW_MPI_Waitsome:
  case UMW_MPI_Test:
  case UMW_MPI_Testall:
  case UMW_MPI_Testany:
  case UMW_MPI_Testsome:
    *result = complete_list(row, words, real);
    return true;
  case UMW_MPI_Request_get_status: {
    complete_due();
    const struct persistent* one = persistent_of(umw_mpi_handle(words[1]));
    const uintptr_t changed[] = {0, one ? one->request : words[1], words[2], words[3]};
    *result = call(real, changed, 3);
    return true;
  }
  case UMW_MPI_Start:
    *result = start_list(words[1], 1);
    return true;
  case UMW_MPI_Startall:
    if (!persistents)
      return false;
    *result = start_list(words[2], (uint32_t)words[1]);
    return true;
  case UMW_MPI_Request_free:
    free_persistent(words[1]);
    return false;
  default:
    return false;
  }
}
