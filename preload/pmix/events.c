/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Events of PMIx. There is one kind: with --with-ft, a rank of the own job has died. Handlers are called from a thread
 * of their own, as the real library's are, one after the other for each event; who is asked first: handlers for one
 * code, for several, for all, the youngest of each first. Table: preload/abi/tables/pmix.def.
 */
#include "preload/shim.h"

#include "preload/pmix/client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct handler {
  size_t reference;
  pmix_status_t* codes;
  size_t count; /* of codes; 0: all */
  pmix_notification_fn_t call;
  struct handler* next;
};

static struct handler* handlers;                                      /* in the order in which they are asked */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* of that list, and while one is called: who has
                                                                         taken a handler back is not called any more */
static bool listens;                                                  /* the thread is there */

/* An event on its way from handler to handler. */
struct event {
  pmix_status_t status;
  pmix_proc_t source;
  pmix_info_t info[2]; /* who has died, and the exit code */
  pmix_proc_t dead;
  size_t* asked; /* references of those it has been with */
  size_t asked_count;
};

/* One code, several, all. */
static int kind_of(const struct handler* handler)
{
  return handler->count == 1 ? 0 : handler->count > 1 ? 1 : 2;
}

static bool wants(const struct handler* handler, const struct event* event)
{
  for (size_t i = 0; i < event->asked_count; ++i)
    if (event->asked[i] == handler->reference)
      return false;
  for (size_t i = 0; i < handler->count; ++i)
    if (handler->codes[i] == event->status)
      return true;
  return handler->count == 0;
}

static void free_event(struct event* event)
{
  free(event->asked);
  free(event);
}

static void asked(pmix_status_t status, pmix_info_t* results, size_t result_count, pmix_op_cbfunc_t callback,
                  void* callback_data, void* data);

/* Hands the event to the next one that wants it; that one says through asked() when it is done, at once or later. */
static void ask(struct event* event)
{
  pthread_mutex_lock(&lock);
  const struct handler* handler = handlers;
  while (handler && !wants(handler, event))
    handler = handler->next;
  size_t* grown = handler ? realloc(event->asked, (event->asked_count + 1) * sizeof *grown) : NULL;
  if (grown) {
    event->asked = grown;
    event->asked[event->asked_count++] = handler->reference;
    handler->call(handler->reference, event->status, &event->source, event->info,
                  sizeof event->info / sizeof *event->info, NULL, 0, asked, event);
  } else {
    free_event(event);
  }
  pthread_mutex_unlock(&lock);
}

static void asked(pmix_status_t status, pmix_info_t* results, size_t result_count, pmix_op_cbfunc_t callback,
                  void* callback_data, void* data)
{
  (void)results; /* of those before, for those after: nobody here has any */
  (void)result_count;
  if (callback)
    callback(PMIX_SUCCESS, callback_data);
  if (status == PMIX_EVENT_ACTION_COMPLETE)
    free_event(data);
  else
    ask(data);
}

static void raise_event(int64_t failure)
{
  struct event* event = calloc(1, sizeof *event);
  if (!event)
    return;
  const bool by_signal = (failure >> UMW_FAILURE_SIGNAL & 1) != 0;
  const int code = (int)(failure >> UMW_FAILURE_STATUS & 0xff);
  event->status = by_signal ? PMIX_ERR_PROC_ABORTED_BY_SIG : PMIX_ERR_PROC_TERM_WO_SYNC;
  umw_pmix_load_proc(&event->dead, umw_gate->job_name, (pmix_rank_t)(uint32_t)failure);
  event->source = event->dead; /* the server tells in its name */
  umw_pmix_load_key(event->info[0].key, PMIX_EVENT_AFFECTED_PROC);
  event->info[0].value.type = PMIX_PROC;
  event->info[0].value.data.proc = &event->dead;
  umw_pmix_load_key(event->info[1].key, PMIX_EXIT_CODE);
  event->info[1].value.type = PMIX_INT;
  event->info[1].value.data.integer = code;
  ask(event);
}

static void* listen_for_failures(void* unused)
{
  (void)unused;
  int64_t failure;
  for (uint64_t seen = 0; (failure = umw_failure_wait(seen)) >= 0; ++seen)
    raise_event(failure);
  pthread_mutex_lock(&lock);
  listens = false;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void put(struct handler* handler, bool behind)
{
  struct handler** place = &handlers;
  while (*place && (kind_of(*place) < kind_of(handler) || (behind && kind_of(*place) == kind_of(handler))))
    place = &(*place)->next;
  handler->next = *place;
  *place = handler;
}

UMW_PUBLIC pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t code_count, pmix_info_t info[],
                                                     size_t count, pmix_notification_fn_t handler,
                                                     pmix_hdlr_reg_cbfunc_t callback, void* data)
{
  static size_t references;
  struct handler* entry = calloc(1, sizeof *entry);
  pmix_status_t* copy = code_count > 0 ? malloc(code_count * sizeof *copy) : NULL;
  if (!entry || (code_count > 0 && !copy)) {
    free(entry);
    free(copy);
    return PMIX_ERR_NOMEM;
  }
  if (code_count > 0)
    memcpy(copy, codes, code_count * sizeof *copy);
  pthread_mutex_lock(&lock);
  const size_t reference = references++;
  *entry = (struct handler){reference, copy, code_count, handler, NULL};
  put(entry, umw_pmix_has(info, count, PMIX_EVENT_HDLR_APPEND));
  if (umw_gate && umw_gate->fault_tolerant && !listens)
    listens = umw_pmix_later(listen_for_failures, NULL);
  pthread_mutex_unlock(&lock);
  if (!callback)
    return (pmix_status_t)reference; /* the blocking form returns the reference */
  callback(PMIX_SUCCESS, reference, data);
  return PMIX_SUCCESS;
}

UMW_PUBLIC pmix_status_t PMIx_Deregister_event_handler(size_t reference, pmix_op_cbfunc_t callback, void* data)
{
  pthread_mutex_lock(&lock);
  struct handler** place = &handlers;
  while (*place && (*place)->reference != reference)
    place = &(*place)->next;
  struct handler* found = *place;
  if (found) {
    *place = found->next;
    free(found->codes);
    free(found);
  }
  pthread_mutex_unlock(&lock);
  if (callback)
    callback(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

/* What ranks report of each other the runtime knows. */
UMW_PUBLIC pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t* source, pmix_data_range_t range,
                                           const pmix_info_t info[], size_t count, pmix_op_cbfunc_t callback,
                                           void* data)
{
  (void)status;
  (void)source;
  (void)range;
  (void)info;
  (void)count;
  if (callback)
    callback(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}
