/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What threads are told of their stacks, which collectors of garbage and run-times with guard pages of their own rely
 * on. Same output natively and simulated. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t both;

static void look_at(pthread_t thread, const char* who, const char* inside)
{
  pthread_attr_t attributes;
  void* base = NULL;
  size_t size = 0, guard = 0;
  int state = -1;
  if (pthread_getattr_np(thread, &attributes) != 0)
    return;
  pthread_attr_getstack(&attributes, &base, &size);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_getdetachstate(&attributes, &state);
  pthread_attr_destroy(&attributes);
  const char* top = (const char*)base + size;
  printf("%s: %zu bytes, guard %zu, detached %d; inside %d, near its top %d\n", who, size, guard,
         state == PTHREAD_CREATE_DETACHED, inside >= (const char*)base && inside < top, top - inside < 64 << 10);
}

static char* volatile other;

static void* live(void* who)
{
  char here[4096];
  memset(here, 1, sizeof here);
  look_at(pthread_self(), who, here);
  other = here;
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  return NULL;
}

static void with(const pthread_attr_t* attributes, const char* who)
{
  pthread_t thread;
  if (pthread_create(&thread, attributes, live, (void*)who) != 0)
    return;
  pthread_barrier_wait(&both);
  look_at(thread, "  seen by another", other);
  pthread_barrier_wait(&both);
  pthread_join(thread, NULL);
}

int main(void)
{
  pthread_attr_t attributes;
  pthread_barrier_init(&both, NULL, 2);
  with(NULL, "usual");
  pthread_attr_init(&attributes);
  with(&attributes, "usual attributes");
  pthread_attr_setstacksize(&attributes, 24 << 20);
  pthread_attr_setguardsize(&attributes, 3 * (size_t)sysconf(_SC_PAGESIZE));
  with(&attributes, "large");
  pthread_attr_setstacksize(&attributes, 128 << 10);
  with(&attributes, "small");
  with(NULL, "usual again");
  return 0;
}
