/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads of C11: those of POSIX under other names. The C library's objects are the same, too (nptl/thrd_priv.h). */
#include "preload/shim.h"

#include <pthread.h>
#include <sched.h>
#include <threads.h>

static int thrd_status(int error)
{
  switch (error) {
  case 0:
    return thrd_success;
  case ENOMEM:
  case EAGAIN:
    return thrd_nomem;
  case ETIMEDOUT:
    return thrd_timedout;
  default:
    return thrd_error;
  }
}

UMW_PUBLIC int thrd_create(thrd_t* id, thrd_start_t start, void* argument)
{
  if (!umw_gate)
    return UMW_REAL(thrd_create)(id, start, argument);
  /* an int comes back in the lower half of the register a pointer comes back in */
  return thrd_status(pthread_create(id, NULL, (void* (*)(void*))(uintptr_t)start, argument));
}

UMW_PUBLIC int thrd_join(thrd_t id, int* result)
{
  void* value = NULL;
  if (!umw_gate)
    return UMW_REAL(thrd_join)(id, result);
  const int status = thrd_status(pthread_join(id, &value));
  if (result)
    *result = (int)(intptr_t)value;
  return status;
}

UMW_PUBLIC int thrd_detach(thrd_t id)
{
  return umw_gate ? thrd_status(pthread_detach(id)) : UMW_REAL(thrd_detach)(id);
}

UMW_PUBLIC void thrd_exit(int result)
{
  pthread_exit((void*)(intptr_t)result);
}

UMW_PUBLIC void thrd_yield(void)
{
  sched_yield();
}

UMW_PUBLIC int tss_create(tss_t* key, tss_dtor_t destructor)
{
  return thrd_status(pthread_key_create(key, destructor));
}

UMW_PUBLIC void tss_delete(tss_t key)
{
  pthread_key_delete(key);
}

UMW_PUBLIC int mtx_lock(mtx_t* mutex)
{
  return umw_gate ? thrd_status(pthread_mutex_lock((pthread_mutex_t*)mutex)) : UMW_REAL(mtx_lock)(mutex);
}

UMW_PUBLIC int mtx_timedlock(mtx_t* restrict mutex, const struct timespec* restrict abstime)
{
  return umw_gate ? thrd_status(pthread_mutex_timedlock((pthread_mutex_t*)mutex, abstime))
                  : UMW_REAL(mtx_timedlock)(mutex, abstime);
}

UMW_PUBLIC int mtx_unlock(mtx_t* mutex)
{
  return umw_gate ? thrd_status(pthread_mutex_unlock((pthread_mutex_t*)mutex)) : UMW_REAL(mtx_unlock)(mutex);
}

UMW_PUBLIC int cnd_wait(cnd_t* condition, mtx_t* mutex)
{
  return umw_gate ? thrd_status(pthread_cond_wait((pthread_cond_t*)condition, (pthread_mutex_t*)mutex))
                  : UMW_REAL(cnd_wait)(condition, mutex);
}

UMW_PUBLIC int cnd_timedwait(cnd_t* restrict condition, mtx_t* restrict mutex, const struct timespec* restrict abstime)
{
  return umw_gate ? thrd_status(pthread_cond_timedwait((pthread_cond_t*)condition, (pthread_mutex_t*)mutex, abstime))
                  : UMW_REAL(cnd_timedwait)(condition, mutex, abstime);
}

UMW_PUBLIC int cnd_signal(cnd_t* condition)
{
  return umw_gate ? thrd_status(pthread_cond_signal((pthread_cond_t*)condition)) : UMW_REAL(cnd_signal)(condition);
}

UMW_PUBLIC int cnd_broadcast(cnd_t* condition)
{
  return umw_gate ? thrd_status(pthread_cond_broadcast((pthread_cond_t*)condition))
                  : UMW_REAL(cnd_broadcast)(condition);
}
