/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Steps, one for each argument, on every rank: cN computes for N ms (a kernel of work.yaml), hN likewise in another
 * kernel, sN sleeps for N ms, tN has a second thread that computes for N ms meanwhile. A step "R:..." is for rank R.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int calls;

void work(long ms)
{
  calls += ms > 0;
}

void hot_work(long ms)
{
  calls += ms > 0;
}

static void* second(void* ms)
{
  work((long)ms);
  return NULL;
}

int main(int argc, char** argv)
{
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  for (int i = 1; i < argc; ++i) {
    const char* step = argv[i];
    const char* colon = strchr(step, ':');
    if (colon != NULL) {
      if (rank == NULL || strtol(step, NULL, 10) != strtol(rank, NULL, 10))
        continue;
      step = colon + 1;
    }
    const long ms = strtol(step + 1, NULL, 10);
    pthread_t thread;
    switch (*step) {
    case 'c':
      work(ms);
      break;
    case 'h':
      hot_work(ms);
      break;
    case 's':
      nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
      break;
    case 't':
      if (pthread_create(&thread, NULL, second, (void*)ms) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
      break;
    default:
      fprintf(stderr, "unknown step %s\n", step);
      return 2;
    }
  }
  return 0;
}
