/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Beginning and end of a rank.
 *
 * The rank's own ld.so has mapped and relocated everything, in a thread of its own (loader/parked_thread.h). The shim
 * is linked with -z initfirst: its constructor runs before every other one. It finds the gate and hands over: it
 * returns in the thread that carries the rank, and the other one, a donor of its thread control block, sleeps from then
 * on. (In a dlmopen namespace: preload/namespace/start.c.) It then registers the very first exit handler. As handlers
 * run last to first, everything that ends the program through the C library, exit() inside err() or the return of main,
 * ends in that handler, and from there in the runtime; exit() itself needs no wrapper.
 */
#include "preload/shim.h"

#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"
#include "preload/find_gate.h"
#include "preload/namespace/namespace.h"

struct umw_gate* umw_gate;

/* GLIBC_PRIVATE */
void __libc_early_init(_Bool initial);

/* A process has one break, and each C library remembers where it last put it: malloc must not use it. That of a dlmopen
 * namespace does not, and this is how the C library knows that it is in one (glibc 2.32 to 2.41, elf/libc_early_init.c,
 * malloc/arena.c). */
static void leave_break_alone(void)
{
  void (*early_init)(_Bool) = dlvsym(RTLD_DEFAULT, "__libc_early_init", "GLIBC_PRIVATE");
  if (early_init)
    early_init(false);
}

/* Returns in the thread that has waited for it, and not in this one, which no longer touches the stack. Offsets are
 * checked below. */
void umw_hand_over(struct umw_handover* to) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
        ".globl umw_hand_over\n"
        ".hidden umw_hand_over\n"
        ".type umw_hand_over, @function\n"
        "umw_hand_over:\n"
        "  lea 8(%rsp), %rax\n"
        "  mov %rax, 16(%rdi)\n"
        "  mov (%rsp), %rax\n"
        "  mov %rax, 24(%rdi)\n"
        "  mov %rbx, 32(%rdi)\n"
        "  mov %rbp, 40(%rdi)\n"
        "  mov %r12, 48(%rdi)\n"
        "  mov %r13, 56(%rdi)\n"
        "  mov %r14, 64(%rdi)\n"
        "  mov %r15, 72(%rdi)\n"
        "  mov %fs:0, %rax\n" /* the TCB's first word is its own address */
        "  mov %rax, 80(%rdi)\n"
        "  mov %rdi, %rbx\n"
        "  mov $2, %edi\n" /* SIG_SETMASK */
        "  lea 88(%rbx), %rsi\n"
        "  xor %edx, %edx\n"
        "  mov $8, %r10d\n"
        "  mov $14, %eax\n" /* rt_sigprocmask */
        "  syscall\n"
        "  movl $1, (%rbx)\n" /* UMW_HANDED_OVER */
        "  mov %rbx, %rdi\n"
        "  mov $1, %esi\n" /* FUTEX_WAKE */
        "  mov $1, %edx\n"
        "  mov $202, %eax\n" /* futex */
        "  syscall\n"
        "1:\n"
        "  mov $34, %eax\n" /* pause */
        "  syscall\n"
        "  jmp 1b\n"
        ".size umw_hand_over, . - umw_hand_over\n"
        ".popsection\n");
#define AT(member, offset) _Static_assert(offsetof(struct umw_handover, member) == (offset), #member)
AT(state, 0);
AT(stack, 16);
AT(code, 24);
AT(rbx, 32);
AT(rbp, 40);
AT(r12, 48);
AT(r13, 56);
AT(r14, 64);
AT(r15, 72);
AT(thread_pointer, 80);
AT(all_signals, 88);
_Static_assert(UMW_HANDED_OVER == 1, "in umw_hand_over");

static int find_object(void* address, struct dl_find_object* object)
{
  return _dl_find_object(address, object);
}

static void end_of_rank(int status, void* unused)
{
  (void)unused;
  if (!umw_gate) /* a child made by fork(): let the C library go on */
    return;
  fflush(NULL);
  umw_release_robust_mutexes();
  umw_exit(status & 0xff, UMW_EXIT_NORMAL, NULL);
}

void umw_begin_rank(struct umw_gate* gate)
{
  umw_gate = gate;
  if (gate && gate->loader == UMW_LOADER_LINKER) {
    leave_break_alone();
    umw_take_linker_lock();
  }
  if (gate)
    on_exit(end_of_rank, NULL);
  umw_register_quick_exit();
  umw_watch_forks();
  umw_find_copy_functions();
  umw_note_main_thread();
  if (!gate)
    return;
  umw_note_standard();
  umw_standard_streams();
  umw_offer_delivery();
}

/* The only one of the shim. */
__attribute__((constructor)) static void start_of_rank(void)
{
  struct umw_gate* gate = umw_find_gate();
  if (gate && (gate->version != UMW_GATE_VERSION || gate->size != sizeof *gate)) {
    static const char text[] = "umwelt: libumwelt-preload.so and the umwelt program are of different builds\n";
    if (UMW_REAL(write)(2, text, sizeof text - 1) < 0)
      UMW_REAL(_exit)(125);
    UMW_REAL(_exit)(125);
  }
  if (gate) {
    gate->find_object = find_object;
    if (gate->loader == UMW_LOADER_NAMESPACE) {
      umw_prepare_namespace();
      return; /* umw_namespace_start goes on */
    }
    umw_hand_over(&gate->handover);
  }
  umw_begin_rank(gate);
}

static int (*real_main)(int, char**, char**);

struct main_call {
  int (*main)(int, char**, char**);
  int argc;
  char** argv;
  int status;
};

static void* call_main(void* argument)
{
  struct main_call* call = argument;
  call->status = call->main(call->argc, call->argv, environ);
  return NULL;
}

static int main_of_rank(int argc, char** argv, char** envp)
{
  (void)envp;
  umw_started(0);
  struct main_call call = {real_main, argc, argv, 0};
  umw_run_unwindable(call_main, &call, umw_outlast_threads);
  return call.status;
}

typedef int start_main(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void),
                       void*);

/* Of binaries made for glibc before 2.34 `init` runs the constructors; of others the C library does, of what ld.so has
 * as the program of the process. */
UMW_PUBLIC int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                                 void (*fini)(void), void (*rtld_fini)(void), void* stack_end);
UMW_PUBLIC int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                                 void (*fini)(void), void (*rtld_fini)(void), void* stack_end)
{
  start_main* real = UMW_REAL(__libc_start_main);
  real_main = main;
  if (umw_in_namespace())
    return real(main_of_rank, argc, argv, (void (*)(void))umw_initialise_program, NULL, rtld_fini, stack_end);
  return real(umw_gate ? main_of_rank : main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

void* umw_symbol_of(const char* library, const char* name)
{
  void* symbol = dlsym(RTLD_NEXT, name);
  for (const struct link_map* object = umw_first_object(); object && !symbol; object = object->l_next) {
    const char* slash = strrchr(object->l_name, '/');
    if (!slash || strncmp(slash + 1, library, strlen(library)) != 0)
      continue;
    void* handle = dlopen(object->l_name, RTLD_NOW | RTLD_NOLOAD);
    if (handle) {
      symbol = dlsym(handle, name);
      dlclose(handle);
    }
  }
  return symbol;
}
