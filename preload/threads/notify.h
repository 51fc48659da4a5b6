/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "preload/shim.h"

#include <pthread.h>
#include <signal.h>

#pragma GCC visibility push(hidden)
/* Tells the program by signal or by a call in a new thread, or not at all, sigevent(7); `code` as in siginfo_t. An
 * errno. */
int umw_notify(const struct sigevent* event, int code);
/* A detached simulated thread that blocks all signals; attributes as for pthread_create. An errno. */
int umw_start_helper(const pthread_attr_t* attributes, void* (*start)(void*), void* argument);

/* A call that is due, in a new thread, whenever the signal arrives. */
struct umw_due {
  void (*function)(union sigval);
  union sigval value;
  pthread_attr_t* attributes;
  bool once; /* it comes from malloc, and the call is with no signal blocked, mq_notify(3) */
};
/* One that the C library keeps to itself for the same. */
#define UMW_DUE_SIGNAL 32
/* The thread for that signal, whose value is the address of a struct umw_due. An errno. */
int umw_due_helper(int* tid);
#pragma GCC visibility pop
