/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 *   threads_again THREADS PLUGIN
 *
 * Many short threads, one after another: each finds everything that belongs to a thread as new, uses it and leaves it
 * like that, in every way in which a thread can end; and they cost the process nothing that stays. Same output natively
 * and simulated. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread int counter = 5;
static __thread char zeroes[300];
static pthread_key_t plain_key, destroyed_key, late_key;
static pthread_mutex_t robust;
static sem_t over;
static int (*next_number)(void);
static locale_t other_locale;
static char usual_name[16];
static long not_fresh, destroyed, owner_died;

static void expect(bool fresh, const char* what)
{
  if (!fresh && not_fresh++ < 10)
    printf("expected a new %s, got a used one\n", what);
}

static void destroy(void* value)
{
  if (value == &over) /* a detached thread may not be over in time */
    return;
  ++destroyed;
  if (value == &plain_key) /* once more, with another key */
    pthread_setspecific(late_key, &late_key);
}

static void look(void)
{
  char name[16];
  int old = -1;
  sigset_t mask;
  stack_t stack;
  expect(counter == 5 && zeroes[0] == 0 && zeroes[299] == 0, "thread-local variable");
  expect(!next_number || next_number() == 49, "thread-local variable of a library");
  expect(errno == 0, "errno");
  expect(!pthread_getspecific(plain_key) && !pthread_getspecific(destroyed_key) && !pthread_getspecific(late_key),
         "key");
  expect(uselocale((locale_t)0) == LC_GLOBAL_LOCALE, "locale");
  expect(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, usual_name) == 0, "name");
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
  expect(old == PTHREAD_CANCEL_ENABLE, "cancellation state");
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
  expect(old == PTHREAD_CANCEL_DEFERRED, "cancellation type");
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  expect(!sigismember(&mask, SIGUSR1), "signal mask");
  sigaltstack(NULL, &stack);
  expect(stack.ss_flags == SS_DISABLE, "signal stack");
  expect(!dlerror(), "error of dlopen");
}

static void use(bool detached)
{
  sigset_t mask;
  counter = 6;
  memset(zeroes, 1, sizeof zeroes);
  pthread_setspecific(plain_key, &counter);
  pthread_setspecific(destroyed_key, detached ? &over : (void*)&plain_key);
  uselocale(other_locale);
  pthread_setname_np(pthread_self(), "renamed");
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mask, NULL);
  const stack_t stack = {.ss_sp = zeroes, .ss_size = sizeof zeroes};
  sigaltstack(&stack, NULL);
  dlopen("/nowhere/libnothing.so", RTLD_NOW);
  errno = ERANGE;
}

static void* live(void* argument)
{
  const long number = (long)argument;
  look();
  if (number % 8 == 7) { /* the next to take it is told */
    const int error = pthread_mutex_lock(&robust);
    owner_died += error == EOWNERDEAD;
    if (error == EOWNERDEAD)
      pthread_mutex_consistent(&robust);
  }
  use(number % 4 == 3);
  switch (number % 4) {
  case 0:
    return argument;
  case 1:
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_exit(argument);
  case 2:
    sem_post(&over);
    for (;;)
      pause(); /* until it is cancelled */
  default:
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sem_post(&over);
    return NULL;
  }
}

static long mappings(void)
{
  FILE* file = fopen("/proc/self/maps", "r");
  long lines = 0;
  for (int c = getc(file); c != EOF; c = getc(file))
    lines += c == '\n';
  fclose(file);
  return lines;
}

static long resident(void)
{
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%*d %ld", &pages) != 1)
    pages = -1;
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE) >> 10;
}

int main(int argc, char** argv)
{
  const long count = argc > 1 ? atol(argv[1]) : 100;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &attributes);
  sem_init(&over, 0, 0);
  pthread_key_create(&plain_key, NULL);
  pthread_key_create(&destroyed_key, destroy);
  pthread_key_create(&late_key, destroy);
  other_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  pthread_getname_np(pthread_self(), usual_name, sizeof usual_name);
  long joined = 0, cancelled = 0, mapped = 0, used = 0;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (long i = 0; i < count; ++i) {
    if (i == 50 && argc > 2) {
      void* plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
      *(void**)&next_number = plugin ? dlsym(plugin, "next_number") : NULL;
      printf("plugin: %d\n", next_number != NULL);
    }
    if (i == count / 10) {
      mapped = mappings();
      used = resident();
    }
    pthread_t thread;
    const int error = pthread_create(&thread, i % 4 == 3 ? &detached : NULL, live, (void*)i);
    if (error != 0) {
      printf("thread %ld: %s\n", i, strerror(error));
      return 1;
    }
    void* result = NULL;
    if (i % 4 >= 2)
      sem_wait(&over);
    if (i % 4 == 2)
      pthread_cancel(thread);
    if (i % 4 != 3)
      pthread_join(thread, &result);
    joined += result == (void*)i;
    cancelled += result == PTHREAD_CANCELED;
  }
  printf("joined %ld, cancelled %ld, destroyed %ld, owner died %ld, not fresh %ld\n", joined, cancelled, destroyed,
         owner_died, not_fresh);
  printf("few mappings more: %d, little memory more: %d\n", mappings() - mapped < 400, resident() - used < 8 << 10);
  return 0;
}
