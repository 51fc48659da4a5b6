/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the shim knows of each thread of the rank (life.c). */
#pragma once

#include "preload/shim.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

struct umw_thread {
  void* (*start)(void*);
  void* argument;
  void* result;
  pthread_t id;
  int tid;
  uint32_t kernel_tid;
  bool detached, ended, cancelled;
  char name[UMW_THREAD_NAME];
  uint64_t stack_top;
  size_t stack_bytes, guard_bytes;
  cpu_set_t cores;
  sigset_t blocked;
  bool has_cores, has_blocked; /* of its own, by its attributes; otherwise inherited */
  uint32_t mxcsr;              /* rounding and traps: inherited */
  uint16_t x87_control;
  struct umw_control_block* block;
  const void *waits_for, *known_as; /* in umw_wait_at(), or when a handler's long jump has left that */
  struct umw_thread* next;
};

#pragma GCC visibility push(hidden)
extern struct umw_thread* umw_threads; /* all but the main one */
extern struct umw_thread umw_main_thread;
extern _Thread_local struct umw_thread* umw_current_thread;

static inline struct umw_thread* umw_this_thread(void)
{
  return umw_current_thread ? umw_current_thread : &umw_main_thread;
}

/* That and no other, be it joinable or not; null: there is none. */
struct umw_thread* umw_joinable(pthread_t id);

/* keys.c: at the end of a thread */
void umw_run_key_destructors(void);

/* cancellation.c: it was, and lets itself */
bool umw_cancellable(void);

/* mutexes.c: those of a thread that ends, by its kernel_tid; its list. Null: there is none. */
struct robust_list_head* umw_release_robust(uint32_t owner);
void umw_empty_robust_list(struct robust_list_head* head);
#pragma GCC visibility pop
