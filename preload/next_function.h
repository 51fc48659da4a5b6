/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The function that is being replaced, also one of a library that only the caller's own library has loaded (dlopen
 * without RTLD_GLOBAL). Null: there is none. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <stddef.h>

static inline void* umw_next_function(const char* name, const void* caller)
{
  void* real = dlsym(RTLD_NEXT, name);
  Dl_info object;
  if (real || dladdr(caller, &object) == 0)
    return real;
  void* library = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library) {
    real = dlsym(library, name);
    dlclose(library);
  }
  return real;
}
