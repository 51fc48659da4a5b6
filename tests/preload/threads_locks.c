/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Locks with a will of their own: robust, priority-inheriting, timed, shared. Same output natively and simulated. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t robust, inheriting;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static int word;

static struct timespec in_milliseconds(int milliseconds)
{
  struct timespec date;
  clock_gettime(CLOCK_REALTIME, &date);
  date.tv_nsec += milliseconds * 1000000L;
  date.tv_sec += date.tv_nsec / 1000000000;
  date.tv_nsec %= 1000000000;
  return date;
}

static void* dies_with_lock(void* unused)
{
  pthread_mutex_lock(&robust);
  return unused;
}

static void* holds(void* lock)
{
  pthread_mutex_lock(lock);
  usleep(20000);
  pthread_mutex_unlock(lock);
  return NULL;
}

static void* reads(void* unused)
{
  pthread_rwlock_rdlock(&shared);
  usleep(20000);
  pthread_rwlock_unlock(&shared);
  return unused;
}

static void* wakes(void* woken)
{
  usleep(10000);
  __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
  *(long*)woken = syscall(SYS_futex, &word, FUTEX_WAKE, 10, NULL, NULL, 0);
  return NULL;
}

int main(void)
{
  pthread_t thread;
  pthread_mutexattr_t attributes;

  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &attributes);
  pthread_create(&thread, NULL, dies_with_lock, NULL);
  pthread_join(thread, NULL);
  printf("owner died: %d\n", pthread_mutex_lock(&robust) == EOWNERDEAD);
  int first = pthread_mutex_consistent(&robust);
  int second = pthread_mutex_unlock(&robust);
  printf("consistent: %d, unlock: %d\n", first, second);
  printf("as before: %d\n", pthread_mutex_lock(&robust));

  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&inheriting, &attributes);
  pthread_create(&thread, NULL, holds, &inheriting);
  usleep(5000);
  struct timespec date = in_milliseconds(5);
  printf("timed lock: %d\n", pthread_mutex_timedlock(&inheriting, &date) == ETIMEDOUT);
  first = pthread_mutex_lock(&inheriting);
  second = pthread_mutex_unlock(&inheriting);
  printf("lock: %d, unlock: %d\n", first, second);
  pthread_join(thread, NULL);

  pthread_create(&thread, NULL, reads, NULL);
  usleep(5000);
  date = in_milliseconds(5);
  first = pthread_rwlock_rdlock(&shared);
  second = pthread_rwlock_unlock(&shared);
  printf("two readers: %d %d\n", first, second);
  printf("no writer: %d\n", pthread_rwlock_timedwrlock(&shared, &date) == ETIMEDOUT);
  printf("writer: %d\n", pthread_rwlock_wrlock(&shared));
  pthread_join(thread, NULL);

  long woken = 0;
  pthread_create(&thread, NULL, wakes, &woken);
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
  pthread_join(thread, NULL);
  printf("futex: %ld, word %d, woken %ld\n", result, word, woken);
  const int status = (int)syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
  printf("value has changed: %d\n", status == -1 && errno == EAGAIN);
  const struct timespec short_time = {0, 3000000};
  const int late = (int)syscall(SYS_futex, &word, FUTEX_WAIT, 1, &short_time, NULL, 0);
  printf("time-out: %d\n", late == -1 && errno == ETIMEDOUT);
  return 0;
}
