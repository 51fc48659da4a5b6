/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that compute for many time slices, most of the time within malloc, and share one arena: one that is cut while
 * it holds the arena's lock keeps the others from theirs. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, pieces = 64, rounds = 400000 };

static void* work(void* seed)
{
  uint32_t random = (uint32_t)(uintptr_t)seed;
  void* held[pieces] = {NULL};
  for (int round = 0; round < rounds; ++round) {
    random = random * 1664525 + 1013904223;
    void** piece = &held[random >> 26];
    free(*piece);
    *piece = malloc(2048 + (random >> 12 & 0x3fff)); /* more than the cache of a thread takes */
  }
  for (int i = 0; i < pieces; ++i)
    free(held[i]);
  return NULL;
}

int main(void)
{
  pthread_t thread[threads];
  mallopt(M_ARENA_MAX, 1);
  for (uintptr_t i = 0; i < threads; ++i)
    pthread_create(&thread[i], NULL, work, (void*)(i + 1)); /* NOLINT(performance-no-int-to-ptr) */
  for (int i = 0; i < threads; ++i)
    pthread_join(thread[i], NULL);
  printf("%d threads done\n", threads);
  return 0;
}
