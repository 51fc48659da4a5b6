/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Destructors of pthread keys at the end of a simulated thread.
 */
#include "preload/shim.h"

#include <limits.h>
#include <pthread.h>

#include "preload/threads/record.h"

/* pthread keys are the C library's own; only it knows their destructors, so they are noted as keys are made. */
static void (*key_destructors[PTHREAD_KEYS_MAX])(void*);
static pthread_key_t keys; /* those below have been made */

UMW_PUBLIC int pthread_key_create(pthread_key_t* key, void (*destructor)(void*))
{
  const int error = UMW_REAL(pthread_key_create)(key, destructor);
  if (error == 0 && *key < PTHREAD_KEYS_MAX) {
    key_destructors[*key] = destructor;
    if (keys <= *key)
      keys = *key + 1;
  }
  return error;
}

/* What libraries call that were built before libpthread became part of the C library. */
int __pthread_key_create(pthread_key_t* key, void (*destructor)(void*));
UMW_PUBLIC int __pthread_key_create(pthread_key_t* key, void (*destructor)(void*))
{
  return pthread_key_create(key, destructor);
}

UMW_PUBLIC int pthread_key_delete(pthread_key_t key)
{
  const int error = UMW_REAL(pthread_key_delete)(key);
  if (error == 0 && key < PTHREAD_KEYS_MAX)
    key_destructors[key] = NULL;
  return error;
}

void umw_run_key_destructors(void)
{
  bool again = true;
  for (int round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    again = false;
    for (pthread_key_t key = 0; key < keys; ++key) {
      void* value = key_destructors[key] ? pthread_getspecific(key) : NULL;
      if (!value)
        continue;
      pthread_setspecific(key, NULL);
      key_destructors[key](value);
      again = true;
    }
  }
  for (pthread_key_t key = 0; key < keys; ++key) /* the next thread on this control block has none */
    if (pthread_getspecific(key))
      pthread_setspecific(key, NULL);
}
