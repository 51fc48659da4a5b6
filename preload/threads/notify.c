/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a program asked to be told by a struct sigevent, and threads of the shim's own that see to things. Both kinds of
 * threads are simulated ones that begin with all signals blocked, as those do that the C library makes for the same
 * purposes. */
#include "preload/threads/notify.h"

#include <pthread.h>
#include <stdlib.h>

int umw_start_helper(const pthread_attr_t* attributes, void* (*start)(void*), void* argument)
{
  const uint64_t all = ~(uint64_t)0;
  uint64_t before = 0;
  pthread_t thread;
  umw_signal_mask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, attributes, start, argument);
  umw_signal_mask(SIG_SETMASK, &before, NULL);
  if (error == 0)
    pthread_detach(thread); /* EINVAL: it is */
  return error;
}

struct call {
  void (*function)(union sigval);
  union sigval value;
};

static void* run_call(void* argument)
{
  const struct call call = *(const struct call*)argument;
  free(argument);
  call.function(call.value);
  return NULL;
}

static void* run_unblocked(void* argument)
{
  const uint64_t none = 0;
  umw_signal_mask(SIG_SETMASK, &none, NULL); /* sysdeps/pthread/aio_notify.c */
  return run_call(argument);
}

static int start_call(const pthread_attr_t* attributes, void* (*start)(void*), void (*function)(union sigval),
                      union sigval value)
{
  struct call* call = malloc(sizeof *call);
  if (!call)
    return EAGAIN;
  *call = (struct call){function, value};
  const int error = umw_start_helper(attributes, start, call);
  if (error != 0)
    free(call);
  return error;
}

int umw_notify(const struct sigevent* event, int code)
{
  if (event->sigev_notify == SIGEV_SIGNAL)
    return -umw_signal_send(umw_gate->pid, 0, event->sigev_signo, code, (uint64_t)event->sigev_value.sival_ptr);
  return event->sigev_notify == SIGEV_THREAD ? start_call(event->sigev_notify_attributes, run_unblocked,
                                                          event->sigev_notify_function, event->sigev_value)
                                             : 0;
}

static void* serve(void* unused)
{
  (void)unused;
  const uint64_t all = ~(uint64_t)0;
  umw_signal_mask(SIG_SETMASK, &all, NULL);
  for (;;) {
    siginfo_t info;
    if (umw_signal_wait((uint64_t)1 << (UMW_DUE_SIGNAL - 1), -1, &info) <= 0)
      continue;
    struct umw_due* due = info.si_value.sival_ptr;
    start_call(due->attributes, due->once ? run_unblocked : run_call, due->function, due->value);
    if (due->once)
      free(due);
  }
  return NULL;
}

int umw_due_helper(int* tid)
{
  static int helper;
  if (helper == 0) {
    pthread_t thread;
    const int error = pthread_create(&thread, NULL, serve, NULL);
    if (error != 0)
      return error;
    helper = umw_thread_id(thread);
  }
  *tid = helper;
  return 0;
}
