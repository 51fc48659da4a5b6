/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Threads that work on many short pieces together, and between them look for the next with a count, `pause` and a futex
 * in the end, as libpthreadpool does (threadpool-pthreads.c): fork_join THREADS PIECES [most]. With `most` it fails if
 * threads have gone to sleep more often than that: who only waits is not to count to the end. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 5000000, MOST_THREADS = 64, ITEMS = 1024 };

static int threads, pieces;
static _Atomic uint32_t command; /* the number of the piece to work on */
static _Atomic uint32_t busy;    /* threads that do, but for the first */
static _Atomic uint32_t unfinished;
static atomic_long slept;
static double items[ITEMS];

static void sleep_while(_Atomic uint32_t* word, uint32_t value)
{
  atomic_fetch_add(&slept, 1);
  while (atomic_load_explicit(word, memory_order_acquire) == value)
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL);
}

static void wait_while(_Atomic uint32_t* word, uint32_t value)
{
  if (atomic_load_explicit(word, memory_order_acquire) != value)
    return;
  for (uint32_t i = ROUNDS; i != 0; --i) {
    __builtin_ia32_pause();
    if (atomic_load_explicit(word, memory_order_acquire) != value)
      return;
  }
  sleep_while(word, value);
}

static void set(_Atomic uint32_t* word, uint32_t value)
{
  atomic_store_explicit(word, value, memory_order_release);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

static void work(int me, int piece)
{
  for (int i = me; i < ITEMS; i += threads)
    items[i] = items[i] * 0.5 + i + piece;
}

static void* worker(void* argument)
{
  const int me = (int)(intptr_t)argument;
  for (int piece = 1; piece <= pieces; ++piece) {
    wait_while(&command, (uint32_t)piece - 1);
    work(me, piece);
    if (atomic_fetch_sub(&busy, 1) == 1)
      set(&unfinished, 0);
  }
  return NULL;
}

int main(int argc, char** argv)
{
  pthread_t ids[MOST_THREADS];
  threads = argc > 1 ? atoi(argv[1]) : 2;
  pieces = argc > 2 ? atoi(argv[2]) : 100;
  if (threads < 2 || threads > MOST_THREADS)
    return 2;
  for (int i = 1; i < threads; ++i)
    pthread_create(&ids[i], NULL, worker, (void*)(intptr_t)i);
  for (int piece = 1; piece <= pieces; ++piece) {
    busy = (uint32_t)threads - 1;
    unfinished = 1;
    set(&command, (uint32_t)piece);
    work(0, piece);
    wait_while(&unfinished, 1);
    if (piece % 20 == 0)
      usleep(1000); /* something else */
  }
  for (int i = 1; i < threads; ++i)
    pthread_join(ids[i], NULL);
  double sum = 0;
  for (int i = 0; i < ITEMS; ++i)
    sum += items[i];
  printf("%d threads, %d pieces: %.6e\n", threads, pieces, sum);
  if (argc > 3 && slept > atol(argv[3])) {
    printf("slept %ld times, expected at most %s\n", (long)slept, argv[3]);
    return 1;
  }
  return 0;
}
