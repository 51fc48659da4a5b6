/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Threads that share a pile of work under one lock, as the parallel markers of Boehm's collector do (mark.c,
 * pthread_support.c): the lock is tried with growing pauses before it is waited for, whoever finds nothing waits for a
 * condition, whoever adds wakes all: markers THREADS ITEMS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 64, MOST_SPINS = 128, BATCH = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int threads, items;
static int pile, made, active;
static long done[MOST_THREADS];

static void acquire(void)
{
  for (int spins = 1; spins <= MOST_SPINS; spins *= 2) {
    if (pthread_mutex_trylock(&lock) == 0)
      return;
    for (volatile int i = 0; i < spins; ++i)
      ;
  }
  pthread_mutex_lock(&lock);
}

static uint64_t work(uint64_t seed)
{
  for (int i = 0; i < 2000; ++i)
    seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed;
}

static void* mark(void* argument)
{
  const int me = (int)(intptr_t)argument;
  volatile uint64_t sum = 0;
  acquire();
  ++active;
  for (;;) {
    while (pile == 0 && active > 1) {
      --active;
      pthread_cond_wait(&news, &lock);
      ++active;
    }
    if (pile == 0)
      break;
    const int mine = pile < BATCH ? pile : BATCH;
    pile -= mine;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < mine; ++i)
      sum += work((uint64_t)i);
    done[me] += mine;
    acquire();
    /* each of them leads to two more */
    const int more = 2 * mine < items - made ? 2 * mine : items - made;
    made += more;
    pile += more;
    pthread_cond_broadcast(&news);
  }
  (void)sum;
  --active;
  pthread_cond_broadcast(&news);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv)
{
  pthread_t ids[MOST_THREADS];
  threads = argc > 1 ? atoi(argv[1]) : 4;
  items = argc > 2 ? atoi(argv[2]) : 1000;
  if (threads > MOST_THREADS)
    return 2;
  pile = made = 1;
  for (int i = 0; i < threads; ++i)
    pthread_create(&ids[i], NULL, mark, (void*)(intptr_t)i);
  long sum = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    sum += done[i];
  }
  printf("%d threads have marked %ld of %d\n", threads, sum, items);
  return 0;
}
