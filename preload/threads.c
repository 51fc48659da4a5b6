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
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/abi/time_units.h"
#include "preload/node_memory.h"
#include "preload/thread_blocks.h"

static int threads_started; /* 0: nobody else can hold a lock that we want */
static int waiters;

/* Every crossing may let another thread run. So a wait names the count of wakes from before its condition was looked at, and
 * does not begin if there has been one since. */
static uint64_t wakes(void)
{
  return umw_gate->wakes;
}

void umw_wait_for_change(uint64_t seen, int64_t duration_ps)
{
  ++waiters;
  umw_thread_wait(seen, duration_ps, 0, 0);
  --waiters;
}

/* Most waits are for one object: who releases it wakes nobody else. One that waits may be known by another address, too. */
static void wait_at(const void* place, const void* self, uint64_t seen, int64_t duration_ps);

/* `place` has been released, wakes the first `most` that wait for it or are known by it. Who only takes what is free lets the next have it
 * in turn, so one of them will do. */
enum { ALL = INT_MAX };
static void changed_at(const void* place, uint32_t most);

/* Where an object lies that ranks of the node share; `shared` false: it is the rank's own, whatever its attributes say. */
struct object {
  const void* address;
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
  struct object object = {.address = address};
  object.shared = shared && umw_shared_place(address, &object.place);
  look(&object);
  return object;
}

static void wait_for_object(const struct object* object, int64_t duration_ps)
{
  if (object->shared)
    umw_object_wait(object->place.device, object->place.inode, object->place.offset, object->seen, duration_ps);
  else
    wait_at(object->address, NULL, object->seen, duration_ps);
}

/* A thread takes and releases what others want at its own time: what it has computed so far has passed, and who is due
 * before runs first. Short bursts are left standing; they would cost more than they tell. Where computing takes no time, a thread that
 * takes and releases one lock after the other, to see what it protects, does not keep the others from running: so many take as long as
 * that many clock reads (runtime/gate/dispatch.cpp has it for what crosses). */
static void at_own_time(bool shared)
{
  const struct umw_clock* clock = &umw_gate->clock;
  const int64_t shortest = 500000; /* ps */
  const unsigned most_at_once = 10000;
  static uint64_t crossings; /* so many when `at_once` began */
  static unsigned at_once;
  if (threads_started == 0 && !shared)
    return;
  if (clock->ps_per_tick > 0) {
    const double burst = (double)(int64_t)(__builtin_ia32_rdtsc() - clock->burst_start) * clock->ps_per_tick;
    if (clock->debt_ps + (int64_t)burst > shortest)
      umw_clock_settle(0);
  } else if (crossings != umw_gate->crossings) {
    crossings = umw_gate->crossings;
    at_once = 0;
  } else if (++at_once > most_at_once) {
    at_once = 0;
    umw_sleep(most_at_once * clock->read_cost_ps);
  }
}

void umw_changed(void)
{
  ++umw_gate->wakes;
  if (waiters > 0)
    umw_thread_wake(0, 0);
}

static void released(const struct object* object, uint32_t most)
{
  if (object->shared)
    umw_object_wake(object->place.device, object->place.inode, object->place.offset);
  else
    changed_at(object->address, most);
}

/* Simulated time left until an absolute date of a clock; 0 if it has passed. */
static int64_t time_left(clockid_t id, const struct timespec* date)
{
  struct timespec now;
  clock_gettime(id, &now);
  const int64_t left = umw_ps_between(&now, date);
  return left > 0 ? left : 0;
}

/* Dates before the epoch have passed, they are not invalid. */
static bool valid(const struct timespec* date)
{
  return date->tv_nsec >= 0 && date->tv_nsec < 1000000000;
}

/* Those that the C library waits by (sysdeps/nptl/futex-internal.h). */
static bool may_wait_by(clockid_t id)
{
  return id == CLOCK_REALTIME || id == CLOCK_MONOTONIC;
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
  char name[UMW_THREAD_NAME];
  uint64_t stack_top;
  size_t stack_bytes, guard_bytes;
  cpu_set_t cores;
  sigset_t blocked;
  bool has_cores, has_blocked; /* of its own, by its attributes; otherwise inherited */
  uint32_t mxcsr;              /* rounding and traps: inherited */
  uint16_t x87_control;
  struct umw_control_block* block;
  const void *waits_for, *known_as; /* in wait_at(), or when a handler's long jump has left that */
  struct thread* next;
};
static struct thread* threads; /* all but the main one */
static struct thread main_thread;

__attribute__((constructor)) static void note_main_thread(void)
{
  main_thread.id = pthread_self();
  if (!umw_gate)
    return;
  main_thread.kernel_tid = (uint32_t)umw_gate->kernel_tid;
  const char* file = strrchr(umw_gate->program, '/');
  strncpy(main_thread.name, file ? file + 1 : umw_gate->program, sizeof main_thread.name - 1);
}

/* GLIBC_PRIVATE: destructors of thread_local objects */
void __call_tls_dtors(void);

static _Thread_local struct thread* current_thread;

static void wait_at(const void* place, const void* self, uint64_t seen, int64_t duration_ps)
{
  struct thread* const thread = current_thread ? current_thread : &main_thread;
  thread->waits_for = place;
  thread->known_as = self;
  ++waiters;
  umw_thread_wait(seen, duration_ps, (uintptr_t)place, (uintptr_t)self);
  --waiters;
  thread->waits_for = thread->known_as = NULL;
}

static void changed_at(const void* place, uint32_t most)
{
  ++umw_gate->wakes;
  if (waiters == 0)
    return;
  const struct thread* thread = &main_thread;
  while (thread && thread->waits_for != place && thread->known_as != place)
    thread = thread == &main_thread ? threads : thread->next;
  if (thread)
    umw_thread_wake((uintptr_t)place, most);
}

/* pthread keys are the C library's own; only it knows their destructors, so they are noted as keys are made. */
static void (*key_destructors[PTHREAD_KEYS_MAX])(void*);
static pthread_key_t keys; /* those below have been made */

UMW_PUBLIC int pthread_key_create(pthread_key_t* key, void (*destructor)(void*))
{
  const int error = UMW_REAL(pthread_key_create)(key, destructor);
  if (error == 0 && *key < PTHREAD_KEYS_MAX) {
    key_destructors[*key] = destructor;
    if (keys <= *key)
      keys = *key + 1;
  }
  return error;
}

/* What libraries call that were built before there was but one C library for all. */
int __pthread_key_create(pthread_key_t* key, void (*destructor)(void*));
UMW_PUBLIC int __pthread_key_create(pthread_key_t* key, void (*destructor)(void*))
{
  return pthread_key_create(key, destructor);
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
    for (pthread_key_t key = 0; key < keys; ++key) {
      void* value = key_destructors[key] ? pthread_getspecific(key) : NULL;
      if (!value)
        continue;
      pthread_setspecific(key, NULL);
      key_destructors[key](value);
      again = true;
    }
  }
  for (pthread_key_t key = 0; key < keys; ++key) /* the next thread on this control block has none */
    if (pthread_getspecific(key))
      pthread_setspecific(key, NULL);
}

static struct thread** find_thread(pthread_t id)
{
  for (struct thread** link = &threads; *link; link = &(*link)->next)
    if ((*link)->id == id)
      return link;
  return NULL;
}

char* umw_thread_name(pthread_t id)
{
  if (id == main_thread.id)
    return main_thread.name;
  struct thread** link = find_thread(id);
  return link ? (*link)->name : NULL;
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
  umw_give_control_block(thread->block);
  free(thread);
}

/* What the kernel does with the list of robust mutexes of a thread that ends (kernel/futex/core.c, exit_robust_list). Null: there
 * is no list. */
static struct robust_list_head* release_robust_mutexes(uint32_t owner)
{
  struct robust_list_head* head = NULL;
  size_t size = 0;
  if (UMW_REAL(syscall)(SYS_get_robust_list, owner, &head, &size) != 0 || !head)
    return NULL;
  int limit = ROBUST_LIST_LIMIT;
  for (struct robust_list* entry = head->list.next; entry != &head->list && limit > 0; --limit) {
    uint32_t* word = (uint32_t*)((char*)entry + head->futex_offset);
    entry = entry->next;
    if ((*word & FUTEX_TID_MASK) != owner)
      continue;
    *word = (*word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    umw_futex(word, FUTEX_WAKE, 1, 0, NULL, 0);
    const struct object mutex = object_at(word, true);
    released(&mutex, ALL);
  }
  return head;
}

/* As it is in a new thread (nptl/allocatestack.c): a ring, whose backward link lies before its head (struct pthread). */
static void empty_robust_list(struct robust_list_head* head)
{
  head->list.next = &head->list;
  head->list_op_pending = NULL;
  ((void**)head)[-1] = head;
}

void umw_release_robust_mutexes(void)
{
  release_robust_mutexes(main_thread.kernel_tid);
  for (const struct thread* thread = threads; thread; thread = thread->next)
    if (!thread->ended)
      release_robust_mutexes(thread->kernel_tid);
}

static void do_nothing(void* unused)
{
  (void)unused;
}

int __cxa_thread_atexit_impl(void (*destructor)(void*), void* object, void* dso_symbol);
extern void* __dso_handle;

static void end_of_thread(void* result)
{
  struct thread* thread = current_thread;
  /* The C library remembers the object whose destructor was registered last; it may be unloaded before the next thread. */
  __cxa_thread_atexit_impl(do_nothing, NULL, &__dso_handle);
  __call_tls_dtors(); /* thread_local, then pthread keys: the order of the C library's start_thread */
  run_key_destructors();
  struct robust_list_head* robust = release_robust_mutexes(thread->kernel_tid);
  if (robust)
    empty_robust_list(robust);
  umw_leave_control_block();
  thread->result = result;
  thread->ended = true;
  if (thread->detached)
    forget(thread);
  umw_changed();
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
static int take_attributes(struct thread* thread, const pthread_attr_t* attributes)
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
  struct thread* thread = calloc(1, sizeof *thread);
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
  memcpy(thread->name, (current_thread ? current_thread : &main_thread)->name, sizeof thread->name); /* inherited */
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(thread->mxcsr), "=m"(thread->x87_control));
  int error = attributes ? take_attributes(thread, attributes) : 0;
  if (error == 0)
    error = umw_take_control_block(&thread->block);
  if (error != 0) {
    free(thread);
    return error;
  }
  thread->id = (pthread_t)thread->block->thread_pointer;
  thread->next = threads; /* known before it runs, which may be at once */
  threads = thread;
  *id = thread->id;
  ++threads_started;
  const int tid = umw_thread_create(run_thread, thread, thread->stack_bytes, thread->block->thread_pointer,
                                    (int)thread->block->kernel_tid);
  if (tid < 0) {
    forget(thread);
    return -tid;
  }
  struct thread** link = find_thread(*id);
  if (link && (*link)->tid == 0) /* else it has run since, perhaps to its end */
    (*link)->tid = tid;
  return 0;
}

/* The C library speaks of the thread that lends its control block. */
UMW_PUBLIC int pthread_getattr_np(pthread_t id, pthread_attr_t* attributes)
{
  const int error = UMW_REAL(pthread_getattr_np)(id, attributes);
  struct thread** link = error == 0 && umw_gate ? find_thread(id) : NULL;
  if (!link || (*link)->stack_top == 0)
    return error;
  const struct thread* thread = *link;
  pthread_attr_setstack(attributes, (void*)(thread->stack_top - thread->stack_bytes), thread->stack_bytes);
  pthread_attr_setguardsize(attributes, thread->guard_bytes);
  pthread_attr_setdetachstate(attributes, thread->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
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
    umw_wait_for_change(seen, left);
  }
  if (result)
    *result = thread->result;
  thread->detached = true; /* once: the record of the main thread stays */
  if (thread != &main_thread) {
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

UMW_PUBLIC int pthread_timedjoin_np(pthread_t id, void** result, const struct timespec* date)
{
  return umw_gate ? join(id, result, CLOCK_REALTIME, date, true) : UMW_REAL(pthread_timedjoin_np)(id, result, date);
}

UMW_PUBLIC int pthread_clockjoin_np(pthread_t id, void** result, clockid_t clock, const struct timespec* date)
{
  if (!umw_gate)
    return UMW_REAL(pthread_clockjoin_np)(id, result, clock, date);
  return may_wait_by(clock) ? join(id, result, clock, date, true) : EINVAL;
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
  umw_changed();
  for (uint64_t seen = wakes();; seen = wakes()) {
    const struct thread* thread = threads;
    while (thread && thread->ended)
      thread = thread->next;
    if (!thread)
      exit(0);
    umw_wait_for_change(seen, -1);
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
  ++umw_gate->wakes;
  umw_thread_cancel(thread == &main_thread ? umw_gate->pid : thread->tid);
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
  bool waited = false;
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
    waited = true;
  }
  umw_gate->got_on |= waited; /* what it waited for has come */
  /* glibc 2.36's pthread_mutex_trylock keeps a robust mutex that it says is lost, its pthread_mutex_lock does not */
  if (error == ENOTRECOVERABLE && (mutex->__data.__lock & FUTEX_TID_MASK) == umw_gate->kernel_tid)
    mutex->__data.__lock = 0;
  return error;
}

/* Nobody else can have it. Who has it already would wait in the kernel. */
static bool is_alone_with(const pthread_mutex_t* mutex)
{
  return threads_started == 0 && !(mutex->__data.__kind & (16 | 128)); /* robust, shared: nptl/pthreadP.h */
}

UMW_PUBLIC int pthread_mutex_lock(pthread_mutex_t* mutex)
{
  if (!umw_gate)
    return UMW_REAL(pthread_mutex_lock)(mutex);
  const int error = is_alone_with(mutex) ? pthread_mutex_trylock(mutex) : EBUSY;
  return error == EBUSY ? lock_until(mutex, CLOCK_REALTIME, NULL) : error;
}

UMW_PUBLIC int pthread_mutex_timedlock(pthread_mutex_t* restrict mutex, const struct timespec* restrict date)
{
  return umw_gate ? lock_until(mutex, CLOCK_REALTIME, date) : UMW_REAL(pthread_mutex_timedlock)(mutex, date);
}

UMW_PUBLIC int pthread_mutex_clocklock(pthread_mutex_t* restrict mutex, clockid_t clock,
                                       const struct timespec* restrict date)
{
  if (!umw_gate)
    return UMW_REAL(pthread_mutex_clocklock)(mutex, clock, date);
  return may_wait_by(clock) ? lock_until(mutex, clock, date) : EINVAL;
}

UMW_PUBLIC int pthread_mutex_unlock(pthread_mutex_t* mutex)
{
  if (!umw_gate)
    return UMW_REAL(pthread_mutex_unlock)(mutex);
  const struct object object = object_at(mutex, is_shared_mutex(mutex));
  at_own_time(object.shared);
  const int error = UMW_REAL(pthread_mutex_unlock)(mutex);
  released(&object, 1);
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
  const int refused = pthread_mutex_unlock(mutex);
  if (refused != 0) {
    umw_condition_leave(0);
    return refused;
  }
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

static void leave_queue(const struct waiting* self)
{
  for (struct waiting** link = &queue; *link; link = &(*link)->next)
    if (*link == self) {
      *link = self->next;
      break;
    }
}

static int wait_for_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t id,
                              const struct timespec* date)
{
  struct waiting self = {.condition = condition};
  struct waiting** last = &queue;
  if (date && (!valid(date) || !may_wait_by(id)))
    return EINVAL;
  const struct object object = object_at(condition, is_shared_condition(condition));
  if (object.shared)
    return wait_for_shared_condition(&object, mutex, id, date);
  while (*last)
    last = &(*last)->next;
  *last = &self;
  int result = pthread_mutex_unlock(mutex);
  if (result != 0) { /* it is not ours */
    leave_queue(&self);
    return result;
  }
  for (uint64_t seen = wakes(); !self.signalled && !cancellable(); seen = wakes()) {
    const int64_t left = date ? time_left(id, date) : -1;
    if (left == 0) {
      result = ETIMEDOUT;
      break;
    }
    wait_at(condition, &self, seen, left);
  }
  leave_queue(&self);
  const int error = pthread_mutex_lock(mutex); /* EOWNERDEAD, and it is ours */
  if (!self.signalled)
    umw_test_cancel();
  return error != 0 ? error : result;
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
  const void* who = all ? condition : NULL;
  for (struct waiting* waiting = queue; waiting; waiting = waiting->next)
    if (waiting->condition == condition && !waiting->signalled) {
      waiting->signalled = true;
      umw_gate->got_on = 1;
      if (!all) {
        who = waiting;
        break;
      }
    }
  if (who)
    changed_at(who, ALL);
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
  if (!may_wait_by(id) || !valid(date)) { /* also where it need not wait, nptl/sem_clockwait.c */
    errno = EINVAL;
    return -1;
  }
  const unsigned handled = umw_interruptions.handled; /* with a time-out Linux restarts after none of them */
  struct object object = object_at(semaphore, is_shared_semaphore(semaphore));
  at_own_time(object.shared);
  for (look(&object); sem_trywait(semaphore) != 0; look(&object)) {
    if (errno != EAGAIN)
      return -1;
    umw_test_cancel();
    const int64_t left = time_left(id, date);
    if (left == 0) {
      errno = ETIMEDOUT;
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
  umw_gate->got_on = 1;
  released(&object, ALL);
  return status;
}

UMW_PUBLIC int pthread_spin_lock(pthread_spinlock_t* lock)
{
  if (!umw_gate || threads_started == 0)
    return UMW_REAL(pthread_spin_lock)(lock);
  at_own_time(false);
  for (uint64_t seen = wakes(); pthread_spin_trylock(lock) == EBUSY; seen = wakes())
    wait_at((void*)lock, NULL, seen, -1);
  return 0;
}

UMW_PUBLIC int pthread_spin_unlock(pthread_spinlock_t* lock)
{
  if (umw_gate)
    at_own_time(false);
  const int error = UMW_REAL(pthread_spin_unlock)(lock);
  if (umw_gate)
    changed_at((void*)lock, 1);
  return error;
}

/* `try` is pthread_rwlock_tryrdlock or trywrlock; `date` null: no time-out */
static int lock_rwlock(pthread_rwlock_t* lock, int (*try)(pthread_rwlock_t*), clockid_t clock,
                       const struct timespec* date)
{
  int error;
  bool waited = false;
  if (date && (!valid(date) || !may_wait_by(clock)))
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
    waited = true;
  }
  umw_gate->got_on |= waited;
  return error;
}

UMW_PUBLIC int pthread_rwlock_rdlock(pthread_rwlock_t* lock)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_tryrdlock, CLOCK_REALTIME, NULL)
                  : UMW_REAL(pthread_rwlock_rdlock)(lock);
}

UMW_PUBLIC int pthread_rwlock_wrlock(pthread_rwlock_t* lock)
{
  return umw_gate ? lock_rwlock(lock, pthread_rwlock_trywrlock, CLOCK_REALTIME, NULL)
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
  released(&object, ALL);
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
    umw_gate->got_on = 1;
    changed_at(barrier, ALL);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  for (uint64_t seen = wakes(); meeting->round == round; seen = wakes())
    wait_at(barrier, NULL, seen, -1);
  return 0;
}
