/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads of a rank. A simulated thread runs on a stack and a thread control block of its own, but on the one OS thread of
 * the simulation; if it blocked in the kernel, everything would stop. Every blocking call here is therefore a loop of the C
 * library's own non-blocking one and a wait at the gate, which ends when another thread of the rank has released
 * something. Objects keep the C library's layout and state, so that what is not interposed still agrees with them.
 */
#include "preload/shim.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "preload/node_memory.h"

static int threads_started; /* 0: nobody can hold a lock that we want, the C library's own calls will do */
static int waiters;

/* Every crossing may let another thread run. So a wait names the count of wakes from before its condition was looked at, and
 * does not begin if there has been one since. */
static uint64_t wakes(void)
{
  return umw_gate->wakes;
}

static void wait_for_change(uint64_t seen, int64_t duration_ps)
{
  ++waiters;
  umw_thread_wait(seen, duration_ps);
  --waiters;
}

/* Where an object lies that ranks of the node share; `shared` false: it is the rank's own, whatever its attributes say. */
struct object {
  bool shared;
  struct umw_place place;
  uint64_t seen; /* count of wakes, or of releases, from before it was looked at */
};

static void look(struct object* object)
{
  object->seen = object->shared ? umw_gate->releases : wakes();
}

static struct object object_at(const void* address, bool shared)
{
  struct object object = {.shared = shared};
  object.shared = shared && umw_shared_place(address, &object.place);
  look(&object);
  return object;
}

static void wait_for_object(const struct object* object, int64_t duration_ps)
{
  if (object->shared)
    umw_object_wait(object->place.device, object->place.inode, object->place.offset, object->seen, duration_ps);
  else
    wait_for_change(object->seen, duration_ps);
}

/* A thread takes and releases what others want at its own time: what it has computed so far has passed, and who is due
 * before runs first. Short bursts are left standing; they would cost more than they tell. */
static void at_own_time(bool shared)
{
  const struct umw_clock* clock = &umw_gate->clock;
  const int64_t shortest = 500000; /* ps */
  if ((threads_started > 0 || shared) && clock->ps_per_tick > 0 &&
      (int64_t)((double)(int64_t)(__builtin_ia32_rdtsc() - clock->burst_start) * clock->ps_per_tick) > shortest)
    umw_clock_settle(0);
}

static void changed(void)
{
  ++umw_gate->wakes;
  if (waiters > 0)
    umw_thread_wake(0);
}

static void released(const struct object* object)
{
  if (object->shared)
    umw_object_wake(object->place.device, object->place.inode, object->place.offset);
  else
    changed();
}

/* Simulated time left until an absolute date of a clock; 0 if it has passed. */
static int64_t time_left(clockid_t id, const struct timespec* date)
{
  struct timespec now;
  clock_gettime(id, &now);
  const int64_t seconds = date->tv_sec - now.tv_sec;
  if (seconds > INT64_MAX / 4 / 1000000000000)
    return INT64_MAX / 4;
  const int64_t left = seconds * 1000000000000 + (date->tv_nsec - now.tv_nsec) * 1000;
  return left > 0 ? left : 0;
}

static bool valid(const struct timespec* date)
{
  return date->tv_nsec >= 0 && date->tv_nsec < 1000000000;
}

/* --- life of a thread ------------------------------------------------------------------------------------------------ */

struct thread {
  void* (*start)(void*);
  void* argument;
  void* result;
  pthread_t id;
  int tid;
  uint32_t kernel_tid;
  bool detached, ended, cancelled;
  struct thread* next;
};
static struct thread* threads; /* all but the main one */
static struct thread main_thread;

__attribute__((constructor)) static void note_main_thread(void)
{
  main_thread.id = pthread_self();
  if (umw_gate)
    main_thread.kernel_tid = (uint32_t)umw_gate->kernel_tid;
}

/* GLIBC_PRIVATE: destructors of thread_local objects */
void __call_tls_dtors(void);

static _Thread_local struct thread* current_thread;

/* pthread keys are the C library's own; only it knows their destructors, so they are noted as keys are made. */
static void (*key_destructors[PTHREAD_KEYS_MAX])(void*);

UMW_PUBLIC int pthread_key_create(pthread_key_t* key, void (*destructor)(void*))
{
  const int error = UMW_REAL(pthread_key_create)(key, destructor);
  if (error == 0 && *key < PTHREAD_KEYS_MAX)
    key_destructors[*key] = destructor;
  return error;
}

UMW_PUBLIC int pthread_key_delete(pthread_key_t key)
{
  const int error = UMW_REAL(pthread_key_delete)(key);
  if (error == 0 && key < PTHREAD_KEYS_MAX)
    key_destructors[key] = NULL;
  return error;
}

static void run_key_destructors(void)
{
  bool again = true;
  for (int round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    again = false;
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key) {
      void* value = key_destructors[key] ? pthread_getspecific(key) : NULL;
      if (!value)
        continue;
      pthread_setspecific(key, NULL);
      key_destructors[key](value);
      again = true;
    }
  }
}

static struct thread** find_thread(pthread_t id)
{
  for (struct thread** link = &threads; *link; link = &(*link)->next)
    if ((*link)->id == id)
      return link;
  return NULL;
}

int umw_thread_id(pthread_t id)
{
  if (id == pthread_self())
    return umw_gate->tid;
  if (id == main_thread.id)
    return umw_gate->pid;
  struct thread** link = find_thread(id);
  return !link ? -1 : (*link)->ended ? 0 : (*link)->tid;
}

/* Nobody can ask for it any more. */
static void forget(struct thread* thread)
{
  struct thread** link = find_thread(thread->id);
  if (link)
    *link = thread->next;
  free(thread);
}

/* What the kernel does with the list of robust mutexes of a thread that ends (kernel/futex/core.c, exit_robust_list). */
static void release_robust_mutexes(uint32_t owner)
{
  struct robust_list_head* head = NULL;
  size_t size = 0;
  if (UMW_REAL(syscall)(SYS_get_robust_list, owner, &head, &size) != 0 || !head)
    return;
  int limit = ROBUST_LIST_LIMIT;
  for (struct robust_list* entry = head->list.next; entry != &head->list && limit > 0; --limit) {
    uint32_t* word = (uint32_t*)((char*)entry + head->futex_offset);
    entry = entry->next;
    if ((*word & FUTEX_TID_MASK) != owner)
      continue;
    *word = (*word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    umw_futex(word, FUTEX_WAKE, 1, 0, NULL, 0);
    const struct object mutex = object_at(word, true);
    released(&mutex);
  }
}

void umw_release_robust_mutexes(void)
{
  release_robust_mutexes(main_thread.kernel_tid);
  for (const struct thread* thread = threads; thread; thread = thread->next)
    if (!thread->ended)
      release_robust_mutexes(thread->kernel_tid);
}

static void end_of_thread(void* result)
{
  struct thread* thread = current_thread;
  __call_tls_dtors(); /* thread_local, then pthread keys: the order of the C library's start_thread */
  run_key_destructors();
  release_robust_mutexes(thread->kernel_tid);
  thread->result = result;
  thread->ended = true;
  if (thread->detached)
    forget(thread);
  changed();
  umw_thread_end(0);
}

/* Runs a thread's function, or main. pthread_exit and cancellation are the C library's own: they unwind the stack (destructors,
 * cleanup handlers) down to the buffer registered here, as down to its own start_thread. */
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
  return current_thread->result;
}

static void run_thread(void* argument)
{
  struct thread* thread = argument;
  current_thread = thread;
  thread->id = pthread_self();
  thread->kernel_tid = (uint32_t)umw_gate->kernel_tid;
  end_of_thread(umw_run_unwindable(thread->start, thread->argument, result_of_exit));
}

/* Thread control blocks: of an OS thread that the C library has started and that sleeps for ever. It exists so that the C library has
 * set up, and keeps up when libraries are loaded later, everything that hangs on %fs (stack guard, pthread keys, errno, every module's
 * thread-local variables). */
struct control_block {
  uint64_t thread_pointer;
  uint32_t kernel_tid, made;
};

/* The C library's own may have to be looked up, and who waits for this thread may hold ld.so's lock. */
static long kernel(long number, const void* a, long b, long c)
{
  long result = number;
  register long fourth __asm__("r10") = 0;
  __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}

static void* sleep_for_ever(void* argument)
{
  struct control_block* block = argument;
  block->thread_pointer = (uint64_t)pthread_self();
  block->kernel_tid = (uint32_t)kernel(SYS_gettid, NULL, 0, 0);
  __atomic_store_n(&block->made, 1, __ATOMIC_RELEASE);
  kernel(SYS_futex, &block->made, FUTEX_WAKE_PRIVATE, 1);
  for (;;)
    kernel(SYS_pause, NULL, 0, 0);
  return NULL;
}

static struct control_block* spare; /* of a thread that was not to be */

static int make_control_block(struct control_block* block)
{
  pthread_attr_t attributes;
  pthread_t id;
  sigset_t all;
  size_t (*least)(const pthread_attr_t*) =
      dlsym(RTLD_DEFAULT, "__pthread_get_minstack"); /* with thread-local storage */
  const size_t little = 16 << 10;
  sigfillset(&all); /* they are for the thread that runs the simulation */
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setsigmask_np(&attributes, &all);
  if (least)
    pthread_attr_setstacksize(&attributes, least(&attributes) + little);
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = UMW_REAL(pthread_create);
  umw_burst_paused(1);
  umw_gate->uncut = 1; /* a trap while the C library has all signals blocked would be the end */
  const int error = create(&id, &attributes, sleep_for_ever, block);
  umw_gate->uncut = 0;
  pthread_attr_destroy(&attributes);
  while (error == 0 && __atomic_load_n(&block->made, __ATOMIC_ACQUIRE) == 0)
    kernel(SYS_futex, &block->made, FUTEX_WAIT_PRIVATE, 0);
  umw_burst_paused(0);
  return error;
}

UMW_PUBLIC int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*start)(void*), void* argument)
{
  if (!umw_gate)
    return UMW_REAL(pthread_create)(id, attributes, start, argument);
  struct thread* thread = calloc(1, sizeof *thread);
  if (!thread)
    return EAGAIN;
  thread->start = start;
  thread->argument = argument;
  size_t stack_bytes = 0;
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes) {
    pthread_attr_getstacksize(attributes, &stack_bytes);
    pthread_attr_getdetachstate(attributes, &state);
  }
  thread->detached = state == PTHREAD_CREATE_DETACHED;
  struct control_block* block = spare ? spare : calloc(1, sizeof *block);
  spare = NULL;
  int tid = !block ? -EAGAIN : block->made ? 0 : -make_control_block(block);
  if (tid == 0)
    tid = umw_thread_create(run_thread, thread, stack_bytes, block->thread_pointer, (int)block->kernel_tid);
  if (tid < 0) {
    if (block && block->made)
      spare = block;
    else
      free(block);
    free(thread);
    return -tid;
  }
  const pthread_t made = (pthread_t)block->thread_pointer;
  free(block);
  thread->tid = tid;
  ++threads_started;
  thread->id = made;
  thread->next = threads;
  threads = thread;
  *id = thread->id;
  return 0;
}

static struct thread* joinable(pthread_t id)
{
  struct thread** link = find_thread(id);
  return id == main_thread.id ? &main_thread : link ? *link : NULL;
}

static int join(pthread_t id, void** result, clockid_t clock, const struct timespec* date, bool wait)
{
  struct thread* const thread = joinable(id);
  if (!thread)
    return ESRCH;
  if (thread->detached)
    return EINVAL;
  if (wait && id == pthread_self())
    return EDEADLK;
  for (uint64_t seen = wakes(); !thread->ended; seen = wakes()) {
    if (!wait)
      return EBUSY;
    const int64_t left = date ? time_left(clock, date) : -1;
    if (left == 0)
      return ETIMEDOUT;
    umw_test_cancel();
    wait_for_change(seen, left);
  }
  if (result)
    *result = thread->result;
  thread->detached = true; /* once: the record of the main thread stays */
  if (thread != &main_thread) {
    umw_thread_join((uint64_t)id);
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

UMW_PUBLIC int pthread_timedjoin_np(pthread_t id, void** result, const struct timespec* date)
{
  return umw_gate ? join(id, result, CLOCK_REALTIME, date, true) : UMW_REAL(pthread_timedjoin_np)(id, result, date);
}

UMW_PUBLIC int pthread_clockjoin_np(pthread_t id, void** result, clockid_t clock, const struct timespec* date)
{
  return umw_gate ? join(id, result, clock, date, true) : UMW_REAL(pthread_clockjoin_np)(id, result, clock, date);
}

UMW_PUBLIC int pthread_detach(pthread_t id)
{
  if (!umw_gate)
    return UMW_REAL(pthread_detach)(id);
  struct thread* const thread = joinable(id);
  if (!thread)
    return ESRCH;
  if (thread->detached)
    return EINVAL;
  thread->detached = true;
  if (thread->ended && thread != &main_thread)
    forget(thread);
  return 0;
}

UMW_PUBLIC void pthread_exit(void* result)
{
  if (umw_gate)
    (current_thread ? current_thread : &main_thread)->result = result;
  UMW_REAL(pthread_exit)(result);
  __builtin_unreachable();
}

/* main has called pthread_exit: the others go on, pthread_exit(3). */
void* umw_outlast_threads(void)
{
  main_thread.ended = true;
  changed();
  for (uint64_t seen = wakes();; seen = wakes()) {
    const struct thread* thread = threads;
    while (thread && thread->ended)
      thread = thread->next;
    if (!thread)
      exit(0);
    wait_for_change(seen, -1);
  }
}

/* --- cancellation: deferred to the next call that may wait, also where a thread asked for it to be asynchronous --------- */

static _Thread_local int cancel_state = PTHREAD_CANCEL_ENABLE, cancel_type = PTHREAD_CANCEL_DEFERRED;

static bool cancellable(void)
{
  return cancel_state == PTHREAD_CANCEL_ENABLE && (current_thread ? current_thread : &main_thread)->cancelled;
}

void umw_test_cancel(void)
{
  if (!cancellable())
    return;
  cancel_state = PTHREAD_CANCEL_DISABLE; /* cleanup handlers may wait */
  pthread_exit(PTHREAD_CANCELED);
}

UMW_PUBLIC int pthread_cancel(pthread_t id)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cancel)(id);
  struct thread* const thread = joinable(id);
  if (!thread)
    return ESRCH;
  thread->cancelled = true;
  changed();
  if (id == pthread_self() && cancel_type == PTHREAD_CANCEL_ASYNCHRONOUS)
    umw_test_cancel();
  return 0;
}

UMW_PUBLIC void pthread_testcancel(void)
{
  if (umw_gate)
    umw_test_cancel();
  else
    UMW_REAL(pthread_testcancel)();
}

UMW_PUBLIC int pthread_setcancelstate(int state, int* old)
{
  if (!umw_gate)
    return UMW_REAL(pthread_setcancelstate)(state, old);
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
    return EINVAL;
  if (old)
    *old = cancel_state;
  cancel_state = state;
  return 0;
}

UMW_PUBLIC int pthread_setcanceltype(int type, int* old)
{
  if (!umw_gate)
    return UMW_REAL(pthread_setcanceltype)(type, old);
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
    return EINVAL;
  if (old)
    *old = cancel_type;
  cancel_type = type;
  if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
    umw_test_cancel();
  return 0;
}

/* --- C11 threads: the same ones ------------------------------------------------------------------------------------------ */

static int thrd_status(int error)
{
  return error == 0 ? thrd_success : error == ENOMEM || error == EAGAIN ? thrd_nomem : thrd_error;
}

UMW_PUBLIC int thrd_create(thrd_t* id, thrd_start_t start, void* argument)
{
  if (!umw_gate)
    return UMW_REAL(thrd_create)(id, start, argument);
  /* an int comes back in the lower half of the register a pointer comes back in */
  return thrd_status(pthread_create(id, NULL, (void* (*)(void*))(uintptr_t)start, argument));
}

UMW_PUBLIC int thrd_join(thrd_t id, int* result)
{
  void* value = NULL;
  if (!umw_gate)
    return UMW_REAL(thrd_join)(id, result);
  const int status = thrd_status(pthread_join(id, &value));
  if (result)
    *result = (int)(intptr_t)value;
  return status;
}

UMW_PUBLIC int thrd_detach(thrd_t id)
{
  return umw_gate ? thrd_status(pthread_detach(id)) : UMW_REAL(thrd_detach)(id);
}

UMW_PUBLIC void thrd_exit(int result)
{
  pthread_exit((void*)(intptr_t)result);
}

UMW_PUBLIC void thrd_yield(void)
{
  sched_yield();
}

UMW_PUBLIC int tss_create(tss_t* key, tss_dtor_t destructor)
{
  return thrd_status(pthread_key_create(key, destructor));
}

UMW_PUBLIC void tss_delete(tss_t key)
{
  pthread_key_delete(key);
}

/* --- objects in memory that several processes share: where the C library notes it --------------------------------------- */

static bool is_shared_mutex(const pthread_mutex_t* mutex)
{
  return mutex->__data.__kind & 128; /* PTHREAD_MUTEX_PSHARED_BIT of nptl/pthreadP.h */
}

static bool is_shared_semaphore(const sem_t* semaphore)
{
  int shared; /* `private` of struct new_sem (sysdeps/nptl/internaltypes.h), which is not 0 for shared ones */
  __builtin_memcpy(&shared, (const char*)semaphore + 8, sizeof shared);
  return shared != 0;
}

static bool is_shared_condition(const pthread_cond_t* condition)
{
  return condition->__data.__wrefs & 1; /* __PTHREAD_COND_SHARED_MASK of nptl/pthreadP.h */
}

static bool is_shared_barrier(const pthread_barrier_t* barrier)
{
  int shared; /* `shared` of struct pthread_barrier (sysdeps/nptl/internaltypes.h), which is not 0 for shared ones */
  __builtin_memcpy(&shared, (const char*)barrier + 12, sizeof shared);
  return shared != 0;
}

static bool is_shared_rwlock(const pthread_rwlock_t* lock)
{
  return lock->__data.__shared != 0;
}

/* --- mutexes --------------------------------------------------------------------------------------------------------- */

/* `date` null: no time-out */
static int lock_until(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* date)
{
  struct object object = object_at(mutex, is_shared_mutex(mutex));
  int error;
  at_own_time(object.shared);
  for (look(&object); (error = pthread_mutex_trylock(mutex)) == EBUSY; look(&object)) {
    if ((mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK && mutex->__data.__owner == umw_gate->kernel_tid)
      return EDEADLK;
    if (date && !valid(date))
      return EINVAL;
    const int64_t left = date ? time_left(clock, date) : -1;
    if (left == 0)
      return ETIMEDOUT;
    wait_for_object(&object, left);
  }
  /* glibc 2.36's pthread_mutex_trylock keeps a robust mutex that it says is lost, its pthread_mutex_lock does not */
  if (error == ENOTRECOVERABLE && (mutex->__data.__lock & FUTEX_TID_MASK) == umw_gate->kernel_tid)
    mutex->__data.__lock = 0;
  return error;
}

UMW_PUBLIC int pthread_mutex_lock(pthread_mutex_t* mutex)
{
  return umw_gate && (threads_started > 0 || is_shared_mutex(mutex)) ? lock_until(mutex, CLOCK_REALTIME, NULL)
                                                                     : UMW_REAL(pthread_mutex_lock)(mutex);
}

UMW_PUBLIC int pthread_mutex_timedlock(pthread_mutex_t* restrict mutex, const struct timespec* restrict date)
{
  return umw_gate ? lock_until(mutex, CLOCK_REALTIME, date) : UMW_REAL(pthread_mutex_timedlock)(mutex, date);
}

UMW_PUBLIC int pthread_mutex_clocklock(pthread_mutex_t* restrict mutex, clockid_t clock,
                                       const struct timespec* restrict date)
{
  return umw_gate ? lock_until(mutex, clock, date) : UMW_REAL(pthread_mutex_clocklock)(mutex, clock, date);
}

UMW_PUBLIC int pthread_mutex_unlock(pthread_mutex_t* mutex)
{
  if (!umw_gate)
    return UMW_REAL(pthread_mutex_unlock)(mutex);
  const struct object object = object_at(mutex, is_shared_mutex(mutex));
  at_own_time(object.shared);
  const int error = UMW_REAL(pthread_mutex_unlock)(mutex);
  released(&object);
  return error;
}

/* --- condition variables: a queue of waiting threads, first in first out --------------------------------------------- */

struct waiting {
  const pthread_cond_t* condition;
  bool signalled;
  struct waiting* next;
};
static struct waiting* queue;

/* Of one that ranks of the node share the runtime has the queue. */
static int wait_for_shared_condition(const struct object* object, pthread_mutex_t* mutex, clockid_t id,
                                     const struct timespec* date)
{
  umw_condition_enter(object->place.device, object->place.inode, object->place.offset);
  pthread_mutex_unlock(mutex);
  int ending = -EINTR;
  while (ending == -EINTR && !cancellable())
    ending = umw_condition_wait(date ? time_left(id, date) : -1);
  if (ending == -EINTR)
    umw_condition_leave(0);
  const int error = pthread_mutex_lock(mutex);
  if (ending == -EINTR)
    umw_test_cancel();
  return error != 0 ? error : ending == 1 ? ETIMEDOUT : 0;
}

static int wait_for_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t id,
                              const struct timespec* date)
{
  struct waiting self = {.condition = condition};
  struct waiting** last = &queue;
  if (date && !valid(date))
    return EINVAL;
  const struct object object = object_at(condition, is_shared_condition(condition));
  if (object.shared)
    return wait_for_shared_condition(&object, mutex, id, date);
  while (*last)
    last = &(*last)->next;
  *last = &self;
  pthread_mutex_unlock(mutex);
  int result = 0;
  for (uint64_t seen = wakes(); !self.signalled && !cancellable(); seen = wakes()) {
    const int64_t left = date ? time_left(id, date) : -1;
    if (left == 0) {
      result = ETIMEDOUT;
      break;
    }
    wait_for_change(seen, left);
  }
  for (struct waiting** link = &queue; *link; link = &(*link)->next)
    if (*link == &self) {
      *link = self.next;
      break;
    }
  pthread_mutex_lock(mutex);
  if (!self.signalled)
    umw_test_cancel();
  return result;
}

UMW_PUBLIC int pthread_cond_wait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex)
{
  return umw_gate ? wait_for_condition(condition, mutex, CLOCK_REALTIME, NULL)
                  : UMW_REAL(pthread_cond_wait)(condition, mutex);
}

UMW_PUBLIC int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                                      const struct timespec* restrict date)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cond_timedwait)(condition, mutex, date);
  /* glibc 2.36 keeps the clock of pthread_condattr_setclock in bit 1 of __wrefs (nptl/pthread_cond_common.c) */
  const clockid_t id = condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  return wait_for_condition(condition, mutex, id, date);
}

UMW_PUBLIC int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex, clockid_t id,
                                      const struct timespec* restrict date)
{
  return umw_gate ? wait_for_condition(condition, mutex, id, date)
                  : UMW_REAL(pthread_cond_clockwait)(condition, mutex, id, date);
}

static void signal_waiting(const pthread_cond_t* condition, bool all)
{
  const struct object object = object_at(condition, is_shared_condition(condition));
  at_own_time(object.shared);
  if (object.shared) {
    umw_condition_signal(object.place.device, object.place.inode, object.place.offset, all);
    return;
  }
  for (struct waiting* waiting = queue; waiting; waiting = waiting->next)
    if (waiting->condition == condition && !waiting->signalled) {
      waiting->signalled = true;
      if (!all)
        break;
    }
  changed();
}

UMW_PUBLIC int pthread_cond_signal(pthread_cond_t* condition)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cond_signal)(condition);
  signal_waiting(condition, false);
  return 0;
}

UMW_PUBLIC int pthread_cond_broadcast(pthread_cond_t* condition)
{
  if (!umw_gate)
    return UMW_REAL(pthread_cond_broadcast)(condition);
  signal_waiting(condition, true);
  return 0;
}

/* --- semaphores, read-write locks, barriers -------------------------------------------------------------------------- */

UMW_PUBLIC int sem_wait(sem_t* semaphore)
{
  if (!umw_gate)
    return UMW_REAL(sem_wait)(semaphore);
  const unsigned final = umw_interruptions.final; /* restarted after the other handlers */
  struct object object = object_at(semaphore, is_shared_semaphore(semaphore));
  at_own_time(object.shared);
  for (look(&object); sem_trywait(semaphore) != 0; look(&object)) {
    if (errno != EAGAIN)
      return -1;
    umw_test_cancel();
    wait_for_object(&object, -1);
    if (umw_interruptions.final != final) {
      errno = EINTR;
      return -1;
    }
  }
  return 0;
}

UMW_PUBLIC int sem_clockwait(sem_t* restrict semaphore, clockid_t id, const struct timespec* restrict date)
{
  if (!umw_gate)
    return UMW_REAL(sem_clockwait)(semaphore, id, date);
  const unsigned handled = umw_interruptions.handled; /* with a time-out Linux restarts after none of them */
  struct object object = object_at(semaphore, is_shared_semaphore(semaphore));
  at_own_time(object.shared);
  for (look(&object); sem_trywait(semaphore) != 0; look(&object)) {
    if (errno != EAGAIN)
      return -1;
    umw_test_cancel();
    const int64_t left = valid(date) ? time_left(id, date) : -1;
    if (left <= 0) {
      errno = left < 0 ? EINVAL : ETIMEDOUT;
      return -1;
    }
    wait_for_object(&object, left);
    if (umw_interruptions.handled != handled) {
      errno = EINTR;
      return -1;
    }
  }
  return 0;
}

UMW_PUBLIC int sem_timedwait(sem_t* restrict semaphore, const struct timespec* restrict date)
{
  return umw_gate ? sem_clockwait(semaphore, CLOCK_REALTIME, date) : UMW_REAL(sem_timedwait)(semaphore, date);
}

UMW_PUBLIC int sem_post(sem_t* semaphore)
{
  if (!umw_gate)
    return UMW_REAL(sem_post)(semaphore);
  const struct object object = object_at(semaphore, is_shared_semaphore(semaphore));
  at_own_time(object.shared);
  const int status = UMW_REAL(sem_post)(semaphore);
  released(&object);
  return status;
}

UMW_PUBLIC int pthread_spin_lock(pthread_spinlock_t* lock)
{
  if (!umw_gate || threads_started == 0)
    return UMW_REAL(pthread_spin_lock)(lock);
  at_own_time(false);
  for (uint64_t seen = wakes(); pthread_spin_trylock(lock) == EBUSY; seen = wakes())
    wait_for_change(seen, -1);
  return 0;
}

UMW_PUBLIC int pthread_spin_unlock(pthread_spinlock_t* lock)
{
  if (umw_gate)
    at_own_time(false);
  const int error = UMW_REAL(pthread_spin_unlock)(lock);
  if (umw_gate)
    changed();
  return error;
}

/* `try` is pthread_rwlock_tryrdlock or trywrlock; `date` null: no time-out */
static int lock_rwlock(pthread_rwlock_t* lock, int (*try)(pthread_rwlock_t*), clockid_t clock,
                       const struct timespec* date)
{
  int error;
  if (date && (!valid(date) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)))
    return EINVAL; /* before it is tried, as in nptl/pthread_rwlock_common.c */
  struct object object = object_at(lock, is_shared_rwlock(lock));
  at_own_time(object.shared);
  for (look(&object); (error = try(lock)) == EBUSY; look(&object)) {
    if (lock->__data.__cur_writer == umw_gate->kernel_tid)
      return EDEADLK;
    const int64_t left = date ? time_left(clock, date) : -1;
    if (left == 0)
      return ETIMEDOUT;
    wait_for_object(&object, left);
  }
  return error;
}

UMW_PUBLIC int pthread_rwlock_rdlock(pthread_rwlock_t* lock)
{
  return umw_gate && (threads_started > 0 || is_shared_rwlock(lock))
             ? lock_rwlock(lock, pthread_rwlock_tryrdlock, CLOCK_REALTIME, NULL)
             : UMW_REAL(pthread_rwlock_rdlock)(lock);
}

UMW_PUBLIC int pthread_rwlock_wrlock(pthread_rwlock_t* lock)
{
  return umw_gate && (threads_started > 0 || is_shared_rwlock(lock))
             ? lock_rwlock(lock, pthread_rwlock_trywrlock, CLOCK_REALTIME, NULL)
             : UMW_REAL(pthread_rwlock_wrlock)(lock);
}

UMW_PUBLIC int pthread_rwlock_timedrdlock(pthread_rwlock_t* restrict lock, const struct timespec* restrict date)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_tryrdlock, CLOCK_REALTIME, date)
                  : UMW_REAL(pthread_rwlock_timedrdlock)(lock, date);
}

UMW_PUBLIC int pthread_rwlock_timedwrlock(pthread_rwlock_t* restrict lock, const struct timespec* restrict date)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_trywrlock, CLOCK_REALTIME, date)
                  : UMW_REAL(pthread_rwlock_timedwrlock)(lock, date);
}

UMW_PUBLIC int pthread_rwlock_clockrdlock(pthread_rwlock_t* restrict lock, clockid_t clock,
                                          const struct timespec* restrict date)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_tryrdlock, clock, date)
                  : UMW_REAL(pthread_rwlock_clockrdlock)(lock, clock, date);
}

UMW_PUBLIC int pthread_rwlock_clockwrlock(pthread_rwlock_t* restrict lock, clockid_t clock,
                                          const struct timespec* restrict date)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_trywrlock, clock, date)
                  : UMW_REAL(pthread_rwlock_clockwrlock)(lock, clock, date);
}

UMW_PUBLIC int pthread_rwlock_unlock(pthread_rwlock_t* lock)
{
  if (!umw_gate)
    return UMW_REAL(pthread_rwlock_unlock)(lock);
  const struct object object = object_at(lock, is_shared_rwlock(lock));
  at_own_time(object.shared);
  const int error = UMW_REAL(pthread_rwlock_unlock)(lock);
  released(&object);
  return error;
}

/* The C library's barrier (nptl/pthread_barrier_wait.c) has the number of threads at offset 8; arrivals are counted here. */
struct meeting {
  pthread_barrier_t* barrier;
  unsigned arrived, round;
  struct meeting* next;
};
static struct meeting* meetings;

UMW_PUBLIC int pthread_barrier_wait(pthread_barrier_t* barrier)
{
  if (!umw_gate)
    return UMW_REAL(pthread_barrier_wait)(barrier);
  unsigned expected;
  __builtin_memcpy(&expected, (const char*)barrier + 8, sizeof expected);
  const struct object object = object_at(barrier, is_shared_barrier(barrier));
  if (object.shared)
    return umw_barrier_wait(object.place.device, object.place.inode, object.place.offset, expected)
               ? PTHREAD_BARRIER_SERIAL_THREAD
               : 0;
  struct meeting* meeting = meetings;
  while (meeting && meeting->barrier != barrier)
    meeting = meeting->next;
  if (!meeting) {
    meeting = calloc(1, sizeof *meeting);
    if (!meeting)
      abort();
    meeting->barrier = barrier;
    meeting->next = meetings;
    meetings = meeting;
  }
  at_own_time(false);
  const unsigned round = meeting->round;
  if (++meeting->arrived >= expected) {
    meeting->arrived = 0;
    ++meeting->round;
    changed();
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  for (uint64_t seen = wakes(); meeting->round == round; seen = wakes())
    wait_for_change(seen, -1);
  return 0;
}
