/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Semaphores, spin locks, read-write locks, barriers.
 */
#include "preload/shim.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "preload/threads/waiting.h"

static bool is_shared_semaphore(const sem_t* semaphore)
{
  int shared; /* `private` of struct new_sem (sysdeps/nptl/internaltypes.h), which is not 0 for shared ones */
  __builtin_memcpy(&shared, (const char*)semaphore + 8, sizeof shared);
  return shared != 0;
}

static bool is_shared_rwlock(const pthread_rwlock_t* lock)
{
  return lock->__data.__shared != 0;
}

static bool is_shared_barrier(const pthread_barrier_t* barrier)
{
  int shared; /* `shared` of struct pthread_barrier (sysdeps/nptl/internaltypes.h), which is not 0 for shared ones */
  __builtin_memcpy(&shared, (const char*)barrier + 12, sizeof shared);
  return shared != 0;
}

UMW_PUBLIC int sem_wait(sem_t* semaphore)
{
  if (!umw_gate)
    return UMW_REAL(sem_wait)(semaphore);
  const unsigned final = umw_interruptions.final; /* restarted after the other handlers */
  struct umw_object object = umw_object_at(semaphore, is_shared_semaphore(semaphore));
  umw_at_own_time(object.shared);
  for (umw_look(&object); sem_trywait(semaphore) != 0; umw_look(&object)) {
    if (errno != EAGAIN)
      return -1;
    umw_test_cancel();
    umw_wait_for_object(&object, -1);
    if (umw_interruptions.final != final) {
      errno = EINTR;
      return -1;
    }
  }
  return 0;
}

UMW_PUBLIC int sem_clockwait(sem_t* restrict semaphore, clockid_t id, const struct timespec* restrict abstime)
{
  if (!umw_gate)
    return UMW_REAL(sem_clockwait)(semaphore, id, abstime);
  if (!umw_may_wait_by(id) || !umw_is_valid(abstime)) { /* also where it need not wait, nptl/sem_clockwait.c */
    errno = EINVAL;
    return -1;
  }
  const unsigned handled = umw_interruptions.handled; /* with a time-out Linux restarts after none of them */
  struct umw_object object = umw_object_at(semaphore, is_shared_semaphore(semaphore));
  umw_at_own_time(object.shared);
  for (umw_look(&object); sem_trywait(semaphore) != 0; umw_look(&object)) {
    if (errno != EAGAIN)
      return -1;
    umw_test_cancel();
    const int64_t left = umw_time_left(id, abstime);
    if (left == 0) {
      errno = ETIMEDOUT;
      return -1;
    }
    umw_wait_for_object(&object, left);
    if (umw_interruptions.handled != handled) {
      errno = EINTR;
      return -1;
    }
  }
  return 0;
}

UMW_PUBLIC int sem_timedwait(sem_t* restrict semaphore, const struct timespec* restrict abstime)
{
  return umw_gate ? sem_clockwait(semaphore, CLOCK_REALTIME, abstime) : UMW_REAL(sem_timedwait)(semaphore, abstime);
}

UMW_PUBLIC int sem_post(sem_t* semaphore)
{
  if (!umw_gate)
    return UMW_REAL(sem_post)(semaphore);
  const struct umw_object object = umw_object_at(semaphore, is_shared_semaphore(semaphore));
  umw_at_own_time(object.shared);
  const int status = UMW_REAL(sem_post)(semaphore);
  umw_gate->made_progress = UMW_GOT_ON;
  umw_released(&object, UMW_ALL);
  return status;
}

UMW_PUBLIC int pthread_spin_lock(pthread_spinlock_t* lock)
{
  if (!umw_gate || umw_threads_started == 0)
    return UMW_REAL(pthread_spin_lock)(lock);
  umw_at_own_time(false);
  for (uint64_t seen = umw_wakes(); pthread_spin_trylock(lock) == EBUSY; seen = umw_wakes())
    umw_wait_at((void*)lock, NULL, seen, -1);
  return 0;
}

UMW_PUBLIC int pthread_spin_unlock(pthread_spinlock_t* lock)
{
  if (umw_gate)
    umw_at_own_time(false);
  const int error = UMW_REAL(pthread_spin_unlock)(lock);
  if (umw_gate)
    umw_changed_at((void*)lock, 1);
  return error;
}

/* `try` is pthread_rwlock_tryrdlock or trywrlock; `abstime` null: no time-out */
static int lock_rwlock(pthread_rwlock_t* lock, int (*try)(pthread_rwlock_t*), clockid_t clock,
                       const struct timespec* abstime)
{
  int error;
  bool waited = false;
  if (abstime && (!umw_is_valid(abstime) || !umw_may_wait_by(clock)))
    return EINVAL; /* before it is tried, as in nptl/pthread_rwlock_common.c */
  struct umw_object object = umw_object_at(lock, is_shared_rwlock(lock));
  umw_at_own_time(object.shared);
  for (umw_look(&object); (error = try(lock)) == EBUSY; umw_look(&object)) {
    if (lock->__data.__cur_writer == umw_gate->kernel_tid)
      return EDEADLK;
    const int64_t left = abstime ? umw_time_left(clock, abstime) : -1;
    if (left == 0)
      return ETIMEDOUT;
    umw_wait_for_object(&object, left);
    waited = true;
  }
  umw_gate->made_progress |= waited ? UMW_GOT_ON : 0;
  return error;
}

UMW_PUBLIC int pthread_rwlock_rdlock(pthread_rwlock_t* lock)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_tryrdlock, CLOCK_REALTIME, NULL)
                  : UMW_REAL(pthread_rwlock_rdlock)(lock);
}

UMW_PUBLIC int pthread_rwlock_wrlock(pthread_rwlock_t* lock)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_trywrlock, CLOCK_REALTIME, NULL)
                  : UMW_REAL(pthread_rwlock_wrlock)(lock);
}

UMW_PUBLIC int pthread_rwlock_timedrdlock(pthread_rwlock_t* restrict lock, const struct timespec* restrict abstime)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_tryrdlock, CLOCK_REALTIME, abstime)
                  : UMW_REAL(pthread_rwlock_timedrdlock)(lock, abstime);
}

UMW_PUBLIC int pthread_rwlock_timedwrlock(pthread_rwlock_t* restrict lock, const struct timespec* restrict abstime)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_trywrlock, CLOCK_REALTIME, abstime)
                  : UMW_REAL(pthread_rwlock_timedwrlock)(lock, abstime);
}

UMW_PUBLIC int pthread_rwlock_clockrdlock(pthread_rwlock_t* restrict lock, clockid_t clock,
                                          const struct timespec* restrict abstime)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_tryrdlock, clock, abstime)
                  : UMW_REAL(pthread_rwlock_clockrdlock)(lock, clock, abstime);
}

UMW_PUBLIC int pthread_rwlock_clockwrlock(pthread_rwlock_t* restrict lock, clockid_t clock,
                                          const struct timespec* restrict abstime)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_trywrlock, clock, abstime)
                  : UMW_REAL(pthread_rwlock_clockwrlock)(lock, clock, abstime);
}

UMW_PUBLIC int pthread_rwlock_unlock(pthread_rwlock_t* lock)
{
  if (!umw_gate)
    return UMW_REAL(pthread_rwlock_unlock)(lock);
  const struct umw_object object = umw_object_at(lock, is_shared_rwlock(lock));
  umw_at_own_time(object.shared);
  const int error = UMW_REAL(pthread_rwlock_unlock)(lock);
  umw_released(&object, UMW_ALL);
  return error;
}

/* The C library's barrier (nptl/pthread_barrier_wait.c) has the number of threads at offset 8; arrivals are counted
 * here. */
struct meeting {
  pthread_barrier_t* barrier;
  unsigned arrived, round;
  struct meeting* next;
};
static struct meeting* meetings;

UMW_PUBLIC int pthread_barrier_wait(pthread_barrier_t* barrier)
{
  if (!umw_gate)
    return UMW_REAL(pthread_barrier_wait)(barrier);
  unsigned expected;
  __builtin_memcpy(&expected, (const char*)barrier + 8, sizeof expected);
  const struct umw_object object = umw_object_at(barrier, is_shared_barrier(barrier));
  if (object.shared)
    return umw_barrier_wait(object.place.device, object.place.inode, object.place.offset, expected)
               ? PTHREAD_BARRIER_SERIAL_THREAD
               : 0;
  struct meeting* meeting = meetings;
  while (meeting && meeting->barrier != barrier)
    meeting = meeting->next;
  if (!meeting) {
    meeting = calloc(1, sizeof *meeting);
    if (!meeting)
      abort();
    meeting->barrier = barrier;
    meeting->next = meetings;
    meetings = meeting;
  }
  umw_at_own_time(false);
  const unsigned round = meeting->round;
  if (++meeting->arrived >= expected) {
    meeting->arrived = 0;
    ++meeting->round;
    umw_gate->made_progress = UMW_GOT_ON;
    umw_changed_at(barrier, UMW_ALL);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  for (uint64_t seen = umw_wakes(); meeting->round == round; seen = umw_wakes())
    umw_wait_at(barrier, NULL, seen, -1);
  return 0;
}
