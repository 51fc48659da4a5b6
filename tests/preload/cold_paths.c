/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What lies between two looks at the clock is told by its instructions, however cold the caches are and whether any
 * other call is made: with --cpu measured. Natively each walk takes some microseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { walks = 400, learned = 100, pages = 8, page = 4096, others = 48 << 20 };

static double microseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int ascending(const void* a, const void* b)
{
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

int main(void)
{
  char* const chain = malloc((size_t)pages * page);
  volatile char* const filler = malloc(others);
  memset((char*)filler, 1, others);
  for (int i = 0; i < pages; ++i) /* each page leads to another, far away */
    *(char**)(chain + (size_t)i * page + (size_t)i * 64 % page) =
        chain + (size_t)((i + 37) % pages) * page + (size_t)((i + 37) % pages) * 64 % page;
  static double taken[walks];
  char* at = chain;
  for (int walk = 0; walk < walks; ++walk) {
    for (size_t i = 0; i < others; i += 64)
      filler[i];
    const double begin = microseconds();
    for (int step = 0; step < 50 * pages; ++step) /* 1,200 instructions and some */
      at = *(char* volatile*)at;
    taken[walk] = microseconds() - begin;
  }
  qsort(taken + learned, walks - learned, sizeof *taken, ascending);
  const double median = taken[(walks + learned) / 2];
  if (at == NULL || median < 0.1 || median > 0.5) { /* 0.14 ns each: net_models/node, `instruction` */
    printf("a walk took %.2f us\n", median);
    return 1;
  }
  puts("fine");
  return 0;
}
