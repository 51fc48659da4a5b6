/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cancellation: deferred to the next call that may wait, also where a thread asked for it to be asynchronous.
 */
#include "preload/shim.h"

#include <pthread.h>

#include "preload/threads/record.h"

static _Thread_local int cancel_state = PTHREAD_CANCEL_ENABLE, cancel_type = PTHREAD_CANCEL_DEFERRED;

bool umw_cancellable(void)
{
  return cancel_state == PTHREAD_CANCEL_ENABLE && umw_this_thread()->cancelled;
}

void umw_test_cancel(void)
{
  if (!umw_cancellable())
    return;
  cancel_state = PTHREAD_CANCEL_DISABLE; /* cleanup handlers may wait */
  pthread_exit(PTHREAD_CANCELED);
}

UMW_PUBLIC int pthread_cancel(pthread_t id)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cancel)(id);
  struct umw_thread* const thread = umw_joinable(id);
  if (!thread)
    return ESRCH;
  thread->cancelled = true;
  ++umw_gate->wakes;
  umw_thread_cancel(thread == &umw_main_thread ? umw_gate->pid : thread->tid);
  if (id == pthread_self() && cancel_type == PTHREAD_CANCEL_ASYNCHRONOUS)
    umw_test_cancel();
  return 0;
}

UMW_PUBLIC void pthread_testcancel(void)
{
  if (umw_gate)
    umw_test_cancel();
  else
    UMW_REAL(pthread_testcancel)();
}

UMW_PUBLIC int pthread_setcancelstate(int state, int* old)
{
  if (!umw_gate)
    return UMW_REAL(pthread_setcancelstate)(state, old);
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
    return EINVAL;
  if (old)
    *old = cancel_state;
  cancel_state = state;
  return 0;
}

UMW_PUBLIC int pthread_setcanceltype(int type, int* old)
{
  if (!umw_gate)
    return UMW_REAL(pthread_setcanceltype)(type, old);
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
    return EINVAL;
  if (old)
    *old = cancel_type;
  cancel_type = type;
  if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
    umw_test_cancel();
  return 0;
}
