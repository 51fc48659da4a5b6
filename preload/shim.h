/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rules for every file of the shim: C library only; no locks; errno as the replaced function would leave it; no
 * allocation before the program's constructors have run. A wrapper does its own work or crosses, nothing else. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/abi/gate.h"

#define UMW_PUBLIC __attribute__((visibility("default")))

/* The rank's gate; null before the shim's constructor has run, and in a process made by fork(): then every wrapper is
 * the replaced function. */
extern struct umw_gate* umw_gate __attribute__((visibility("hidden")));

/* process/signals.c: handlers that have run in this thread; a call that waits compares before and after */
struct umw_interruptions {
  unsigned handled, final; /* final: of those without SA_RESTART */
};
extern _Thread_local struct umw_interruptions umw_interruptions __attribute__((visibility("hidden")));
void umw_act_on_signals(void) __attribute__((visibility("hidden")));

/* A signal is acted upon on the way back, as at the end of a system call. */
static inline void umw_cross(uint32_t op, void* arguments)
{
  umw_gate->cross(umw_gate, op, arguments);
  if (umw_gate->signal_due)
    umw_act_on_signals();
}

/* One client function per service of preload/abi/tables/services.def. */
#define UMW_SERVICE(result_type, name, kind, note, ...)                                                                \
  static inline __attribute__((unused)) result_type name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                         \
  {                                                                                                                    \
    struct umw_args_##name arguments = {0, UMW_LIST(UMW_NAME, __VA_ARGS__)};                                           \
    umw_cross(UMW_OP_##name, &arguments);                                                                              \
    return arguments.result;                                                                                           \
  }
#include "preload/abi/tables/services.def"
#undef UMW_SERVICE

#ifdef UMWELT_COVERAGE /* a rank does not come back from it, so nothing else would write what was counted */
void __gcov_dump(void);
#define umw_exit(...) (__gcov_dump(), umw_exit(__VA_ARGS__))
#endif

/* The function that is being replaced. */
#define UMW_REAL(name)                                                                                                 \
  (__extension__({                                                                                                     \
    static __typeof__(&name) real_;                                                                                    \
    if (!real_)                                                                                                        \
      *(void**)&real_ = dlsym(RTLD_NEXT, #name);                                                                       \
    real_;                                                                                                             \
  }))

/* Result of a service (negative errno) as a C library function returns it. */
static inline int umw_result(int64_t result)
{
  if (result >= 0)
    return (int)result;
  errno = (int)-result;
  return -1;
}

/* time/clock.c: simulated now of the rank and its CPU time. `caller` is the return address of the public function. */
#pragma GCC visibility push(hidden)
int64_t umw_now_ps(const void* caller);
int64_t umw_cpu_ps(const void* caller);

/* process/start.c: what a library has under this name, also one that was opened later than the program (mpi4py), out of
 * RTLD_NEXT's sight; null if it is not loaded. `library` is how the name of its file begins. */
void* umw_symbol_of(const char* library, const char* name);

/* threads/life.c: runs a function so that pthread_exit and cancellation can unwind its stack; then the result is
 * result()'s */
void* umw_run_unwindable(void* (*start)(void*), void* argument, void* (*result)(void));
void* umw_outlast_threads(void); /* does not return */
void umw_test_cancel(void);      /* ends the calling thread if it was cancelled: for calls that may wait */

/* threads/waiting.c: waits until another thread of the rank has said umw_changed, or for so long (negative: no limit),
 * unless the gate's count of wakes is no longer `seen`; may return early */
void umw_wait_for_change(uint64_t seen, int64_t duration_ps);
void umw_changed(void);

/* threads/life.c: id of a thread of the rank on the simulated machine; 0: it has ended, -1: there is none */
int umw_thread_id(unsigned long thread);
/* Its name; null: there is none such. */
#define UMW_THREAD_NAME 16 /* TASK_COMM_LEN of Linux, with the end of the text */
char* umw_thread_name(unsigned long thread);

/* threads/life.c: the rank ends, and with it all of its threads */
void umw_release_robust_mutexes(void);

/* process/start.c: the rank, or a process that is none (null), begins; the first initialiser does that, or what comes
 * in its place */
void umw_begin_rank(struct umw_gate* gate);
/* for it: process/process.c, threads/life.c, memory/node_memory.c */
void umw_register_quick_exit(void);
void umw_watch_forks(void);
void umw_note_main_thread(void);
void umw_find_copy_functions(void);

/* threads/linker_lock.c: ld.so's locks are of the simulation from now on; while the rank has one thread. Where its
 * calls of them are not found everything stays as it was. */
void umw_take_linker_lock(void);
/* Others run for so long; twice as long the next time, up to a limit. For who may have been called where nothing may
 * come in between (gate: no_preempt). */
#define UMW_FIRST_PAUSE 1000000 /* ps */
void umw_let_others_run(int64_t* pause_ps);

/* process/signals.c: tells the runtime how to reach the handlers of the rank */
void umw_offer_delivery(void);

/* process/signals.c: those with SIG_IGN, which survive execve(2) */
uint64_t umw_explicitly_ignored(void) __attribute__((visibility("hidden")));

/* process/signals.c: whether it is one, of the machine and outside of the simulation */
bool umw_is_child(int pid);

/* process/signals.c: in a child made by fork(), the kernel gets the handlers of the rank and the mask of the thread */
void umw_signals_of_child(uint64_t mask);

/* process/signals.c: the calling thread's mask is `sigset` (null: its own) until a handler has run or the wait is over
 */
void umw_mask_during(const void* sigset);
void umw_mask_after(void);

/* time/timers.c: descriptors of timerfd_create */
bool umw_timer_fd_wait(int fd);             /* a read of `fd` is next: waits until it would not block; false: EINTR */
void umw_timer_fd_copied(int from, int to); /* dup */
void umw_timer_fd_closed(int fd);

/* io/mqueue.c: a descriptor of mq_open is closed */
void umw_queue_fd_closed(int fd);

/* descriptors/wait_fds.c: threads of the rank that wait for a descriptor */
extern int umw_descriptor_waiters;

/* pmi/pmi.c */
bool umw_is_pmi(int fd);      /* it is PMI_FD, or a copy of it */
void umw_pmi_written(int fd); /* the program has written to `fd` */
/* Lets the workers of UCX advance (ucx.c). False: there are none. */
bool umw_ucx_progress(void);
bool umw_pmi_read_again(int fd); /* a read of `fd` failed; true: it was of PMI_FD, and there is something by now */

/* memory/memory.c: mmap(2) of what is `fd` in the process */
void* umw_map(void* hint, size_t size, int protection, int flags, int fd, int64_t offset);

/* memory/memory.c: before fork(): what the rank shares with the runtime becomes its own */
void umw_unshare_memory(void);

/* descriptors/streams.c: a stream of a descriptor on which a call may wait; null: errno */
struct _IO_FILE;
struct _IO_FILE* umw_stream_of(int fd, const char* mode);

/* memory/numa.c: answers one of the calls for memory policies, with a negative errno; false: it is none. `a`: its
 * arguments */
bool umw_memory_policy(long number, const long* a, int* result);

/* files.c */
void umw_standard_streams(void);
#pragma GCC visibility pop
