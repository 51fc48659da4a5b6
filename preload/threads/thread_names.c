/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Names of threads. The C library has the kernel keep them, for which all threads of the process are one. */
#include "preload/shim.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>

UMW_PUBLIC int pthread_setname_np(pthread_t thread, const char* name)
{
  if (!umw_gate)
    return UMW_REAL(pthread_setname_np)(thread, name);
  char* own = umw_thread_name(thread);
  const size_t length = strlen(name);
  if (length >= UMW_THREAD_NAME)
    return ERANGE;
  if (!own)
    return ENOENT; /* as if its file in /proc were gone, pthread_setname_np(3) */
  memcpy(own, name, length + 1);
  return 0;
}

UMW_PUBLIC int pthread_getname_np(pthread_t thread, char* name, size_t room)
{
  if (!umw_gate)
    return UMW_REAL(pthread_getname_np)(thread, name, room);
  const char* own = umw_thread_name(thread);
  if (room < UMW_THREAD_NAME)
    return ERANGE;
  if (!own)
    return ENOENT;
  memcpy(name, own, UMW_THREAD_NAME);
  return 0;
}

UMW_PUBLIC int prctl(int operation, ...)
{
  unsigned long a[4];
  va_list list;
  va_start(list, operation); /* passing those that are not there does no harm */
  for (int i = 0; i < 4; ++i)
    a[i] = va_arg(list, unsigned long);
  va_end(list);
  char* own =
      umw_gate && (operation == PR_SET_NAME || operation == PR_GET_NAME) ? umw_thread_name(pthread_self()) : NULL;
  if (!own)
    return UMW_REAL(prctl)(operation, a[0], a[1], a[2], a[3]);
  if (operation == PR_GET_NAME) {
    memcpy((char*)a[0], own, UMW_THREAD_NAME);
  } else { /* cut off rather than refused */
    memset(own, 0, UMW_THREAD_NAME);
    memcpy(own, (const char*)a[0], strnlen((const char*)a[0], UMW_THREAD_NAME - 1));
  }
  return 0;
}
