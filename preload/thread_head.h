/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What a thread control block of glibc begins with (sysdeps/x86_64/nptl/tls.h). */
#pragma once

#include <stddef.h>

/* An entry of the table of modules' thread-local variables. The one before the first says how many there are. */
union umw_dtv {
  size_t count;
  struct {
    void *variables, *to_free;
  } module;
};

struct umw_thread_head {
  void* self;
  union umw_dtv* modules;
};
