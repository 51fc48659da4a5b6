/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Mutexes, robust ones too.
 */
#include "preload/shim.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "preload/threads/record.h"
#include "preload/threads/waiting.h"

static bool is_shared_mutex(const pthread_mutex_t* mutex)
{
  return mutex->__data.__kind & 128; /* PTHREAD_MUTEX_PSHARED_BIT of nptl/pthreadP.h */
}

/* `abstime` null: no time-out */
static int lock_until(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* abstime)
{
  struct umw_object object = umw_object_at(mutex, is_shared_mutex(mutex));
  int error;
  bool waited = false;
  umw_at_own_time(object.shared);
  for (umw_look(&object); (error = pthread_mutex_trylock(mutex)) == EBUSY; umw_look(&object)) {
    if ((mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK && mutex->__data.__owner == umw_gate->kernel_tid)
      return EDEADLK;
    if (abstime && !umw_is_valid(abstime))
      return EINVAL;
    const int64_t left = abstime ? umw_time_left(clock, abstime) : -1;
    if (left == 0)
      return ETIMEDOUT;
    umw_wait_for_object(&object, left);
    waited = true;
  }
  umw_gate->made_progress |= waited ? UMW_GOT_ON : 0; /* what it waited for has come */
  /* glibc 2.36's pthread_mutex_trylock keeps a robust mutex that it says is lost, its pthread_mutex_lock does not */
  if (error == ENOTRECOVERABLE && (mutex->__data.__lock & FUTEX_TID_MASK) == umw_gate->kernel_tid)
    mutex->__data.__lock = 0;
  return error;
}

/* Nobody else can have it. Who has it already would wait in the kernel. */
static bool is_alone_with(const pthread_mutex_t* mutex)
{
  return umw_threads_started == 0 && !(mutex->__data.__kind & (16 | 128)); /* robust, shared: nptl/pthreadP.h */
}

UMW_PUBLIC int pthread_mutex_lock(pthread_mutex_t* mutex)
{
  if (!umw_gate)
    return UMW_REAL(pthread_mutex_lock)(mutex);
  const int error = is_alone_with(mutex) ? pthread_mutex_trylock(mutex) : EBUSY;
  return error == EBUSY ? lock_until(mutex, CLOCK_REALTIME, NULL) : error;
}

UMW_PUBLIC int pthread_mutex_timedlock(pthread_mutex_t* restrict mutex, const struct timespec* restrict abstime)
{
  return umw_gate ? lock_until(mutex, CLOCK_REALTIME, abstime) : UMW_REAL(pthread_mutex_timedlock)(mutex, abstime);
}

UMW_PUBLIC int pthread_mutex_clocklock(pthread_mutex_t* restrict mutex, clockid_t clock,
                                       const struct timespec* restrict abstime)
{
  if (!umw_gate)
    return UMW_REAL(pthread_mutex_clocklock)(mutex, clock, abstime);
  return umw_may_wait_by(clock) ? lock_until(mutex, clock, abstime) : EINVAL;
}

UMW_PUBLIC int pthread_mutex_unlock(pthread_mutex_t* mutex)
{
  if (!umw_gate)
    return UMW_REAL(pthread_mutex_unlock)(mutex);
  const struct umw_object object = umw_object_at(mutex, is_shared_mutex(mutex));
  umw_at_own_time(object.shared);
  const int error = UMW_REAL(pthread_mutex_unlock)(mutex);
  umw_released(&object, 1);
  return error;
}

/* What the kernel does with the list of robust mutexes of a thread that ends (kernel/futex/core.c, exit_robust_list).
 * Null: there is no list. */
struct robust_list_head* umw_release_robust(uint32_t owner)
{
  struct robust_list_head* head = NULL;
  size_t size = 0;
  if (UMW_REAL(syscall)(SYS_get_robust_list, owner, &head, &size) != 0 || !head)
    return NULL;
  int limit = ROBUST_LIST_LIMIT;
  for (struct robust_list* entry = head->list.next; entry != &head->list && limit > 0; --limit) {
    uint32_t* word = (uint32_t*)((char*)entry + head->futex_offset);
    entry = entry->next;
    if ((*word & FUTEX_TID_MASK) != owner)
      continue;
    *word = (*word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    umw_futex(word, FUTEX_WAKE, 1, 0, NULL, 0);
    const struct umw_object mutex = umw_object_at(word, true);
    umw_released(&mutex, UMW_ALL);
  }
  return head;
}

/* As it is in a new thread (nptl/allocatestack.c): a ring, whose backward link lies before its head (struct pthread).
 */
void umw_empty_robust_list(struct robust_list_head* head)
{
  head->list.next = &head->list;
  head->list_op_pending = NULL;
  ((void**)head)[-1] = head;
}
