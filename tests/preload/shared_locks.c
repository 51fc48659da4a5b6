/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Locks, conditions, barriers and semaphores in memory that processes of a node share. With an argument, waits have to
 * end within a microsecond of the release (--cpu none). */
#include "node_peers.h"

#include <pthread.h>
#include <semaphore.h>

enum { peers = 4, rounds = 25 };

static struct common {
  volatile int arrived;
  pthread_mutex_t mutex, robust;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  pthread_rwlock_t lock;
  sem_t full, empty;
  long counter, turn, ready, box, serials;
  double released;
} * common;

static double latest = 1; /* seconds from a release to the end of a wait */

static void set_up(void)
{
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&common->mutex, &mutex);
  pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&common->robust, &mutex);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
  pthread_cond_init(&common->condition, &condition);
  pthread_barrierattr_t barrier;
  pthread_barrierattr_init(&barrier);
  pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&common->barrier, &barrier, peers);
  pthread_rwlockattr_t lock;
  pthread_rwlockattr_init(&lock);
  pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_init(&common->lock, &lock);
  sem_init(&common->full, 1, 0);
  sem_init(&common->empty, 1, 1);
}

static void exclude_each_other(void)
{
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&common->mutex);
    const long seen = common->counter;
    if (i % 5 == 0)
      usleep(20);
    common->counter = seen + 1;
    pthread_mutex_unlock(&common->mutex);
  }
  if (pthread_barrier_wait(&common->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
    __atomic_add_fetch(&common->serials, 1, __ATOMIC_RELAXED);
  pthread_barrier_wait(&common->barrier);
  say("mutex: %ld, one of a barrier: %ld", common->counter, common->serials);
}

static void take_turns(void)
{
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&common->mutex);
    while (common->turn % peers != peer)
      pthread_cond_wait(&common->condition, &common->mutex);
    ++common->turn;
    pthread_cond_broadcast(&common->condition);
    pthread_mutex_unlock(&common->mutex);
  }
  pthread_barrier_wait(&common->barrier);
  say("condition: %ld turns", common->turn);
}

static void hand_over(void)
{
  if (peer == 0)
    for (int i = 1; i <= rounds * (peers - 1); ++i) {
      sem_wait(&common->empty);
      common->box = i;
      sem_post(&common->full);
    }
  long sum = 0;
  for (int i = 0; peer != 0 && i < rounds; ++i) {
    sem_wait(&common->full);
    sum += common->box;
    sem_post(&common->empty);
  }
  pthread_mutex_lock(&common->mutex);
  common->counter += sum;
  pthread_mutex_unlock(&common->mutex);
  pthread_barrier_wait(&common->barrier);
  say("semaphores: %ld in all", common->counter);
}

/* Time-outs, and a release in time: 30 ms, by the clock of either. */
static void wait_for_time(void)
{
  struct timespec abstime;
  pthread_barrier_wait(&common->barrier);
  const double begin = seconds();
  if (peer == 0) {
    pthread_rwlock_wrlock(&common->lock);
    pthread_barrier_wait(&common->barrier);
    usleep(30000);
    common->released = seconds();
    pthread_rwlock_unlock(&common->lock);
  } else {
    pthread_barrier_wait(&common->barrier);
    clock_gettime(CLOCK_REALTIME, &abstime);
    abstime.tv_nsec += 10000000;
    abstime.tv_sec += abstime.tv_nsec / 1000000000;
    abstime.tv_nsec %= 1000000000;
    CHECK(pthread_rwlock_timedrdlock(&common->lock, &abstime) == ETIMEDOUT);
    CHECK(seconds() - begin >= 0.0099);
    CHECK(sem_trywait(&common->full) < 0 && errno == EAGAIN);
    CHECK(sem_timedwait(&common->full, &abstime) < 0 && errno == ETIMEDOUT);
    CHECK(pthread_rwlock_rdlock(&common->lock) == 0);
    const double now = seconds();
    CHECK(now >= common->released && now < common->released + latest);
    pthread_rwlock_unlock(&common->lock);
    clock_gettime(CLOCK_MONOTONIC, &abstime);
    abstime.tv_sec += 1;
    pthread_mutex_lock(&common->mutex);
    CHECK(pthread_cond_timedwait(&common->condition, &common->mutex, &abstime) == ETIMEDOUT);
    pthread_mutex_unlock(&common->mutex);
    CHECK(seconds() - begin >= 1.0);
  }
  pthread_barrier_wait(&common->barrier);
  say("time-outs");
}

/* Peer 1 ends with the lock in its hands; the next hears of it, and repairs what it protects. Nobody else's memory is
 * gone. */
static void die_with_lock(void)
{
  if (peer == 1) {
    CHECK(pthread_mutex_lock(&common->robust) == 0);
    common->ready = 1;
    pthread_barrier_wait(&common->barrier);
    say("ends");
    _exit(0);
  }
  pthread_barrier_wait(&common->barrier);
  if (peer == 2) {
    CHECK(pthread_mutex_lock(&common->robust) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&common->robust) == 0);
    common->ready = 2;
    CHECK(pthread_mutex_unlock(&common->robust) == 0);
    CHECK(pthread_mutex_lock(&common->robust) == 0);
    CHECK(pthread_mutex_unlock(&common->robust) == 0);
  }
  while (__atomic_load_n(&common->ready, __ATOMIC_ACQUIRE) != 2)
    usleep(100);
  say("owner dead, memory kept: %ld", common->ready);
}

int main(int argc, char** argv)
{
  (void)argv;
  if (argc > 1)
    latest = 1e-6;
  become_peers(peers);
  common = common_memory("locks", sizeof *common);
  if (peer == 0) {
    set_up();
    __atomic_store_n(&common->arrived, 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&common->arrived, __ATOMIC_ACQUIRE) == 0)
      usleep(100);
  }
  exclude_each_other();
  take_turns();
  hand_over();
  wait_for_time();
  die_with_lock();
  if (peer == 0)
    shm_unlink(name_of("locks"));
  return 0;
}
