/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Threads that wake by themselves while the others wait for something: helper_threads MODE [UNIT [ROUNDS]]. The helper
 * waits for UNIT microseconds ROUNDS times (0: for ever), then lets main go on. How it waits, and what else it does, is
 * MODE: sleeps, naps (usleep), polls (a pipe), polls_nothing, conditions, semaphores, futexes; prints: a line every
 * 1,000 rounds; hands_over: another thread waits for each round; writes: into a pipe that another one reads; copies:
 * into a file and main waits in pthread_join, but for waits_for_condition, waits_for_semaphore, waits_for_lock: the
 * helper sleeps. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char* mode;
static long unit = 1, rounds = 100;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, empty;
static long handed, taken;
static int ends[2];
static FILE* file;

static int is(const char* name)
{
  return strcmp(mode, name) == 0;
}

static struct timespec after(clockid_t clock)
{
  struct timespec abstime;
  clock_gettime(clock, &abstime);
  abstime.tv_sec += unit / 1000000;
  abstime.tv_nsec += unit % 1000000 * 1000;
  if (abstime.tv_nsec >= 1000000000) {
    ++abstime.tv_sec;
    abstime.tv_nsec -= 1000000000;
  }
  return abstime;
}

static void wait_once(void)
{
  const struct timespec duration = {unit / 1000000, unit % 1000000 * 1000};
  if (is("polls")) {
    struct pollfd look = {ends[0], POLLIN, 0};
    ppoll(&look, 1, &duration, NULL);
  } else if (is("polls_nothing")) {
    ppoll(NULL, 0, &duration, NULL);
  } else if (is("conditions")) {
    const struct timespec abstime = after(CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&never, &mutex, &abstime);
    pthread_mutex_unlock(&mutex);
  } else if (is("semaphores")) {
    const struct timespec abstime = after(CLOCK_REALTIME);
    sem_timedwait(&empty, &abstime);
  } else if (is("futexes")) {
    static int word;
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &duration, NULL, 0);
  } else if (is("naps")) {
    usleep((useconds_t)unit);
  } else {
    nanosleep(&duration, NULL);
  }
}

static void act(long round)
{
  if (is("prints") && round % 1000 == 0) {
    printf("round %ld\n", round);
  } else if (is("hands_over")) {
    pthread_mutex_lock(&mutex);
    ++handed;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  } else if (is("writes")) {
    if (write(ends[1], "x", 1) != 1)
      abort();
  } else if (is("copies") && round % 1000 == 0) {
    fputc('x', file);
    fflush(file);
  }
}

static void* help(void* argument)
{
  for (long round = 1; rounds == 0 || round <= rounds; ++round) {
    wait_once();
    act(round);
  }
  pthread_mutex_lock(&mutex);
  pthread_cond_signal(&condition);
  handed = -1;
  pthread_mutex_unlock(&mutex);
  sem_post(&semaphore);
  return argument;
}

/* What main waits for with pthread_join. */
static void* work(void* argument)
{
  char byte;
  if (is("writes"))
    while (taken < rounds && read(ends[0], &byte, 1) == 1)
      ++taken;
  pthread_mutex_lock(&mutex);
  while (handed >= 0) {
    pthread_cond_wait(&condition, &mutex);
    taken += is("hands_over");
  }
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void* hold(void* argument)
{
  pthread_mutex_lock(&held);
  sem_post(&empty);
  help(argument);
  pthread_mutex_unlock(&held);
  return argument;
}

int main(int argc, char** argv)
{
  pthread_t helper, worker;
  mode = argc > 1 ? argv[1] : "sleeps";
  if (argc > 2)
    unit = atol(argv[2]);
  if (argc > 3)
    rounds = atol(argv[3]);
  sem_init(&semaphore, 0, 0);
  sem_init(&empty, 0, 0);
  file = tmpfile();
  if (pipe(ends) != 0 || file == NULL)
    abort();
  pthread_create(&helper, NULL, is("waits_for_lock") ? hold : help, NULL);
  if (is("waits_for_condition")) {
    work(NULL);
  } else if (is("waits_for_semaphore")) {
    sem_wait(&semaphore);
  } else if (is("waits_for_lock")) {
    sem_wait(&empty);
    pthread_mutex_lock(&held);
  } else {
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
  }
  pthread_join(helper, NULL);
  printf("%s: done, %s\n", mode, is("writes") ? (taken == rounds ? "all taken" : "not all taken") : "main has gone on");
  return 0;
}
