/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Semaphores, named and unnamed, barriers that are used again, and pthread_once. Same output natively and simulated. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* outcome(int status)
{
  return status == 0 ? "ok" : strerror(errno);
}

static struct timespec in_milliseconds(int milliseconds, clockid_t clock)
{
  struct timespec abstime;
  clock_gettime(clock, &abstime);
  abstime.tv_nsec += milliseconds * 1000000L;
  abstime.tv_sec += abstime.tv_nsec / 1000000000;
  abstime.tv_nsec %= 1000000000;
  return abstime;
}

/* --- a bounded buffer (Dijkstra): every item arrives once --------------------------------------------------------- */

enum { producers = 3, consumers = 2, items = 60, places = 4 };

static sem_t *free_places, *used_places, *turn;
static int buffer[places], first, last;
static long sums[consumers];

static void* produce(void* number)
{
  for (int i = 0; i < items / producers; ++i) {
    sem_wait(free_places);
    sem_wait(turn);
    buffer[last++ % places] = (int)(long)number * 1000 + i;
    sem_post(turn);
    sem_post(used_places);
  }
  return NULL;
}

static void* consume(void* number)
{
  for (int i = 0; i < items / consumers; ++i) {
    sem_wait(used_places);
    sem_wait(turn);
    sums[(long)number] += buffer[first++ % places];
    sem_post(turn);
    sem_post(free_places);
  }
  return NULL;
}

static void bounded_buffer(const char* what)
{
  pthread_t threads[producers + consumers];
  sums[0] = sums[1] = 0;
  for (long i = 0; i < producers + consumers; ++i)
    pthread_create(&threads[i], NULL, i < producers ? produce : consume, (void*)(i < producers ? i : i - producers));
  for (int i = 0; i < producers + consumers; ++i)
    pthread_join(threads[i], NULL);
  int available = -1;
  sem_getvalue(free_places, &available);
  printf("%s: %ld, places free %d\n", what, sums[0] + sums[1], available);
}

static void unnamed(void)
{
  static sem_t three[3];
  sem_t* semaphore = &three[0];
  int value = -1;
  printf("too large: %s\n", outcome(sem_init(semaphore, 0, (unsigned)SEM_VALUE_MAX + 1U)));
  sem_init(semaphore, 0, 1);
  printf("try: %s\n", outcome(sem_trywait(semaphore)));
  printf("try: %s\n", outcome(sem_trywait(semaphore)));
  struct timespec abstime = in_milliseconds(5, CLOCK_REALTIME);
  printf("timed: %s\n", outcome(sem_timedwait(semaphore, &abstime)));
  abstime = in_milliseconds(5, CLOCK_MONOTONIC);
  printf("monotonic: %s\n", outcome(sem_clockwait(semaphore, CLOCK_MONOTONIC, &abstime)));
  abstime.tv_nsec = 1000000000;
  printf("no time: %s\n", outcome(sem_timedwait(semaphore, &abstime)));
  sem_post(semaphore);
  sem_post(semaphore);
  sem_getvalue(semaphore, &value);
  printf("value %d\n", value);
  sem_destroy(semaphore);
  sem_init(&three[0], 0, places);
  sem_init(&three[1], 0, 0);
  sem_init(&three[2], 1, 1);
  free_places = &three[0], used_places = &three[1], turn = &three[2];
  bounded_buffer("unnamed");
}

static void named(void)
{
  char names[3][64];
  sem_t** places_of[3] = {&free_places, &used_places, &turn};
  const unsigned values[3] = {places, 0, 1};
  for (int i = 0; i < 3; ++i) {
    snprintf(names[i], sizeof names[i], "/umwelt-test-%d-%d", i, (int)getpid());
    *places_of[i] = sem_open(names[i], O_CREAT | O_EXCL, 0600, values[i]);
    if (*places_of[i] == SEM_FAILED) {
      perror(names[i]);
      exit(1);
    }
  }
  printf("again: %s\n", sem_open(names[0], O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED ? strerror(errno) : "opened");
  sem_t* same = sem_open(names[0], 0);
  printf("the same: %d\n", same == free_places);
  bounded_buffer("named");
  for (int i = 0; i < 3; ++i)
    printf("unlink: %s\n", outcome(sem_unlink(names[i])));
  printf("gone: %s\n", sem_open(names[0], 0) == SEM_FAILED ? strerror(errno) : "still there");
  sem_close(same);
  for (int i = 0; i < 3; ++i)
    printf("close: %s\n", outcome(sem_close(*places_of[i])));
}

/* --- barriers and pthread_once ------------------------------------------------------------------------------------ */

enum { meeting = 5, rounds = 40 };

static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls, steps[meeting];

static void call_once_only(void)
{
  usleep(1000); /* the others have to wait for it */
  ++calls;
}

/* Result: how often this thread was the one that is told so, and in how many rounds it saw another not yet arrived. */
static void* meet(void* number)
{
  long serial = 0, early = 0;
  pthread_once(&once, call_once_only);
  early += calls != 1;
  for (int round = 0; round < rounds; ++round) {
    steps[(long)number] = round + 1;
    serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    for (int other = 0; other < meeting; ++other)
      early += steps[other] < round + 1;
    serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  }
  return (void*)(serial * 1000 + early);
}

int main(void)
{
  unnamed();
  named();
  pthread_t threads[meeting];
  pthread_barrier_init(&barrier, NULL, meeting);
  for (long i = 0; i < meeting; ++i)
    pthread_create(&threads[i], NULL, meet, (void*)i);
  long sum = 0;
  for (int i = 0; i < meeting; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  pthread_once(&once, call_once_only);
  printf("told %ld times, early %ld, once %d\n", sum / 1000, sum % 1000, calls);
  printf("destroy: %d\n", pthread_barrier_destroy(&barrier));
  return 0;
}
