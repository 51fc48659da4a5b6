/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Beginning of a rank in a dlmopen namespace.
 *
 * ld.so runs the initialisers of all objects inside dlmopen, with the lock that all namespaces share, with the
 * arguments of the runtime, and the program's among them. A rank needs them later: on its own stack, with its own
 * arguments, as in a process of its own, and free to wait. So the shim, whose initialiser comes first (-z initfirst),
 * hides all others (initialisers.h) until dlmopen is over. The rank then begins below, where the kernel would
 * enter ld.so: the sections are as they were, the initialisers run in ld.so's order, and the program is entered at its
 * ELF entry point. At the end the destructors run as in _dl_fini. */
#include "preload/namespace/elf_view.h"
#include "preload/namespace/initialisers.h"
#include "preload/namespace/namespace.h"

#include <stdlib.h>
#include <unistd.h>

#include "preload/find_gate.h"

struct link_map* umw_first_object(void)
{
  struct dl_find_object found;
  if (_dl_find_object(__extension__(void*) umw_first_object, &found) != 0)
    return NULL;
  struct link_map* object = found.dlfo_link_map;
  while (object->l_prev)
    object = object->l_prev;
  return object;
}

void umw_prepare_namespace(void)
{
  struct link_map* program = umw_first_object()->l_next;
  umw_copy_relocations(program);
  for (const struct link_map* object = program; object; object = object->l_next)
    if (!umw_is_shim(object) && !umw_is_linker(object))
      umw_hide_initialisers(object);
}

void umw_initialise_program(int argc, char** argv, char** envp)
{
  umw_run_initialisers(umw_first_object()->l_next, argc, argv, envp);
}

/* --- beginning and end -------------------------------------------------------------------------------------------- */

static const ElfW(auxv_t) * auxiliary;
int umw_argument_count;
char** umw_arguments;

unsigned long umw_namespace_auxiliary(unsigned long type)
{
  for (const ElfW(auxv_t)* entry = auxiliary; entry->a_type != AT_NULL; ++entry)
    if (entry->a_type == type)
      return entry->a_un.a_val;
  return 0;
}

uintptr_t umw_namespace_stack_top(void)
{
  const uintptr_t page = 4096;
  const ElfW(auxv_t)* entry = auxiliary;
  while (entry->a_type != AT_NULL)
    ++entry;
  return ((uintptr_t)(entry + 1) + page - 1) & -page;
}

/* Entered with %rsp at what the kernel leaves on the stack of a process; the program gets the same, and in %rdx
 * a function for atexit (psABI x86-64, "Process Initialization"). */
UMW_PUBLIC void umw_namespace_start(void);
__asm__(".pushsection .text\n"
        ".globl umw_namespace_start\n"
        ".type umw_namespace_start, @function\n"
        "umw_namespace_start:\n"
        ".cfi_startproc\n"
        ".cfi_undefined rip\n"
        "  mov %rsp, %rbx\n"
        "  mov %rsp, %rdi\n"
        "  and $-16, %rsp\n"
        "  call umw_namespace_begin\n"
        "  mov %rbx, %rsp\n"
        "  lea umw_namespace_end(%rip), %rdx\n"
        "  xor %ebp, %ebp\n"
        "  jmp *%rax\n"
        ".cfi_endproc\n"
        ".size umw_namespace_start, . - umw_namespace_start\n"
        ".popsection\n");

__attribute__((visibility("hidden"), used)) uintptr_t umw_namespace_begin(uintptr_t* stack);
uintptr_t umw_namespace_begin(uintptr_t* stack)
{
  const int argc = umw_argument_count = (int)stack[0];
  char** const argv = umw_arguments = (char**)(stack + 1);
  char** const envp = argv + argc + 1;
  char** end = envp;
  while (*end)
    ++end;
  auxiliary = (const ElfW(auxv_t)*)(end + 1);
  umw_show_initialisers();
  void* thread_pointer;
  __asm__("mov %%fs:0, %0" : "=r"(thread_pointer)); /* the TCB's first word is its own address */
  umw_load_program_tls(thread_pointer);
  umw_begin_rank(umw_find_gate());
  const struct link_map* const program = umw_first_object()->l_next;
  umw_initialiser* const* functions = umw_dynamic_address(program, DT_PREINIT_ARRAY);
  const size_t count = umw_dynamic_value(program, DT_PREINIT_ARRAYSZ) / sizeof *functions;
  for (size_t i = 0; functions && i < count; ++i)
    functions[i](argc, argv, envp);
  struct umw_order order = umw_in_order(program);
  for (size_t i = 0; i < order.sorted_count; ++i)
    if (order.sorted[i] != program && !umw_is_shim(order.sorted[i]))
      umw_run_initialisers(order.sorted[i], argc, argv, envp);
  umw_free_order(&order);
  return umw_namespace_auxiliary(AT_ENTRY);
}

__attribute__((visibility("hidden"), used)) void umw_namespace_end(void);
bool umw_namespace_ends;

void umw_namespace_end(void)
{
  umw_namespace_ends = true;
  struct umw_order order = umw_in_order(umw_first_object()->l_next);
  for (size_t i = order.sorted_count; i > 0; --i)
    umw_run_destructors(order.sorted[i - 1]);
  umw_free_order(&order);
}
