/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/threads/thread_blocks.h"

#include "preload/namespace/namespace.h"
#include "preload/thread_head.h"

#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* --- of a sleeping OS thread -------------------------------------------------------------------------------------- */

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
  struct umw_control_block* block = argument;
  block->thread_pointer = (uint64_t)pthread_self();
  block->kernel_tid = (uint32_t)kernel(SYS_gettid, NULL, 0, 0);
  __atomic_store_n(&block->made, 1, __ATOMIC_RELEASE);
  kernel(SYS_futex, &block->made, FUTEX_WAKE_PRIVATE, 1);
  for (;;)
    kernel(SYS_pause, NULL, 0, 0);
  return NULL;
}

static int make(struct umw_control_block* block)
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
  umw_gate->no_preempt = 1; /* a trap while the C library has all signals blocked would be the end */
  const int error = create(&id, &attributes, sleep_for_ever, block);
  umw_gate->no_preempt = 0;
  pthread_attr_destroy(&attributes);
  while (error == 0 && __atomic_load_n(&block->made, __ATOMIC_ACQUIRE) == 0)
    kernel(SYS_futex, &block->made, FUTEX_WAIT_PRIVATE, 0);
  umw_burst_paused(0);
  if (error == 0 && umw_in_namespace())
    umw_load_program_tls((void*)block->thread_pointer);
  return error;
}

/* --- of one thread after another ---------------------------------------------------------------------------------- */

/* Where the C library's own thread-local variables are: they are not made new, since one of them is a cache of memory
 * that malloc would lose sight of. `begin` counts from the thread pointer. */
struct own_variables {
  ptrdiff_t begin;
  size_t bytes;
};

static int find_own_variables(struct dl_phdr_info* object, size_t size, void* result)
{
  (void)size;
  const char* begin = object->dlpi_tls_data;
  for (int i = 0; begin && i < object->dlpi_phnum; ++i) {
    const size_t bytes = object->dlpi_phdr[i].p_memsz;
    const char* own = (const char*)&errno;
    if (object->dlpi_phdr[i].p_type != PT_TLS || own < begin || own >= begin + bytes)
      continue;
    *(struct own_variables*)result = (struct own_variables){begin - (const char*)pthread_self(), bytes};
    return 1;
  }
  return 0;
}

/* As the C library does with the stack of a thread that has ended (nptl/allocatestack.c, get_cached_stack). */
static bool make_new(const struct umw_control_block* block)
{
  if (umw_in_namespace()) {
    umw_renew_variables((void*)block->thread_pointer);
    return true;
  }
  static struct own_variables own;
  static void* (*initialise)(void*, bool); /* since glibc 2.35 with the second parameter */
  if (own.bytes == 0) {
    dl_iterate_phdr(find_own_variables, &own);
    *(void**)&initialise = dlsym(RTLD_DEFAULT, "_dl_allocate_tls_init");
  }
  enum { room = 4096 };
  char kept[room];
  if (own.bytes == 0 || own.bytes > room || !initialise)
    return false;
  char* variables = (char*)block->thread_pointer + own.begin;
  union umw_dtv* modules = ((struct umw_thread_head*)block->thread_pointer)->modules;
  memcpy(kept, variables, own.bytes);
  for (size_t i = 1; i <= modules[-1].count; ++i)
    free(modules[i].module.to_free);
  memset(modules, 0, (modules[-1].count + 1) * sizeof *modules);
  initialise((void*)block->thread_pointer, true);
  memcpy(variables, kept, own.bytes);
  return true;
}

static struct umw_control_block *first, *last; /* nobody's: first in, first out */

void umw_give_control_block(struct umw_control_block* block)
{
  block->next = NULL;
  if (first)
    last->next = block;
  else
    first = block;
  last = block;
}

int umw_take_control_block(struct umw_control_block** result)
{
  struct umw_control_block* block = first;
  if (block) { /* off the list before others may run */
    first = block->next;
    if (umw_thread_join(block->thread_pointer, false) == 0 && make_new(block)) {
      *result = block;
      return 0;
    }
    umw_give_control_block(block);
  }
  block = calloc(1, sizeof *block);
  const int error = block ? make(block) : EAGAIN;
  if (error != 0)
    free(block);
  else
    *result = block;
  return error;
}

void umw_leave_control_block(void)
{
  dlerror(); /* what has been read is gone */
  h_errno = 0;
  errno = 0;
}
