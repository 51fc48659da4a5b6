/* SPDX-License-Identifier: LGPL-2.1-or-later
 * futex(2) as programs with locks of their own call it, through syscall(). Same output natively and simulated. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { waiting_threads = 3 };

static atomic_uint word, other_word, asleep;

static long futex(atomic_uint* address, int operation, unsigned value, const void* fourth, atomic_uint* second,
                  unsigned sixth)
{
  return syscall(SYS_futex, address, operation, value, fourth, second, sixth);
}

static const char* outcome(long result)
{
  return result == 0 ? "ok" : strerror(errno);
}

/* Waits until the word is no longer 0; wake-ups without a reason are allowed (futex(2)). */
static void* wait_for_word(void* unused)
{
  (void)unused;
  atomic_fetch_add(&asleep, 1);
  while (atomic_load(&word) == 0)
    futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  atomic_fetch_sub(&asleep, 1);
  return NULL;
}

static void* wait_for_bit(void* bit)
{
  atomic_fetch_add(&asleep, 1);
  long result;
  do
    result = futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, (unsigned)(uintptr_t)bit);
  while (result != 0 && errno == EINTR);
  return (void*)result;
}

static void start(pthread_t* threads, void* (*function)(void*), int bits)
{
  atomic_store(&asleep, 0);
  for (int i = 0; i < waiting_threads; ++i)
    pthread_create(&threads[i], NULL, function, (void*)(uintptr_t)(bits ? 1U << i : 0));
  while (atomic_load(&asleep) != waiting_threads)
    usleep(1000);
}

static void join(pthread_t* threads)
{
  for (int i = 0; i < waiting_threads; ++i)
    pthread_join(threads[i], NULL);
}

/* Wakes until `count` have been woken: a thread that is about to sleep may not be there yet. */
static void wake(atomic_uint* address, int count, int operation, unsigned bits)
{
  for (long woken = 0; woken < count; usleep(1000))
    woken += futex(address, operation, (unsigned)count - (unsigned)woken, NULL, NULL, bits);
}

/* A mutex of one word: free, taken, taken and waited for (Drepper, "Futexes are tricky", mutex 2). */
static atomic_uint mutex;
static long counter;

static void* count(void* unused)
{
  for (int round = 0; round < 500; ++round) {
    unsigned seen = 0;
    if (!atomic_compare_exchange_strong(&mutex, &seen, 1)) {
      if (seen != 2)
        seen = atomic_exchange(&mutex, 2);
      while (seen != 0) {
        futex(&mutex, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
        seen = atomic_exchange(&mutex, 2);
      }
    }
    ++counter;
    if (atomic_exchange(&mutex, 0) == 2)
      futex(&mutex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
  return unused;
}

static double now(clockid_t clock)
{
  struct timespec abstime;
  clock_gettime(clock, &abstime);
  return (double)abstime.tv_sec + 1e-9 * (double)abstime.tv_nsec;
}

int main(void)
{
  pthread_t threads[waiting_threads];

  /* what does not wait */
  atomic_store(&word, 1);
  printf("value has changed: %s\n", outcome(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0)));
  printf("nobody to wake: %ld\n", futex(&word, FUTEX_WAKE, 10, NULL, NULL, 0));
  printf("no bits: %s\n", outcome(futex(&word, FUTEX_WAIT_BITSET, 1, NULL, NULL, 0)));

  /* time-outs: relative, absolute on either clock */
  const struct timespec short_time = {0, 5000000};
  double begin = now(CLOCK_MONOTONIC);
  printf("relative: %s", outcome(futex(&word, FUTEX_WAIT_PRIVATE, 1, &short_time, NULL, 0)));
  printf(", early: %d\n", now(CLOCK_MONOTONIC) - begin < 0.005 - 1e-6);
  for (int real = 0; real < 2; ++real) {
    struct timespec abstime;
    begin = now(CLOCK_MONOTONIC);
    clock_gettime(real ? CLOCK_REALTIME : CLOCK_MONOTONIC, &abstime);
    abstime.tv_nsec += 5000000;
    abstime.tv_sec += abstime.tv_nsec / 1000000000;
    abstime.tv_nsec %= 1000000000;
    const int operation = FUTEX_WAIT_BITSET_PRIVATE | (real ? FUTEX_CLOCK_REALTIME : 0);
    printf("absolute: %s", outcome(futex(&word, operation, 1, &abstime, NULL, FUTEX_BITSET_MATCH_ANY)));
    printf(", early: %d\n", now(CLOCK_MONOTONIC) - begin < 0.005 - 1e-5);
  }

  /* waiting and waking */
  atomic_store(&word, 0);
  start(threads, wait_for_word, 0);
  atomic_store(&word, 1);
  futex(&word, FUTEX_WAKE_PRIVATE, waiting_threads, NULL, NULL, 0);
  join(threads);
  printf("still asleep: %u\n", atomic_load(&asleep));

  /* one by one, by bits */
  atomic_store(&word, 0);
  start(threads, wait_for_bit, 1);
  for (int i = waiting_threads - 1; i >= 0; --i) {
    wake(&word, 1, FUTEX_WAKE_BITSET_PRIVATE, 1U << i);
    void* result = NULL;
    pthread_join(threads[i], &result);
    printf("thread %d woken: %ld\n", i, (long)result);
  }

  /* one woken, the others moved to another word and woken there */
  atomic_store(&asleep, 0);
  start(threads, wait_for_bit, 1);
  long woken = 0, moved = 0;
  while (moved < waiting_threads - 1) {
    const long both =
        futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, woken == 0, (void*)(uintptr_t)waiting_threads, &other_word, 0);
    const long now_woken = woken == 0 && both > 0;
    woken += now_woken;
    moved += both - now_woken;
    usleep(1000);
  }
  printf("woken %ld, moved %ld\n", woken, moved);
  printf("other value: %s\n", outcome(futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void*)1, &other_word, 7)));
  wake(&other_word, waiting_threads - 1, FUTEX_WAKE_PRIVATE, 0);
  join(threads);

  for (int i = 0; i < waiting_threads; ++i)
    pthread_create(&threads[i], NULL, count, NULL);
  join(threads);
  printf("counted %ld, mutex %u\n", counter, atomic_load(&mutex));
  return 0;
}
