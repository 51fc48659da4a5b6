/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Thread control blocks for simulated threads. One is of an OS thread that the C library has started and that sleeps
 * for ever. It exists so that the C library has set up, and keeps up when libraries are loaded later, everything that
 * hangs on %fs (stack guard, pthread keys, errno, every module's thread-local variables). When its thread has ended the
 * next one gets it: as many are made as the rank has threads at a time. */
#pragma once

#include "preload/shim.h"

struct umw_control_block {
  uint64_t thread_pointer;
  uint32_t kernel_tid, made;
  struct umw_control_block* next;
};

#pragma GCC visibility push(hidden)
/* One that nobody uses, as fresh as the C library makes it; an errno. */
int umw_take_control_block(struct umw_control_block** block);
/* Its thread has ended, is about to, or was not to be. */
void umw_give_control_block(struct umw_control_block* block);
/* The calling thread has nothing left to do on its own: what the C library's own thread-local variables say of it is
 * forgotten. */
void umw_leave_control_block(void);
#pragma GCC visibility pop
