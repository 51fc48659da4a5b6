/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Beginning of a rank in a dlmopen namespace.
 *
 * ld.so runs the initialisers of all objects inside dlmopen, with the lock that all namespaces share, with the
 * arguments of the runtime, and the program's among them. A rank needs them later: on its own stack, with its own
 * arguments, as in a process of its own, and free to wait. So the shim, whose initialiser comes first (-z initfirst),
 * hides all others in the dynamic sections until dlmopen is over. The rank then begins below, where the kernel would
 * enter ld.so: the sections are as they were, the initialisers run in ld.so's order, and the program is entered at its
 * ELF entry point. At the end the destructors run as in _dl_fini. */
#include "preload/namespace/elf_view.h"
#include "preload/namespace/namespace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* --- initialisers ------------------------------------------------------------------------------------------------- */

typedef void initialiser(int, char**, char**);
typedef void destructor(void);

/* An entry of a dynamic section that does not say what it said. */
struct hidden {
  ElfW(Dyn) * entry;
  ElfW(Xword) value;
  struct hidden* next;
};
static struct hidden* all_hidden;

static void no_initialiser(int argc, char** argv, char** envp)
{
  (void)argc;
  (void)argv;
  (void)envp;
}

static bool is_shim(const struct link_map* object)
{
  struct dl_find_object found;
  return _dl_find_object(__extension__(void*) is_shim, &found) == 0 && found.dlfo_link_map == object;
}

/* That of the process, which has a place in each namespace. */
static bool is_linker(const struct link_map* object)
{
  return object->l_addr == _r_debug.r_ldbase;
}

static void protect(const void* entry, int protection)
{
  const uintptr_t page = 4096;
  const uintptr_t begin = (uintptr_t)entry & -page;
  mprotect((void*)begin, (((uintptr_t)entry + sizeof(ElfW(Dyn)) + page - 1) & -page) - begin, protection);
}

static void hide(ElfW(Dyn) * entry, ElfW(Xword) value)
{
  struct hidden* one = malloc(sizeof *one);
  if (!one)
    abort();
  *one = (struct hidden){entry, entry->d_un.d_val, all_hidden};
  all_hidden = one;
  protect(entry, PROT_READ | PROT_WRITE);
  entry->d_un.d_val = value;
}

static void hide_initialisers(const struct link_map* object)
{
  for (ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT_ARRAYSZ)
      hide(entry, 0);
    else if (entry->d_tag == DT_INIT)
      hide(entry, (uintptr_t)no_initialiser - object->l_addr);
  }
}

static bool read_only_after_relocation(const struct link_map* object, const void* address)
{
  const ElfW(Phdr)* part = umw_program_header(object, PT_GNU_RELRO);
  return part && (uintptr_t)address - object->l_addr - part->p_vaddr < part->p_memsz;
}

static void show_initialisers(void)
{
  while (all_hidden) {
    struct hidden* one = all_hidden;
    struct dl_find_object found;
    protect(one->entry, PROT_READ | PROT_WRITE);
    one->entry->d_un.d_val = one->value;
    all_hidden = one->next;
    if (_dl_find_object(one->entry, &found) == 0 && read_only_after_relocation(found.dlfo_link_map, one->entry))
      protect(one->entry, PROT_READ);
    free(one);
  }
}

void umw_prepare_namespace(void)
{
  struct link_map* program = umw_first_object()->l_next;
  umw_copy_relocations(program);
  for (const struct link_map* object = program; object; object = object->l_next)
    if (!is_shim(object) && !is_linker(object))
      hide_initialisers(object);
}

static void run_initialisers(const struct link_map* object, int argc, char** argv, char** envp)
{
  const ElfW(Dyn)* first = umw_dynamic(object, DT_INIT);
  if (first)
    ((initialiser*)(object->l_addr + first->d_un.d_ptr))(argc, argv, envp);
  initialiser* const* functions = umw_dynamic_address(object, DT_INIT_ARRAY);
  const size_t count = umw_dynamic_value(object, DT_INIT_ARRAYSZ) / sizeof *functions;
  for (size_t i = 0; functions && i < count; ++i)
    functions[i](argc, argv, envp);
}

static void run_destructors(const struct link_map* object)
{
  destructor* const* functions = umw_dynamic_address(object, DT_FINI_ARRAY);
  for (size_t i = umw_dynamic_value(object, DT_FINI_ARRAYSZ) / sizeof *functions; functions && i > 0; --i)
    functions[i - 1]();
  const ElfW(Dyn)* last = umw_dynamic(object, DT_FINI);
  if (last)
    ((destructor*)(object->l_addr + last->d_un.d_ptr))();
}

/* --- their order -------------------------------------------------------------------------------------------------- */

static const char* name_of(const struct link_map* object)
{
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  const ElfW(Dyn)* entry = umw_dynamic(object, DT_SONAME);
  return names && entry ? names + entry->d_un.d_val : object->l_name;
}

struct order {
  const struct link_map** objects; /* as they were loaded */
  bool* seen;
  size_t count;
  const struct link_map** sorted; /* what is needed before those that need it */
  size_t sorted_count;
};

static void visit(struct order* order, size_t index)
{
  if (order->seen[index])
    return;
  order->seen[index] = true;
  const struct link_map* object = order->objects[index];
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  for (const ElfW(Dyn)* entry = object->l_ld; names && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED)
      for (size_t i = 0; i < order->count; ++i)
        if (strcmp(name_of(order->objects[i]), names + entry->d_un.d_val) == 0)
          visit(order, i);
  order->sorted[order->sorted_count++] = object;
}

/* Depth first, from the last that was loaded to the first (_dl_sort_maps of glibc 2.35 and later, elf/dl-sort-maps.c).
 */
static struct order in_order(void)
{
  struct order order = {0};
  const struct link_map* const program = umw_first_object()->l_next;
  for (const struct link_map* object = program; object; object = object->l_next)
    ++order.count;
  order.objects = calloc(order.count, sizeof(void*));
  order.sorted = calloc(order.count, sizeof(void*));
  order.seen = calloc(order.count, sizeof *order.seen);
  if (!order.objects || !order.sorted || !order.seen)
    abort();
  size_t index = 0;
  for (const struct link_map* object = program; object; object = object->l_next) {
    order.seen[index] = is_linker(object);
    order.objects[index++] = object;
  }
  while (index > 0)
    visit(&order, --index);
  return order;
}

static void free_order(struct order* order)
{
  free(order->objects);
  free(order->sorted);
  free(order->seen);
}

void umw_initialise_program(int argc, char** argv, char** envp)
{
  run_initialisers(umw_first_object()->l_next, argc, argv, envp);
}

/* --- beginning and end -------------------------------------------------------------------------------------------- */

static const ElfW(auxv_t) * auxiliary;

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
  const int argc = (int)stack[0];
  char** const argv = (char**)(stack + 1);
  char** const envp = argv + argc + 1;
  char** end = envp;
  while (*end)
    ++end;
  auxiliary = (const ElfW(auxv_t)*)(end + 1);
  show_initialisers();
  void* thread_pointer;
  __asm__("mov %%fs:0, %0" : "=r"(thread_pointer)); /* the TCB's first word is its own address */
  umw_load_program_tls(thread_pointer);
  umw_begin_rank(umw_find_gate());
  const struct link_map* const program = umw_first_object()->l_next;
  initialiser* const* functions = umw_dynamic_address(program, DT_PREINIT_ARRAY);
  const size_t count = umw_dynamic_value(program, DT_PREINIT_ARRAYSZ) / sizeof *functions;
  for (size_t i = 0; functions && i < count; ++i)
    functions[i](argc, argv, envp);
  struct order order = in_order();
  for (size_t i = 0; i < order.sorted_count; ++i)
    if (order.sorted[i] != program && !is_shim(order.sorted[i]))
      run_initialisers(order.sorted[i], argc, argv, envp);
  free_order(&order);
  return umw_namespace_auxiliary(AT_ENTRY);
}

__attribute__((visibility("hidden"), used)) void umw_namespace_end(void);
bool umw_namespace_ends;

void umw_namespace_end(void)
{
  umw_namespace_ends = true;
  struct order order = in_order();
  for (size_t i = order.sorted_count; i > 0; --i)
    run_destructors(order.sorted[i - 1]);
  free_order(&order);
}
