/* SPDX-License-Identifier: LGPL-2.1-or-later
 * C11 threads: the C library's mutexes and conditions underneath wait in futexes of their own. Same output natively and
 * simulated. */
#include <stdio.h>
#include <threads.h>
#include <time.h>

static mtx_t mutex, timed, recursive;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int turn, calls;
static const char* last_destroyed = "none";

static void count_call(void)
{
  thrd_sleep(&(struct timespec){0, 1000000}, NULL); /* the others have to wait for it */
  ++calls;
}

static void destroyed(void* value)
{
  last_destroyed = value; /* the main thread says it: others may be writing now */
}

static int take_turns(void* argument)
{
  const int me = *(const int*)argument;
  call_once(&once, count_call);
  for (int round = 0; round < 3; ++round) {
    mtx_lock(&mutex);
    while (turn % 3 != me)
      cnd_wait(&changed, &mutex);
    printf("thread %d, round %d\n", me, round);
    ++turn;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
  }
  if (me == 1)
    tss_set(key, "of thread 1");
  thrd_yield();
  if (me == 2)
    thrd_exit(40 + me);
  return 40 + me;
}

/* Holds `timed` until it is told to let go. */
static int let_go, held;

static int hold(void* unused)
{
  mtx_lock(&timed);
  mtx_lock(&mutex);
  held = 1;
  cnd_signal(&changed);
  while (!let_go)
    cnd_wait(&changed, &mutex);
  mtx_unlock(&mutex);
  mtx_unlock(&timed);
  return unused != NULL;
}

static const char* name_of(int status)
{
  switch (status) {
  case thrd_success:
    return "success";
  case thrd_busy:
    return "busy";
  case thrd_timedout:
    return "timed out";
  default:
    return "error";
  }
}

static void lock_types(void)
{
  thrd_t thread;
  struct timespec abstime;
  mtx_init(&timed, mtx_timed);
  mtx_init(&recursive, mtx_plain | mtx_recursive);
  thrd_create(&thread, hold, NULL);
  mtx_lock(&mutex);
  while (!held)
    cnd_wait(&changed, &mutex);
  mtx_unlock(&mutex);
  printf("mtx_trylock: %s\n", name_of(mtx_trylock(&timed)));
  timespec_get(&abstime, TIME_UTC);
  printf("mtx_timedlock: %s\n", name_of(mtx_timedlock(&timed, &abstime)));
  mtx_lock(&mutex);
  let_go = 1;
  cnd_signal(&changed);
  mtx_unlock(&mutex);
  abstime.tv_sec += 1000;
  printf("mtx_timedlock: %s\n", name_of(mtx_timedlock(&timed, &abstime)));
  mtx_unlock(&timed);
  thrd_join(thread, NULL);
  for (int i = 0; i < 3; ++i)
    mtx_lock(&recursive);
  for (int i = 0; i < 3; ++i)
    mtx_unlock(&recursive);
  printf("recursive: %s\n", name_of(mtx_trylock(&recursive)));
  mtx_unlock(&recursive);
  mtx_destroy(&timed);
  mtx_destroy(&recursive);
}

static int detached(void* result)
{
  mtx_lock(&mutex);
  *(int*)result = thrd_equal(thrd_current(), thrd_current()) ? 1 : -1;
  cnd_broadcast(&changed);
  mtx_unlock(&mutex);
  return 0;
}

int main(void)
{
  thrd_t threads[3];
  int numbers[3] = {0, 1, 2};
  mtx_init(&mutex, mtx_timed);
  cnd_init(&changed);
  tss_create(&key, destroyed);
  for (int i = 0; i < 3; ++i)
    if (thrd_create(&threads[i], take_turns, &numbers[i]) != thrd_success)
      return 1;
  int results[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i)
    thrd_join(threads[i], &results[i]);
  printf("results %d %d %d, once: %d, destroyed: %s\n", results[0], results[1], results[2], calls, last_destroyed);

  struct timespec abstime;
  timespec_get(&abstime, TIME_UTC);
  abstime.tv_nsec += 50000000;
  if (abstime.tv_nsec >= 1000000000) {
    abstime.tv_nsec -= 1000000000;
    ++abstime.tv_sec;
  }
  mtx_lock(&mutex);
  printf("timed out: %d\n", cnd_timedwait(&changed, &mutex, &abstime) == thrd_timedout);
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  printf("not before its time: %d\n",
         now.tv_sec > abstime.tv_sec || (now.tv_sec == abstime.tv_sec && now.tv_nsec >= abstime.tv_nsec));
  mtx_unlock(&mutex);

  lock_types();
  static int result;
  thrd_create(&threads[0], detached, &result);
  thrd_detach(threads[0]);
  mtx_lock(&mutex);
  while (result == 0)
    cnd_wait(&changed, &mutex);
  mtx_unlock(&mutex);
  printf("detached: %d\n", result);
  return 0;
}
