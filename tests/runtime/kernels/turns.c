/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Threads take a lock at their own time: what one has computed before has passed, modelled or not. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char order[3];
static int taken;

__attribute__((noinline)) void compute(int milliseconds);
void compute(int milliseconds)
{
  const clock_t end = clock() + (clock_t)milliseconds * (CLOCKS_PER_SEC / 1000);
  while (clock() < end)
    continue;
}

static void take(char name)
{
  pthread_mutex_lock(&lock);
  order[taken++] = name;
  pthread_mutex_unlock(&lock);
}

static void* soon(void* none)
{
  usleep(2000);
  take('s');
  return none;
}

int main(void)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, soon, NULL) != 0)
    return 1;
  compute(200);
  take('l');
  pthread_join(thread, NULL);
  puts(order);
  return 0;
}
