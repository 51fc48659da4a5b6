/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Condition variables: a queue of waiting threads, first in first out.
 */
#include "preload/shim.h"

#include <pthread.h>

#include "preload/threads/record.h"
#include "preload/threads/waiting.h"

static bool is_shared_condition(const pthread_cond_t* condition)
{
  return condition->__data.__wrefs & 1; /* __PTHREAD_COND_SHARED_MASK of nptl/pthreadP.h */
}

struct waiting {
  const pthread_cond_t* condition;
  bool signalled;
  struct waiting* next;
};
static struct waiting* queue;

/* Of one that ranks of the node share, the runtime has the queue. */
static int wait_for_shared_condition(const struct umw_object* object, pthread_mutex_t* mutex, clockid_t id,
                                     const struct timespec* abstime)
{
  umw_condition_enter(object->place.device, object->place.inode, object->place.offset);
  const int refused = pthread_mutex_unlock(mutex);
  if (refused != 0) {
    umw_condition_leave(0);
    return refused;
  }
  int ending = -EINTR;
  while (ending == -EINTR && !umw_cancellable())
    ending = umw_condition_wait(abstime ? umw_time_left(id, abstime) : -1);
  if (ending == -EINTR)
    umw_condition_leave(0);
  const int error = pthread_mutex_lock(mutex);
  if (ending == -EINTR)
    umw_test_cancel();
  return error != 0 ? error : ending == 1 ? ETIMEDOUT : 0;
}

static void leave_queue(const struct waiting* self)
{
  for (struct waiting** link = &queue; *link; link = &(*link)->next)
    if (*link == self) {
      *link = self->next;
      break;
    }
}

static int wait_for_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t id,
                              const struct timespec* abstime)
{
  struct waiting self = {.condition = condition};
  struct waiting** last = &queue;
  if (abstime && (!umw_is_valid(abstime) || !umw_may_wait_by(id)))
    return EINVAL;
  const struct umw_object object = umw_object_at(condition, is_shared_condition(condition));
  if (object.shared)
    return wait_for_shared_condition(&object, mutex, id, abstime);
  while (*last)
    last = &(*last)->next;
  *last = &self;
  int result = pthread_mutex_unlock(mutex);
  if (result != 0) { /* it is not ours */
    leave_queue(&self);
    return result;
  }
  for (uint64_t seen = umw_wakes(); !self.signalled && !umw_cancellable(); seen = umw_wakes()) {
    const int64_t left = abstime ? umw_time_left(id, abstime) : -1;
    if (left == 0) {
      result = ETIMEDOUT;
      break;
    }
    umw_wait_at(condition, &self, seen, left);
  }
  leave_queue(&self);
  const int error = pthread_mutex_lock(mutex); /* EOWNERDEAD, and it is ours */
  if (!self.signalled)
    umw_test_cancel();
  return error != 0 ? error : result;
}

UMW_PUBLIC int pthread_cond_wait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex)
{
  return umw_gate ? wait_for_condition(condition, mutex, CLOCK_REALTIME, NULL)
                  : UMW_REAL(pthread_cond_wait)(condition, mutex);
}

UMW_PUBLIC int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                                      const struct timespec* restrict abstime)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cond_timedwait)(condition, mutex, abstime);
  /* glibc 2.36 keeps the clock of pthread_condattr_setclock in bit 1 of __wrefs (nptl/pthread_cond_common.c) */
  const clockid_t id = condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  return wait_for_condition(condition, mutex, id, abstime);
}

UMW_PUBLIC int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex, clockid_t id,
                                      const struct timespec* restrict abstime)
{
  return umw_gate ? wait_for_condition(condition, mutex, id, abstime)
                  : UMW_REAL(pthread_cond_clockwait)(condition, mutex, id, abstime);
}

static void signal_waiting(const pthread_cond_t* condition, bool all)
{
  const struct umw_object object = umw_object_at(condition, is_shared_condition(condition));
  umw_at_own_time(object.shared);
  if (object.shared) {
    umw_condition_signal(object.place.device, object.place.inode, object.place.offset, all);
    return;
  }
  const void* who = all ? condition : NULL;
  for (struct waiting* waiting = queue; waiting; waiting = waiting->next)
    if (waiting->condition == condition && !waiting->signalled) {
      waiting->signalled = true;
      umw_gate->made_progress = UMW_GOT_ON;
      if (!all) {
        who = waiting;
        break;
      }
    }
  if (who)
    umw_changed_at(who, UMW_ALL);
}

UMW_PUBLIC int pthread_cond_signal(pthread_cond_t* condition)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cond_signal)(condition);
  signal_waiting(condition, false);
  return 0;
}

UMW_PUBLIC int pthread_cond_broadcast(pthread_cond_t* condition)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cond_broadcast)(condition);
  signal_waiting(condition, true);
  return 0;
}
