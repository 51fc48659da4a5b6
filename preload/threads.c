/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads of a rank. A simulated thread runs on a stack and a thread control block of its own, but on the one OS thread of
 * the simulation; if it blocked in the kernel, everything would stop. Every blocking call here is therefore a loop of the C
 * library's own non-blocking one and a wait at the gate, which ends when another thread of the rank has released
 * something. Objects keep the C library's layout and state, so that what is not interposed still agrees with them.
 */
#include "preload/shim.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

static int threads_started; /* 0: nobody can hold a lock that we want, the C library's own calls will do */
static int waiters;

/* Every crossing may let another thread run. So a wait names the count of wakes from before its condition was looked at, and
 * does not begin if there has been one since. */
static uint64_t wakes(void)
{
  return umw_gate->wakes;
}

static void wait_for_change(uint64_t seen, int64_t duration_ps)
{
  ++waiters;
  umw_thread_wait(seen, duration_ps);
  --waiters;
}

static void changed(void)
{
  ++umw_gate->wakes;
  if (waiters > 0)
    umw_thread_wake(0);
}

/* Simulated time left until an absolute date of a clock; 0 if it has passed. */
static int64_t time_left(clockid_t id, const struct timespec* date)
{
  struct timespec now;
  clock_gettime(id, &now);
  const int64_t seconds = date->tv_sec - now.tv_sec;
  if (seconds > INT64_MAX / 4 / 1000000000000)
    return INT64_MAX / 4;
  const int64_t left = seconds * 1000000000000 + (date->tv_nsec - now.tv_nsec) * 1000;
  return left > 0 ? left : 0;
}

static bool valid(const struct timespec* date)
{
  return date->tv_nsec >= 0 && date->tv_nsec < 1000000000;
}

/* --- life of a thread ------------------------------------------------------------------------------------------------ */

struct thread {
  void* (*start)(void*);
  void* argument;
  void* result;
  pthread_t id;
  bool detached, ended;
  struct thread* next;
};
static struct thread* threads;

/* GLIBC_PRIVATE, for threads the C library did not start: its character tables, and destructors of thread_local objects */
void __ctype_init(void);
void __call_tls_dtors(void);

static _Thread_local struct thread* current_thread;

/* pthread keys are the C library's own; only it knows their destructors, so they are noted as keys are made. */
static void (*key_destructors[PTHREAD_KEYS_MAX])(void*);

UMW_PUBLIC int pthread_key_create(pthread_key_t* key, void (*destructor)(void*))
{
  const int error = UMW_REAL(pthread_key_create)(key, destructor);
  if (error == 0 && *key < PTHREAD_KEYS_MAX)
    key_destructors[*key] = destructor;
  return error;
}

UMW_PUBLIC int pthread_key_delete(pthread_key_t key)
{
  const int error = UMW_REAL(pthread_key_delete)(key);
  if (error == 0 && key < PTHREAD_KEYS_MAX)
    key_destructors[key] = NULL;
  return error;
}

static void run_key_destructors(void)
{
  bool again = true;
  for (int round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    again = false;
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key) {
      void* value = key_destructors[key] ? pthread_getspecific(key) : NULL;
      if (!value)
        continue;
      pthread_setspecific(key, NULL);
      key_destructors[key](value);
      again = true;
    }
  }
}

static struct thread** find_thread(pthread_t id)
{
  for (struct thread** link = &threads; *link; link = &(*link)->next)
    if ((*link)->id == id)
      return link;
  return NULL;
}

/* Nobody can ask for it any more. */
static void forget(struct thread* thread)
{
  struct thread** link = find_thread(thread->id);
  if (link)
    *link = thread->next;
  free(thread);
}

static void end_of_thread(void* result)
{
  struct thread* thread = current_thread;
  __call_tls_dtors(); /* thread_local, then pthread keys: the order of the C library's start_thread */
  run_key_destructors();
  thread->result = result;
  thread->ended = true;
  if (thread->detached)
    forget(thread);
  changed();
  umw_thread_end(0);
}

static void run_thread(void* argument)
{
  struct thread* thread = argument;
  umw_load_program_tls(umw_program_object());
  __ctype_init();
  current_thread = thread;
  thread->id = pthread_self();
  end_of_thread(thread->start(thread->argument));
}

UMW_PUBLIC int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*start)(void*), void* argument)
{
  if (!umw_gate)
    return UMW_REAL(pthread_create)(id, attributes, start, argument);
  struct thread* thread = calloc(1, sizeof *thread);
  if (!thread)
    return EAGAIN;
  thread->start = start;
  thread->argument = argument;
  size_t stack_bytes = 0;
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes) {
    pthread_attr_getstacksize(attributes, &stack_bytes);
    pthread_attr_getdetachstate(attributes, &state);
  }
  thread->detached = state == PTHREAD_CREATE_DETACHED;
  uint64_t made = 0;
  const int error = -umw_thread_create(run_thread, thread, stack_bytes, &made);
  if (error != 0) {
    free(thread);
    return error;
  }
  ++threads_started;
  thread->id = (pthread_t)made;
  thread->next = threads;
  threads = thread;
  *id = thread->id;
  return 0;
}

UMW_PUBLIC int pthread_join(pthread_t id, void** result)
{
  if (!umw_gate)
    return UMW_REAL(pthread_join)(id, result);
  struct thread** link = find_thread(id);
  if (!link)
    return ESRCH;
  if ((*link)->detached)
    return EINVAL;
  if (id == pthread_self())
    return EDEADLK;
  struct thread* thread = *link;
  umw_thread_join((uint64_t)id);
  if (result)
    *result = thread->result;
  forget(thread);
  return 0;
}

UMW_PUBLIC int pthread_detach(pthread_t id)
{
  if (!umw_gate)
    return UMW_REAL(pthread_detach)(id);
  struct thread** link = find_thread(id);
  if (!link)
    return id == pthread_self() ? 0 : ESRCH; /* the main thread may be detached, nothing comes of it */
  if ((*link)->detached)
    return EINVAL;
  (*link)->detached = true;
  if ((*link)->ended)
    forget(*link);
  return 0;
}

UMW_PUBLIC void pthread_exit(void* result)
{
  if (!umw_gate)
    UMW_REAL(pthread_exit)(result);
  if (current_thread)
    end_of_thread(result);
  for (struct thread* thread = threads; thread; thread = thread->next) /* main: the others go on, pthread_exit(3) */
    for (uint64_t seen = wakes(); !thread->ended; seen = wakes())
      wait_for_change(seen, -1);
  exit(0);
}

/* --- mutexes --------------------------------------------------------------------------------------------------------- */

UMW_PUBLIC int pthread_mutex_lock(pthread_mutex_t* mutex)
{
  if (!umw_gate || threads_started == 0)
    return UMW_REAL(pthread_mutex_lock)(mutex);
  int error;
  for (uint64_t seen = wakes(); (error = pthread_mutex_trylock(mutex)) == EBUSY; seen = wakes()) {
    if ((mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK && mutex->__data.__owner != 0 &&
        UMW_REAL(pthread_mutex_lock)(mutex) == EDEADLK) /* ours already: the C library says so without blocking */
      return EDEADLK;
    wait_for_change(seen, -1);
  }
  return error;
}

UMW_PUBLIC int pthread_mutex_timedlock(pthread_mutex_t* restrict mutex, const struct timespec* restrict date)
{
  if (!umw_gate)
    return UMW_REAL(pthread_mutex_timedlock)(mutex, date);
  int error;
  for (uint64_t seen = wakes(); (error = pthread_mutex_trylock(mutex)) == EBUSY; seen = wakes()) {
    if (!valid(date))
      return EINVAL;
    const int64_t left = time_left(CLOCK_REALTIME, date);
    if (left == 0)
      return ETIMEDOUT;
    wait_for_change(seen, left);
  }
  return error;
}

UMW_PUBLIC int pthread_mutex_unlock(pthread_mutex_t* mutex)
{
  const int error = UMW_REAL(pthread_mutex_unlock)(mutex);
  if (umw_gate)
    changed();
  return error;
}

/* --- condition variables: a queue of waiting threads, first in first out --------------------------------------------- */

struct waiting {
  const pthread_cond_t* condition;
  bool signalled;
  struct waiting* next;
};
static struct waiting* queue;

static int wait_for_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t id,
                              const struct timespec* date)
{
  struct waiting self = {.condition = condition};
  struct waiting** last = &queue;
  if (date && !valid(date))
    return EINVAL;
  while (*last)
    last = &(*last)->next;
  *last = &self;
  pthread_mutex_unlock(mutex);
  int result = 0;
  for (uint64_t seen = wakes(); !self.signalled; seen = wakes()) {
    const int64_t left = date ? time_left(id, date) : -1;
    if (left == 0) {
      result = ETIMEDOUT;
      break;
    }
    wait_for_change(seen, left);
  }
  for (struct waiting** link = &queue; *link; link = &(*link)->next)
    if (*link == &self) {
      *link = self.next;
      break;
    }
  pthread_mutex_lock(mutex);
  return result;
}

UMW_PUBLIC int pthread_cond_wait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex)
{
  return umw_gate ? wait_for_condition(condition, mutex, CLOCK_REALTIME, NULL)
                  : UMW_REAL(pthread_cond_wait)(condition, mutex);
}

UMW_PUBLIC int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                                      const struct timespec* restrict date)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cond_timedwait)(condition, mutex, date);
  /* glibc 2.36 keeps the clock of pthread_condattr_setclock in bit 1 of __wrefs (nptl/pthread_cond_common.c) */
  const clockid_t id = condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  return wait_for_condition(condition, mutex, id, date);
}

UMW_PUBLIC int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex, clockid_t id,
                                      const struct timespec* restrict date)
{
  return umw_gate ? wait_for_condition(condition, mutex, id, date)
                  : UMW_REAL(pthread_cond_clockwait)(condition, mutex, id, date);
}

static void signal_waiting(const pthread_cond_t* condition, bool all)
{
  for (struct waiting* waiting = queue; waiting; waiting = waiting->next)
    if (waiting->condition == condition && !waiting->signalled) {
      waiting->signalled = true;
      if (!all)
        break;
    }
  changed();
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

/* --- semaphores, read-write locks, barriers -------------------------------------------------------------------------- */

UMW_PUBLIC int sem_wait(sem_t* semaphore)
{
  if (!umw_gate)
    return UMW_REAL(sem_wait)(semaphore);
  for (uint64_t seen = wakes(); sem_trywait(semaphore) != 0; seen = wakes()) {
    if (errno != EAGAIN)
      return -1;
    wait_for_change(seen, -1);
  }
  return 0;
}

UMW_PUBLIC int sem_clockwait(sem_t* restrict semaphore, clockid_t id, const struct timespec* restrict date)
{
  if (!umw_gate)
    return UMW_REAL(sem_clockwait)(semaphore, id, date);
  for (uint64_t seen = wakes(); sem_trywait(semaphore) != 0; seen = wakes()) {
    if (errno != EAGAIN)
      return -1;
    const int64_t left = valid(date) ? time_left(id, date) : -1;
    if (left <= 0) {
      errno = left < 0 ? EINVAL : ETIMEDOUT;
      return -1;
    }
    wait_for_change(seen, left);
  }
  return 0;
}

UMW_PUBLIC int sem_timedwait(sem_t* restrict semaphore, const struct timespec* restrict date)
{
  return umw_gate ? sem_clockwait(semaphore, CLOCK_REALTIME, date) : UMW_REAL(sem_timedwait)(semaphore, date);
}

UMW_PUBLIC int sem_post(sem_t* semaphore)
{
  const int status = UMW_REAL(sem_post)(semaphore);
  if (umw_gate)
    changed();
  return status;
}

UMW_PUBLIC int pthread_spin_lock(pthread_spinlock_t* lock)
{
  if (!umw_gate || threads_started == 0)
    return UMW_REAL(pthread_spin_lock)(lock);
  for (uint64_t seen = wakes(); pthread_spin_trylock(lock) == EBUSY; seen = wakes())
    wait_for_change(seen, -1);
  return 0;
}

UMW_PUBLIC int pthread_spin_unlock(pthread_spinlock_t* lock)
{
  const int error = UMW_REAL(pthread_spin_unlock)(lock);
  if (umw_gate)
    changed();
  return error;
}

UMW_PUBLIC int pthread_rwlock_rdlock(pthread_rwlock_t* lock)
{
  int error;
  if (!umw_gate || threads_started == 0)
    return UMW_REAL(pthread_rwlock_rdlock)(lock);
  for (uint64_t seen = wakes(); (error = pthread_rwlock_tryrdlock(lock)) == EBUSY; seen = wakes())
    wait_for_change(seen, -1);
  return error;
}

UMW_PUBLIC int pthread_rwlock_wrlock(pthread_rwlock_t* lock)
{
  int error;
  if (!umw_gate || threads_started == 0)
    return UMW_REAL(pthread_rwlock_wrlock)(lock);
  for (uint64_t seen = wakes(); (error = pthread_rwlock_trywrlock(lock)) == EBUSY; seen = wakes())
    wait_for_change(seen, -1);
  return error;
}

UMW_PUBLIC int pthread_rwlock_unlock(pthread_rwlock_t* lock)
{
  const int error = UMW_REAL(pthread_rwlock_unlock)(lock);
  if (umw_gate)
    changed();
  return error;
}

/* The C library's barrier (nptl/pthread_barrier_wait.c) has the number of threads at offset 8; arrivals are counted here. */
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
  const unsigned round = meeting->round;
  if (++meeting->arrived >= expected) {
    meeting->arrived = 0;
    ++meeting->round;
    changed();
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  for (uint64_t seen = wakes(); meeting->round == round; seen = wakes())
    wait_for_change(seen, -1);
  return 0;
}
