/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock of ld.so is held while dlopen runs constructors, which may wait or be cut by a time slice; dlsym, dlopen,
 * dlclose and dladdr of other threads want it, too. Threads of a rank take turns on one OS thread, so a wait in the
 * kernel would never end. From here on it is a lock of the simulation:
 *
 * - ld.so calls pthread_mutex_lock of the C library for it through a pointer. It has no name outside
 *   (`___rtld_mutex_lock`, glibc 2.34 and later, sysdeps/nptl/dl-mutex.c), lies among the data that are read-only after
 *   relocation, and is the only one with that value.
 * - dlsym and dladdr are in the C library and take it without these pointers. They wait here until it is free, then
 *   jump there, so that they see who has called them (RTLD_NEXT). dlvsym does not wait. Table:
 * preload/abi/tables/threads.def.
 *
 * In a dlmopen namespace ld.so is every rank's: nothing of it is changed. Ranks take turns by themselves instead, and
 * the functions are those of preload/namespace/. */
#include "preload/namespace/namespace.h"

#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- ld.so's own calls -------------------------------------------------------------------------------------------- */

typedef int on_mutex(pthread_mutex_t*);

static on_mutex *real_lock, *real_unlock;

/* Those that ld.so has locked so far: for the list of objects, for changes of it, for thread-local storage. */
static pthread_mutex_t* known[4];

static void note(pthread_mutex_t* mutex)
{
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (!known[i])
      known[i] = mutex;
    if (known[i] == mutex)
      return;
  }
}

void umw_let_others_run(int64_t* pause_ps)
{
  const int64_t longest = 100 * UMW_FIRST_PAUSE;
  const uint32_t no_preempt = umw_gate->no_preempt;
  umw_gate->no_preempt = 0; /* of this thread: others run now */
  umw_wait_for_change(umw_gate->wakes, *pause_ps);
  umw_gate->no_preempt = no_preempt;
  *pause_ps = *pause_ps < longest ? 2 * *pause_ps : longest;
}

/* Who finds it taken looks again after a while. Nobody is told when it is free: to tell is a crossing, in which others
 * would run, and ld.so may have been called where nothing may come in between (gate: no_preempt). */
static int lock(pthread_mutex_t* mutex)
{
  if (!umw_gate)
    return real_lock(mutex);
  note(mutex);
  int error;
  for (int64_t pause = UMW_FIRST_PAUSE; (error = pthread_mutex_trylock(mutex)) == EBUSY;)
    umw_let_others_run(&pause);
  return error;
}

/* The only word of them with that value; null: there is none, or there are several. */
static on_mutex** only_one(on_mutex** begin, on_mutex* const* end, on_mutex* value)
{
  on_mutex** found = NULL;
  for (on_mutex** word = begin; word < end; ++word)
    if (*word == value) {
      if (found)
        return NULL;
      found = word;
    }
  return found;
}

void umw_take_linker_lock(void)
{
  *(void**)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  *(void**)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
  const ElfW(Ehdr)* linker = (const ElfW(Ehdr)*)_r_debug.r_ldbase; /* NOLINT */
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const ElfW(Phdr)* segments = (const ElfW(Phdr)*)((const char*)linker + linker->e_phoff);
  for (int i = 0; i < linker->e_phnum; ++i) {
    if (segments[i].p_type != PT_GNU_RELRO)
      continue;
    const uintptr_t begin = _r_debug.r_ldbase + segments[i].p_vaddr;
    const uintptr_t end = begin + segments[i].p_memsz;
    on_mutex** const words = (on_mutex**)begin;      /* NOLINT */
    on_mutex* const* behind = (on_mutex* const*)end; /* NOLINT */
    on_mutex** const to_lock = only_one(words, behind, real_lock);
    void* const first_page = (void*)(begin & -page); /* NOLINT */
    const size_t size = (end & -page) - (begin & -page);
    if (!to_lock || UMW_REAL(mprotect)(first_page, size, PROT_READ | PROT_WRITE) != 0)
      continue;
    *to_lock = lock;
    UMW_REAL(mprotect)(first_page, size, PROT_READ);
  }
}

/* --- those of the C library --------------------------------------------------------------------------------------- */

static void await_linker(void)
{
  if (umw_in_namespace()) {
    umw_await_turn();
    return;
  }
  for (size_t i = 0; i < sizeof known / sizeof known[0] && known[i]; ++i)
    if (known[i]->__data.__lock != 0) {
      lock(known[i]);
      real_unlock(known[i]);
    }
}

/* What a call leads to: the function that is being replaced, which will find the lock free, or another one. `argument`:
 * the call's first. */
__attribute__((visibility("hidden"), used)) void* umw_linker_function(const void* argument, int which);
void* umw_linker_function(const void* argument, int which)
{
  static const struct {
    const char *name, *version;
    bool waits;
    void* in_namespace; /* of dlsym: with the handles that it speaks of */
  } functions[] = {{"dlsym", "GLIBC_2.2.5", true, umw_namespace_default_symbol},
                   {"dladdr", "GLIBC_2.2.5", true, umw_namespace_dladdr},
                   {"dladdr1", "GLIBC_2.3.3", true, umw_namespace_dladdr1},
                   {"dlopen", "GLIBC_2.34", false, umw_namespace_dlopen},
                   {"dlclose", "GLIBC_2.34", false, umw_namespace_dlclose},
                   {"dl_iterate_phdr", "GLIBC_2.2.5", false, umw_namespace_iterate}};
  static void* real[sizeof functions / sizeof functions[0]];
  if (!real[which])
    real[which] = dlvsym(RTLD_NEXT, functions[which].name, functions[which].version);
  if (!real[which])
    abort();
  if (umw_gate && functions[which].waits)
    await_linker();
  const bool as_ever =
      !umw_in_namespace() || (which == 0 && argument != RTLD_DEFAULT && argument != umw_first_object());
  return as_ever ? real[which] : functions[which].in_namespace;
}

/* Arguments are in registers, up to four of them. */
#define UMW_JUMP(name, which)                                                                                          \
  __asm__(".pushsection .text\n"                                                                                       \
          ".globl " #name "\n"                                                                                         \
          ".type " #name ", @function\n" #name ":\n"                                                                   \
          ".cfi_startproc\n"                                                                                           \
          "  push %rdi\n"                                                                                              \
          "  .cfi_adjust_cfa_offset 8\n"                                                                               \
          "  push %rsi\n"                                                                                              \
          "  .cfi_adjust_cfa_offset 8\n"                                                                               \
          "  push %rdx\n"                                                                                              \
          "  .cfi_adjust_cfa_offset 8\n"                                                                               \
          "  push %rcx\n"                                                                                              \
          "  .cfi_adjust_cfa_offset 8\n"                                                                               \
          "  sub $8, %rsp\n"                                                                                           \
          "  .cfi_adjust_cfa_offset 8\n"                                                                               \
          "  mov $" #which ", %esi\n"                                                                                  \
          "  call umw_linker_function\n"                                                                               \
          "  add $8, %rsp\n"                                                                                           \
          "  .cfi_adjust_cfa_offset -8\n"                                                                              \
          "  pop %rcx\n"                                                                                               \
          "  .cfi_adjust_cfa_offset -8\n"                                                                              \
          "  pop %rdx\n"                                                                                               \
          "  .cfi_adjust_cfa_offset -8\n"                                                                              \
          "  pop %rsi\n"                                                                                               \
          "  .cfi_adjust_cfa_offset -8\n"                                                                              \
          "  pop %rdi\n"                                                                                               \
          "  .cfi_adjust_cfa_offset -8\n"                                                                              \
          "  jmp *%rax\n"                                                                                              \
          ".cfi_endproc\n"                                                                                             \
          ".size " #name ", . - " #name "\n"                                                                           \
          ".popsection")

UMW_JUMP(dlsym, 0);
UMW_JUMP(dladdr, 1);
UMW_JUMP(dladdr1, 2);
UMW_JUMP(dlopen, 3);
UMW_JUMP(dlclose, 4);
UMW_JUMP(dl_iterate_phdr, 5);
