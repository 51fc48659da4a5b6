/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What pthread_create(3) is told of a thread: its cores and its signals; and waits for conditions with a mutex that is
 * not at hand. Same output natively and simulated. threads_attributes relock mutex|rwlock: a single thread waits for
 * itself */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char* name_of(int error)
{
  return error == 0 ? "0" : strerrorname_np(error);
}

static void* look(void* unused)
{
  cpu_set_t cores;
  sigset_t blocked;
  sched_getaffinity(0, sizeof cores, &cores);
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  printf("one core: %s, the first: %s, USR1 %s, USR2 %s\n", CPU_COUNT(&cores) == 1 ? "yes" : "no",
         CPU_ISSET(0, &cores) ? "yes" : "no", sigismember(&blocked, SIGUSR1) ? "blocked" : "open",
         sigismember(&blocked, SIGUSR2) ? "blocked" : "open");
  return unused;
}

static void create(const char* what, const pthread_attr_t* attributes)
{
  pthread_t thread;
  const int error = pthread_create(&thread, attributes, look, NULL);
  if (error == 0)
    pthread_join(thread, NULL);
  printf("%s: %s\n", what, name_of(error));
}

static void attributes(void)
{
  pthread_attr_t attributes;
  cpu_set_t cores;
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL); /* of the creator, inherited */
  CPU_ZERO(&cores);
  CPU_SET(0, &cores);
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
  create("a core of its own", &attributes);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_attr_setsigmask_np(&attributes, &blocked);
  create("signals of its own", &attributes);
  CPU_ZERO(&cores);
  CPU_SET(CPU_SETSIZE - 1, &cores);
  pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
  create("no such core", &attributes);
  pthread_attr_destroy(&attributes);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t mutex;

static void make(int type, int robust)
{
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setrobust(&attributes, robust);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static void* die_with_it(void* unused)
{
  pthread_mutex_lock(&mutex);
  pthread_cond_signal(&condition);
  return unused;
}

static void conditions(void)
{
  pthread_t thread;
  make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
  printf("a mutex that is not locked: %s\n", name_of(pthread_cond_wait(&condition, &mutex)));
  pthread_cond_signal(&condition); /* nobody waits */
  make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, die_with_it, NULL);
  printf("one whose owner has died: %s, ", name_of(pthread_cond_wait(&condition, &mutex)));
  printf("consistent: %s, ", name_of(pthread_mutex_consistent(&mutex)));
  printf("unlock: %s\n", name_of(pthread_mutex_unlock(&mutex)));
  pthread_join(thread, NULL);
}

/* Before there is another thread. */
static void alone(void)
{
  make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
  printf("lock: %s, ", name_of(pthread_mutex_lock(&mutex)));
  printf("again: %s\n", name_of(pthread_mutex_lock(&mutex)));
  make(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
  printf("lock: %s, ", name_of(pthread_mutex_lock(&mutex)));
  printf("again: %s\n", name_of(pthread_mutex_lock(&mutex)));
}

int main(int argc, char** argv)
{
  if (argc > 2 && strcmp(argv[2], "mutex") == 0) {
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
  } else if (argc > 2) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_wrlock(&lock);
  }
  alone();
  attributes();
  conditions();
  return 0;
}
