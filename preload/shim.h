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

#include "preload/gate/gate.h"

#define UMW_PUBLIC __attribute__((visibility("default")))

/* The rank's gate; null before the shim's constructor has run, and in a process made by fork(): then every wrapper is the
 * replaced function. */
extern struct umw_gate* umw_gate __attribute__((visibility("hidden")));

static inline void umw_cross(uint32_t op, void* arguments)
{
  umw_gate->cross(umw_gate, op, arguments);
}

/* One client function per service of preload/tables/services.def. */
#define UMW_SERVICE(result_type, name, note, ...)                                                                      \
  static inline __attribute__((unused)) result_type name(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))                         \
  {                                                                                                                    \
    struct umw_args_##name arguments = {0, UMW_LIST(UMW_NAME, __VA_ARGS__)};                                           \
    umw_cross(UMW_OP_##name, &arguments);                                                                              \
    return arguments.result;                                                                                           \
  }
#include "preload/tables/services.def"
#undef UMW_SERVICE

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

/* clock.c: simulated now of the rank and its CPU time. `caller` is the return address of the public function. */
#pragma GCC visibility push(hidden)
int64_t umw_now_ps(const void* caller);
int64_t umw_cpu_ps(const void* caller);

/* mpi_threads.c: "NAME=value;NAME=;...", from the environment */
extern char* umw_thread_multiple_settings;

/* start.c */
struct link_map;
struct link_map* umw_first_object(void);   /* head of the namespace's list: the stub */
struct link_map* umw_program_object(void); /* the program, next to it */
void umw_run_preinit(struct link_map* program, int argc, char** argv, char** envp);
void umw_run_destructors(void);

/* copy_relocations.c, program_tls.c */
void umw_copy_relocations(struct link_map* program);
void umw_load_program_tls(struct link_map* program);

/* threads.c: runs a function so that pthread_exit and cancellation can unwind its stack; then the result is result()'s */
void* umw_run_unwindable(void* (*start)(void*), void* argument, void* (*result)(void));
void* umw_outlast_threads(void); /* does not return */
void umw_test_cancel(void);      /* ends the calling thread if it was cancelled: for calls that may wait */

/* threads.c: id of a living thread of the rank in the simulated world; -1 if there is none */
int umw_thread_id(unsigned long thread);

/* signals.c: the rank dies of `number` unless it has a handler for it */
int umw_raise(int number);

/* wait_fds.c: threads of the rank that wait for a descriptor */
extern int umw_descriptor_waiters;

/* pmi/pmi.c */
void umw_pmi_written(int fd);    /* the program has written to `fd` */
bool umw_pmi_read_again(int fd); /* a read of `fd` failed; true: it was of PMI_FD, and there is something by now */

/* files.c */
const char* umw_program_path(const char* path); /* the program's path if `path` names /proc/self/exe, else `path` */
void umw_standard_streams(void);
#pragma GCC visibility pop
