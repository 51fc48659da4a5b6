/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads of a rank. A simulated thread runs on a stack and a thread control block of its own, but on the one OS thread
 * of the simulation; if it blocked in the kernel, everything would stop. Every blocking call of this directory is
 * therefore a loop of the C library's own non-blocking one and a wait at the gate (waiting.h), which ends when another
 * thread of the rank has released something. Objects keep the C library's layout and state, so that what is not
 * interposed still agrees with them.
 *
 * Here: how one begins, ends and is joined.
 */
#include "preload/shim.h"

#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/namespace/namespace.h"
#include "preload/threads/record.h"
#include "preload/threads/thread_blocks.h"
#include "preload/threads/waiting.h"

struct umw_thread* umw_threads;
struct umw_thread umw_main_thread;

void umw_note_main_thread(void)
{
  umw_main_thread.id = pthread_self();
  if (!umw_gate)
    return;
  umw_main_thread.kernel_tid = (uint32_t)umw_gate->kernel_tid;
  const char* file = strrchr(umw_gate->program, '/');
  strncpy(umw_main_thread.name, file ? file + 1 : umw_gate->program, sizeof umw_main_thread.name - 1);
}

/* GLIBC_PRIVATE: destructors of thread_local objects */
void __call_tls_dtors(void);

_Thread_local struct umw_thread* umw_current_thread;

static struct umw_thread** find_thread(pthread_t id)
{
  for (struct umw_thread** link = &umw_threads; *link; link = &(*link)->next)
    if ((*link)->id == id)
      return link;
  return NULL;
}

char* umw_thread_name(pthread_t id)
{
  if (id == umw_main_thread.id)
    return umw_main_thread.name;
  struct umw_thread** link = find_thread(id);
  return link ? (*link)->name : NULL;
}

int umw_thread_id(pthread_t id)
{
  if (id == pthread_self())
    return umw_gate->tid;
  if (id == umw_main_thread.id)
    return umw_gate->pid;
  struct umw_thread** link = find_thread(id);
  return !link ? -1 : (*link)->ended ? 0 : (*link)->tid;
}

/* Nobody can ask for it any more. */
static void forget(struct umw_thread* thread)
{
  struct umw_thread** link = find_thread(thread->id);
  if (link)
    *link = thread->next;
  umw_give_control_block(thread->block);
  free(thread);
}

void umw_release_robust_mutexes(void)
{
  umw_release_robust(umw_main_thread.kernel_tid);
  for (const struct umw_thread* thread = umw_threads; thread; thread = thread->next)
    if (!thread->ended)
      umw_release_robust(thread->kernel_tid);
}

static void do_nothing(void* unused)
{
  (void)unused;
}

int __cxa_thread_atexit_impl(void (*destructor)(void*), void* object, void* dso_symbol);
extern void* __dso_handle;

static void end_of_thread(void* result)
{
  struct umw_thread* thread = umw_current_thread;
  /* The C library remembers the object whose destructor was registered last; it may be unloaded before the next thread.
   */
  __cxa_thread_atexit_impl(do_nothing, NULL, &__dso_handle);
  __call_tls_dtors(); /* thread_local, then pthread keys: the order of the C library's start_thread */
  umw_run_key_destructors();
  struct robust_list_head* robust = umw_release_robust(thread->kernel_tid);
  if (robust)
    umw_empty_robust_list(robust);
  umw_leave_control_block();
  thread->result = result;
  thread->ended = true;
  if (thread->detached)
    forget(thread);
  umw_changed();
  umw_thread_end(0);
}

/* Runs a thread's function, or main. pthread_exit and cancellation are the C library's own: they unwind the stack
 * (destructors, cleanup handlers) down to the buffer registered here, as down to its own start_thread. */
void* umw_run_unwindable(void* (*start)(void*), void* argument, void* (*result)(void))
{
  __pthread_unwind_buf_t buffer;
  if (__sigsetjmp_cancel(buffer.__cancel_jmp_buf, 0) != 0)
    return result();
  __pthread_register_cancel(&buffer);
  void* returned = start(argument);
  __pthread_unregister_cancel(&buffer);
  return returned;
}

static void* result_of_exit(void)
{
  return umw_current_thread->result;
}

static void run_thread(void* argument)
{
  struct umw_thread* thread = argument;
  umw_current_thread = thread;
  __asm__ volatile("ldmxcsr %0\n\tfninit\n\tfldcw %1" : : "m"(thread->mxcsr), "m"(thread->x87_control));
  uselocale(LC_GLOBAL_LOCALE);
  thread->stack_top = umw_stack_top(0);
  thread->tid = umw_gate->tid;
  thread->kernel_tid = (uint32_t)umw_gate->kernel_tid;
  if (thread->has_cores)
    umw_affinity_set(0, (const unsigned char*)&thread->cores, sizeof thread->cores);
  if (thread->has_blocked)
    pthread_sigmask(SIG_SETMASK, &thread->blocked, NULL);
  end_of_thread(umw_run_unwindable(thread->start, thread->argument, result_of_exit));
}

/* pthread_attr_setaffinity_np and pthread_attr_setsigmask_np; 0 or EINVAL: none of the cores is there. */
static int take_attributes(struct umw_thread* thread, const pthread_attr_t* attributes)
{
  cpu_set_t all; /* what the C library answers where there are none */
  memset(&all, 0xff, sizeof all);
  thread->has_blocked = pthread_attr_getsigmask_np(attributes, &thread->blocked) == 0;
  thread->has_cores = pthread_attr_getaffinity_np(attributes, sizeof thread->cores, &thread->cores) == 0 &&
                      !CPU_EQUAL(&thread->cores, &all);
  for (int core = 0; thread->has_cores && core < umw_gate->cores; ++core)
    if (CPU_ISSET((size_t)core, &thread->cores))
      return 0;
  return thread->has_cores ? EINVAL : 0;
}

UMW_PUBLIC int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*start)(void*), void* argument)
{
  if (!umw_gate)
    return UMW_REAL(pthread_create)(id, attributes, start, argument);
  struct umw_thread* thread = calloc(1, sizeof *thread);
  if (!thread)
    return EAGAIN;
  thread->start = start;
  thread->argument = argument;
  int state = PTHREAD_CREATE_JOINABLE;
  pthread_attr_t usual;
  if (!attributes)
    pthread_attr_init(&usual);
  pthread_attr_getstacksize(attributes ? attributes : &usual, &thread->stack_bytes);
  pthread_attr_getguardsize(attributes ? attributes : &usual, &thread->guard_bytes);
  pthread_attr_getdetachstate(attributes ? attributes : &usual, &state);
  thread->detached = state == PTHREAD_CREATE_DETACHED;
  memcpy(thread->name, umw_this_thread()->name, sizeof thread->name); /* inherited */
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(thread->mxcsr), "=m"(thread->x87_control));
  int error = attributes ? take_attributes(thread, attributes) : 0;
  if (error == 0)
    error = umw_take_control_block(&thread->block);
  if (error != 0) {
    free(thread);
    return error;
  }
  thread->id = (pthread_t)thread->block->thread_pointer;
  thread->next = umw_threads; /* known before it runs, which may be at once */
  umw_threads = thread;
  *id = thread->id;
  ++umw_threads_started;
  const int tid = umw_thread_create(run_thread, thread, thread->stack_bytes, thread->block->thread_pointer,
                                    (int)thread->block->kernel_tid);
  if (tid < 0) {
    forget(thread);
    return -tid;
  }
  struct umw_thread** link = find_thread(*id);
  if (link && (*link)->tid == 0) /* else it has run since, perhaps to its end */
    (*link)->tid = tid;
  return 0;
}

/* The C library speaks of the thread that lends its control block. */
UMW_PUBLIC int pthread_getattr_np(pthread_t id, pthread_attr_t* attributes)
{
  const int error = UMW_REAL(pthread_getattr_np)(id, attributes);
  if (error == 0 && id == umw_main_thread.id && umw_in_namespace()) { /* as of a process's stack: no guard */
    void* const bottom = (void*)umw_namespace_auxiliary(UMW_STACK_AUXV);
    pthread_attr_setstack(attributes, bottom, umw_namespace_stack_top() - (uintptr_t)bottom);
    pthread_attr_setguardsize(attributes, 0);
    pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_JOINABLE);
    return 0;
  }
  struct umw_thread** link = error == 0 && umw_gate ? find_thread(id) : NULL;
  if (!link || (*link)->stack_top == 0)
    return error;
  const struct umw_thread* thread = *link;
  pthread_attr_setstack(attributes, (void*)(thread->stack_top - thread->stack_bytes), thread->stack_bytes);
  pthread_attr_setguardsize(attributes, thread->guard_bytes);
  pthread_attr_setdetachstate(attributes, thread->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  return 0;
}

struct umw_thread* umw_joinable(pthread_t id)
{
  struct umw_thread** link = find_thread(id);
  return id == umw_main_thread.id ? &umw_main_thread : link ? *link : NULL;
}

static int join(pthread_t id, void** result, clockid_t clock, const struct timespec* abstime, bool wait)
{
  struct umw_thread* const thread = umw_joinable(id);
  if (!thread)
    return ESRCH;
  if (thread->detached)
    return EINVAL;
  if (wait && id == pthread_self())
    return EDEADLK;
  for (uint64_t seen = umw_wakes(); !thread->ended; seen = umw_wakes()) {
    if (!wait)
      return EBUSY;
    const int64_t left = abstime ? umw_time_left(clock, abstime) : -1;
    if (left == 0)
      return ETIMEDOUT;
    umw_test_cancel();
    umw_wait_for_change(seen, left);
  }
  if (result)
    *result = thread->result;
  thread->detached = true; /* once: the record of the main thread stays */
  if (thread != &umw_main_thread) {
    umw_thread_join((uint64_t)id, true);
    forget(thread);
  }
  return 0;
}

UMW_PUBLIC int pthread_join(pthread_t id, void** result)
{
  return umw_gate ? join(id, result, CLOCK_REALTIME, NULL, true) : UMW_REAL(pthread_join)(id, result);
}

UMW_PUBLIC int pthread_tryjoin_np(pthread_t id, void** result)
{
  return umw_gate ? join(id, result, CLOCK_REALTIME, NULL, false) : UMW_REAL(pthread_tryjoin_np)(id, result);
}

UMW_PUBLIC int pthread_timedjoin_np(pthread_t id, void** result, const struct timespec* abstime)
{
  return umw_gate ? join(id, result, CLOCK_REALTIME, abstime, true)
                  : UMW_REAL(pthread_timedjoin_np)(id, result, abstime);
}

UMW_PUBLIC int pthread_clockjoin_np(pthread_t id, void** result, clockid_t clock, const struct timespec* abstime)
{
  if (!umw_gate)
    return UMW_REAL(pthread_clockjoin_np)(id, result, clock, abstime);
  return umw_may_wait_by(clock) ? join(id, result, clock, abstime, true) : EINVAL;
}

UMW_PUBLIC int pthread_detach(pthread_t id)
{
  if (!umw_gate)
    return UMW_REAL(pthread_detach)(id);
  struct umw_thread* const thread = umw_joinable(id);
  if (!thread)
    return ESRCH;
  if (thread->detached)
    return EINVAL;
  thread->detached = true;
  if (thread->ended && thread != &umw_main_thread)
    forget(thread);
  return 0;
}

UMW_PUBLIC void pthread_exit(void* result)
{
  if (umw_gate)
    umw_this_thread()->result = result;
  UMW_REAL(pthread_exit)(result);
  __builtin_unreachable();
}

/* main has called pthread_exit: the others go on, pthread_exit(3). */
void* umw_outlast_threads(void)
{
  umw_main_thread.ended = true;
  umw_changed();
  for (uint64_t seen = umw_wakes();; seen = umw_wakes()) {
    const struct umw_thread* thread = umw_threads;
    while (thread && thread->ended)
      thread = thread->next;
    if (!thread)
      exit(0);
    umw_wait_for_change(seen, -1);
  }
}
